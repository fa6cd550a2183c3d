/* Recipes and presets: what is read, what is refused. */
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/train/recipe/preset.h"
#include <math.h>
#include <string.h>

static void recipes_are_read_strictly(void **unused) {
    vit_error error;
    vit_recipe r = vit_recipe_default(), back = vit_recipe_default();
    assert_int_equal(vit_recipe_read(&r, "{\"lr\": 0.5, \"batch\": 9}", "x.json", &error), VIT_OK);
    assert_true(r.lr == .5 && r.batch == 9 && r.clip == 1);
    char *text = vit_recipe_write(&r);
    assert_int_equal(vit_recipe_read(&back, text, "x.json", &error), VIT_OK);
    char *again = vit_recipe_write(&back);
    assert_string_equal(text, again);
    vit_free(again);
    vit_free(text);
    assert_int_equal(vit_recipe_read(&r, "{\"lrr\": 1}", "x.json", &error), VIT_ERROR_FORMAT);
    assert_string_equal(error.message, "x.json: unknown key \"lrr\"; did you mean \"lr\"?");
    assert_int_equal(vit_recipe_read(&r, "{\"lr\": \"1\"}", "x.json", &error), VIT_ERROR_FORMAT);
    assert_string_equal(error.message, "x.json: \"lr\" must be a number, not \"1\"");
    assert_int_equal(vit_recipe_read(&r, "{\"rotation\": 1}", "x.json", &error), VIT_ERROR_FORMAT);
    assert_string_equal(error.message,
                        "x.json: unknown key \"rotation\"; did you mean \"rotate\"?");
    assert_int_equal(vit_recipe_read(&r, "{\"flip\": 1}", "x.json", &error), VIT_ERROR_FORMAT);
    assert_string_equal(error.message, "x.json: \"flip\" must be true or false, not 1");
    r.drop_path = 1;
    assert_int_equal(vit_recipe_check(&r, &error), VIT_ERROR_ARGUMENT);
    assert_string_equal(error.message, "\"drop_path\" is 1, expected 0 to 0.999999");
    r.drop_path = 0;
    r.layer_decay = 0;
    assert_int_equal(vit_recipe_check(&r, &error), VIT_ERROR_ARGUMENT);
    assert_string_equal(error.message, "\"layer_decay\" is 0, expected more than 0, to 1");
    r.layer_decay = 1;
    r.lr = 0;
    assert_int_equal(vit_recipe_check(&r, &error), VIT_ERROR_ARGUMENT);
    assert_string_equal(error.message, "\"lr\" is 0, expected more than 0, to 100");
    r.lr = NAN;
    assert_int_equal(vit_recipe_check(&r, &error), VIT_ERROR_ARGUMENT);
}

static void presets_are_those_of_the_lecture_and_the_data(void **unused) {
    vit_error error;
    vit_preset p;
    const vit_dataset mnist = {
        .is_digits = true, .height = 28, .width = 28, .channels = 1, .classes = 10};
    static const char *const names[] = {"mnist", "digits", "handwriting", "lecture"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(vit_preset_load(&p, names[i], &error), VIT_OK);
        assert_int_equal(vit_preset_fit(&p, &mnist, &error), VIT_OK);
        assert_string_equal(p.name, names[i]);
    }
    const vit_config *c = &p.config;
    assert_true(c->patch == 14 && c->dim == 128 && c->depth == 6 && c->heads == 8 && c->mlp == 128);
    assert_true(!c->qkv_bias && !c->final_norm && c->norm_eps == 1e-5 && c->head == VIT_HEAD_MLP);
    assert_int_equal(c->attention_scale, VIT_SCALE_DIM);
    assert_int_equal(c->patch_order, VIT_PATCH_PIXEL);
    assert_int_equal(c->init, VIT_INIT_TORCH);
    p.recipe.augment.flip = true;
    assert_int_equal(vit_preset_fit(&p, &mnist, &error), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "\"flip\" mirrors pictures"));
    const vit_dataset cifar = {.height = 32, .width = 32, .channels = 3, .classes = 10};
    assert_int_equal(vit_preset_load(&p, "mnist-quick", &error), VIT_OK);
    assert_int_equal(vit_preset_fit(&p, &mnist, &error), VIT_OK);
    assert_true(c->stem == VIT_STEM_CCT && p.recipe.schedule == VIT_SCHEDULE_LINEAR);
    const vit_dataset fashion = {.height = 28, .width = 28, .channels = 1, .classes = 10};
    assert_int_equal(vit_preset_load(&p, "fashion", &error), VIT_OK);
    assert_int_equal(vit_preset_fit(&p, &fashion, &error), VIT_OK);
    assert_true(c->stem == VIT_STEM_CCT && p.recipe.optimizer == VIT_OPTIMIZER_MUON);
    assert_int_equal(vit_preset_load(&p, "fashion-best", &error), VIT_OK);
    assert_int_equal(vit_preset_fit(&p, &fashion, &error), VIT_OK);
    assert_true(c->stem == VIT_STEM_CCT && p.recipe.ema > 0 && p.recipe.augment.erase > 0);
    assert_int_equal(vit_preset_load(&p, "cifar10", &error), VIT_OK);
    assert_int_equal(vit_preset_fit(&p, &cifar, &error), VIT_OK);
    assert_true(c->patch == 4 && c->stem == VIT_STEM_CCT && c->pool == VIT_POOL_SEQ);
    assert_true(p.recipe.augment.flip && p.recipe.optimizer == VIT_OPTIMIZER_MUON);
    assert_int_equal(vit_preset_load(&p, "cifar10-best", &error), VIT_OK);
    assert_int_equal(vit_preset_fit(&p, &cifar, &error), VIT_OK);
    assert_true(c->stem == VIT_STEM_CCT && c->pool == VIT_POOL_SEQ && !c->class_token);
    assert_true(p.recipe.augment.edges == VIT_EDGES_REFLECT && p.recipe.cutmix == 1);
    assert_int_equal(vit_preset_load(&p, "minst", &error), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "did you mean \"mnist\""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recipes_are_read_strictly),
        cmocka_unit_test(presets_are_those_of_the_lecture_and_the_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
