/* The lecture's network, formula after formula: its numbers are to the bit those of the network and
 * of the trainer, its gradients those that small changes of single numbers show, and what is
 * changed changes what follows alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "datasets/dataset.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/lecture/lecture.h"
#include "vit/train/recipe/preset.h"
#include "vit/train/step/trainer.h"

enum { PIXELS = 28 * 28, SEED = 3, DIGIT_SEED = 5 };

typedef struct setting {
    vit_preset preset;
    vit_model_file model;
    vit_lecture *lecture;
    uint8_t pixels[PIXELS];
    float image[PIXELS];
    size_t label;
} setting;

static void check_ok(vit_status status, const vit_error *error) {
    if (status != VIT_OK) fail_msg("%s", error->message);
}

static int set_up(void **state) {
    setting *s = vit_alloc(1, sizeof *s);
    vit_error error;
    assert_non_null(s);
    check_ok(vit_preset_load(&s->preset, "lecture", &error), &error);
    s->preset.config.height = s->preset.config.width = 28;
    s->preset.config.channels = 1;
    s->preset.config.classes = 10;
    s->model.config = s->preset.config;
    check_ok(vit_table_new(&s->model.table, &s->model.config, &error), &error);
    s->model.values = vit_alloc(s->model.table.size, sizeof(float));
    assert_non_null(s->model.values);
    vit_table_init(1, s->model.values, &s->model.table, s->model.config.init, SEED);
    s->model.preprocessing.operations[0] =
        (vit_operation){.kind = VIT_OP_NORMALIZE, .mean = {.25F}, .std = {.5F}};
    s->model.preprocessing.count = 1;
    s->label = vit_digits_draw(s->pixels, DIGIT_SEED, 0);
    check_ok(vit_lecture_new(&s->lecture, &s->model, &error), &error);
    vit_lecture_show(s->lecture, s->pixels, s->label);
    vit_lecture_run(s->lecture);
    vit_lecture_copy(vit_lecture_find(s->lecture, 0, "x"), s->image);
    *state = s;
    return 0;
}

static int tear_down(void **state) {
    setting *s = *state;
    vit_lecture_free(s->lecture);
    vit_table_free(&s->model.table);
    vit_free(s->model.values);
    vit_free(s);
    return 0;
}

/* A vit_batch_source of the one picture. */
static vit_status one_picture(float *images, size_t *labels, vit_sample_key *keys, size_t first,
                              size_t count, const vit_batch_room *room, void *context,
                              vit_error *error) {
    const setting *s = context;
    (void)first, (void)count, (void)room, (void)error;
    memcpy(images, s->image, sizeof s->image);
    *labels = s->label;
    *keys = (vit_sample_key){0};
    return VIT_OK;
}

/* Matrix `symbol`, which is a view of the parameters `name`, has their numbers: [out][in]. */
static void same_parameters(const setting *s, const float *all, const char *name, size_t block,
                            const char *symbol, size_t skip) {
    const vit_parameter *p = vit_table_find(&s->model.table, name);
    const vit_lecture_matrix *m = vit_lecture_find(s->lecture, block, symbol);
    assert_non_null(p);
    assert_non_null(m);
    for (size_t h = 0; h < m->heads; h++)
        for (size_t i = 0; i < m->rows; i++)
            for (size_t j = 0; j < m->columns; j++) {
                const size_t out = p->dims == 2 ? skip + h * m->columns + j : 0;
                const float want = p->dims == 2 ? all[p->offset + out * m->rows + i]
                                                : all[p->offset + i * m->columns + j];
                const float found = m->values[h * m->head + i * m->row + j * m->column];
                if (want != found)
                    fail_msg("%s (%zu, %zu): %.9g, expected %.9g", symbol, i, j, (double)found,
                             (double)want);
            }
}

/* The trainer's gradient of one picture, and its weights after the step. */
static void the_trainers_step_to_the_bit(void **state) {
    setting *s = *state;
    vit_trainer *trainer;
    vit_error error;
    double loss;
    vit_recipe recipe = s->preset.recipe;
    recipe.batch = 1;
    const vit_trainer_options options = {.kernels = vit_kernels_choose(vit_cpu_detect()),
                                         .threads = 1};
    check_ok(vit_trainer_new(&trainer, &s->model.config, &recipe, &options, SEED, &error), &error);
    check_ok(vit_trainer_step(trainer, &loss, .001, one_picture, s, &error), &error);
    const vit_lecture_matrix *found = vit_lecture_find(s->lecture, 7, "loss");
    assert_true(*found->values == (float)loss);
    const float *gradient = vit_trainer_gradient(trainer);
    same_parameters(s, gradient, "patch_embed.proj.weight", 0, "dE", 0);
    same_parameters(s, gradient, "cls_token", 0, "dx_class", 0);
    same_parameters(s, gradient, "pos_embed", 0, "dE_pos", 0);
    same_parameters(s, gradient, "blocks.0.norm1.weight", 1, "dgamma_1", 0);
    same_parameters(s, gradient, "blocks.0.attn.qkv.weight", 1, "dW^Q", 0);
    same_parameters(s, gradient, "blocks.2.attn.qkv.weight", 3, "dW^K", 128);
    same_parameters(s, gradient, "blocks.5.attn.qkv.weight", 6, "dW^V", 256);
    same_parameters(s, gradient, "blocks.5.attn.proj.weight", 6, "dW^O", 0);
    same_parameters(s, gradient, "blocks.3.norm2.bias", 4, "dbeta_2", 0);
    same_parameters(s, gradient, "blocks.3.mlp.fc1.weight", 4, "dW_1", 0);
    same_parameters(s, gradient, "blocks.3.mlp.fc2.bias", 4, "db_2", 0);
    same_parameters(s, gradient, "head.0.weight", 7, "dW_3", 0);
    vit_lecture_step(s->lecture, .001);
    const float *after = vit_trainer_get(trainer).values;
    same_parameters(s, after, "patch_embed.proj.weight", 0, "E", 0);
    same_parameters(s, after, "blocks.0.attn.qkv.weight", 1, "W^Q", 0);
    same_parameters(s, after, "blocks.4.mlp.fc2.weight", 5, "W_2", 0);
    same_parameters(s, after, "blocks.4.norm1.weight", 5, "gamma_1", 0);
    same_parameters(s, after, "head.2.bias", 7, "b_4", 0);
    /* the second step: the moments go on */
    check_ok(vit_trainer_step(trainer, &loss, .001, one_picture, s, &error), &error);
    vit_lecture_run(s->lecture);
    assert_true(*found->values == (float)loss);
    vit_lecture_step(s->lecture, .001);
    same_parameters(s, after, "blocks.0.attn.qkv.weight", 1, "W^K", 128);
    vit_trainer_free(trainer);
}

/* Every change of a number changes the loss by its gradient. */
static void gradients_are_those_of_small_changes(void **state) {
    setting *s = *state;
    static const char *const symbols[] = {"X",  "Q",  "K", "V", "S", "P",   "head",
                                          "z'", "X'", "H", "G", "z", "W^Q", "W^O"};
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        const bool numbered = symbols[k][0] == 'z';
        char symbol[16], d_symbol[20];
        snprintf(symbol, sizeof symbol, numbered ? "%s_2" : "%s", symbols[k]);
        snprintf(d_symbol, sizeof d_symbol, "d%s", symbol);
        if (strcmp(symbol, "S") == 0) strcpy(d_symbol, "d(Q K^T)");
        const vit_lecture_matrix *m = vit_lecture_find(s->lecture, 2, symbol);
        const vit_lecture_matrix *d = vit_lecture_find(s->lecture, 2, d_symbol);
        assert_non_null(m);
        assert_non_null(d);
        const size_t index = (size_t)(m - vit_lecture_matrix_at(s->lecture, 0));
        const size_t h = m->heads - 1, i = 1 % m->rows, j = 2 % m->columns;
        const float value = m->values[h * m->head + i * m->row + j * m->column];
        /* S is scaled already */
        const double scale = strcmp(symbol, "S") == 0 ? sqrt(128) : 1;
        const double want = scale * (double)d->values[h * d->head + i * d->row + j * d->column];
        const double by = strcmp(symbol, "P") == 0 ? .2 : .05;
        double loss[2];
        for (int side = 0; side < 2; side++) {
            const float changed = (float)((double)value + (side ? by : -by));
            assert_int_equal(vit_lecture_set(s->lecture, index, h, i, j, changed, NULL), VIT_OK);
            vit_lecture_run(s->lecture);
            loss[side] = (double)*vit_lecture_find(s->lecture, 7, "loss")->values;
        }
        const double found = (loss[1] - loss[0]) / (2 * by);
        if (fabs(found - want) > 2e-5 + .02 * fabs(want))
            fail_msg("d%s: %g, expected %g", symbol, want, found);
        vit_lecture_reset(s->lecture);
        vit_lecture_run(s->lecture);
    }
}

static void what_is_changed_changes_what_follows(void **state) {
    setting *s = *state;
    vit_error error;
    const vit_lecture_matrix *all = vit_lecture_matrix_at(s->lecture, 0);
    const vit_lecture_matrix *p = vit_lecture_find(s->lecture, 3, "P");
    const vit_lecture_matrix *head = vit_lecture_find(s->lecture, 3, "head");
    const vit_lecture_matrix *s3 = vit_lecture_find(s->lecture, 3, "S");
    const vit_lecture_matrix *v = vit_lecture_find(s->lecture, 3, "V");
    const float before = s3->values[4];
    check_ok(vit_lecture_set(s->lecture, (size_t)(p - all), 1, 2, 3, 1000, &error), &error);
    vit_lecture_run(s->lecture);
    assert_true(p->values[p->head + 2 * p->row + 3] == 1000);
    assert_true(s3->values[4] == before);
    const float got = head->values[head->head + 2 * head->row];
    assert_true(fabs((double)got - 1000 * (double)v->values[v->head + 3 * v->row]) < 10);
    assert_int_equal(vit_lecture_set(s->lecture, (size_t)(p - all), 8, 0, 0, 1, &error),
                     VIT_ERROR_ARGUMENT);
    assert_int_equal(vit_lecture_set(s->lecture, 1U << 20, 0, 0, 0, 1, &error), VIT_ERROR_ARGUMENT);
    const vit_lecture_matrix *loss = vit_lecture_find(s->lecture, 7, "loss");
    assert_int_equal(vit_lecture_set(s->lecture, (size_t)(loss - all), 0, 0, 0, 1, &error),
                     VIT_ERROR_ARGUMENT);
    assert_string_equal(error.message,
                        "loss cannot be changed, since it is computed from what can");
    vit_lecture_show(s->lecture, s->pixels, s->label);
    vit_lecture_run(s->lecture);
    assert_true(p->values[p->head + 2 * p->row + 3] <= 1);
}

/* The operator's attention is that of the single steps; with a mask its first row is V's. */
static void attention_alone(void **state) {
    setting *s = *state;
    float cat[5 * 128];
    vit_lecture_copy(vit_lecture_find(s->lecture, 2, "cat"), cat);
    assert_memory_equal(vit_lecture_attend(s->lecture, 2, true, false), cat, sizeof cat);
    assert_memory_not_equal(vit_lecture_attend(s->lecture, 2, false, false), cat, sizeof cat);
    const vit_lecture_matrix *v = vit_lecture_find(s->lecture, 2, "V");
    assert_memory_equal(vit_lecture_attend(s->lecture, 2, false, true), v->values,
                        128 * sizeof *cat);
}

static void other_networks_are_refused(void **state) {
    setting *s = *state;
    vit_lecture *lecture;
    vit_error error;
    s->model.config.heads = 4;
    assert_int_equal(vit_lecture_new(&lecture, &s->model, &error), VIT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "--preset lecture"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_trainers_step_to_the_bit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gradients_are_those_of_small_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_changed_changes_what_follows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(attention_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_networks_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
