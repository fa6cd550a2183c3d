/* Maps by the public interface, of the model mnist. */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/maps.h"
#include <math.h>
#include <string.h>

#define CLASSES 10
#define PIXELS (28 * 28)

static vit_model *model;
static vit_session *session;

static int open_model(void **unused) {
    vit_error error;
    if (vit_model_load(&model, "models/mnist-cct.safetensors", &error) != VIT_OK ||
        vit_session_new(&session, model, &(vit_session_options){.threads = 2}, &error) != VIT_OK)
        fail_msg("%s", error.message);
    return 0;
}

static int close_model(void **unused) {
    vit_session_free(session);
    vit_model_free(model);
    return 0;
}

static bool count_layers(const vit_layer *layer, void *user) {
    size_t *seen = user;
    double sum = 0;
    for (size_t j = 0; j < layer->tokens; j++) sum += (double)layer->attention[j];
    assert_true(fabs(sum - 1) < 1e-6);
    assert_int_equal(layer->layer, *seen);
    return ++*seen < 3;
}

static void maps_are_of_a_prepared_picture(void **unused) {
    vit_session *s = session;
    const vit_model_info info = vit_model_describe(model);
    uint8_t digit[PIXELS];
    float logits[CLASSES];
    vit_map map;
    vit_error error;
    size_t seen = 0;
    vit_draw_digit(digit, 8, 1);
    assert_int_equal(info.tokens, info.prefix + info.rows * info.columns);
    assert_int_equal(vit_classify_prepared(s, digit, 1, logits, NULL), VIT_OK);
    vit_map_options o = {.method = VIT_METHOD_RELEVANCE};
    assert_int_equal(vit_explain(s, digit, &o, &map, NULL), VIT_OK);
    assert_true(map.dims == 2 && map.shape[0] == info.rows && map.shape[1] == info.columns);
    for (size_t i = 0; i < CLASSES; i++) assert_true(logits[i] <= logits[map.class_index]);
    vit_map_clear(&map);
    o = (vit_map_options){.method = VIT_METHOD_LENS};
    assert_int_equal(vit_explain(s, digit, &o, &map, NULL), VIT_OK);
    assert_memory_equal(map.values + (info.depth - 1) * CLASSES, logits, sizeof logits);
    vit_map_clear(&map);
    o.method = VIT_METHOD_COUNT;
    assert_int_equal(vit_explain(s, digit, &o, &map, &error), VIT_ERROR_ARGUMENT);
    assert_null(map.values);
    assert_int_equal(vit_explain_layers(s, digit, NULL, NULL, count_layers, &seen, NULL),
                     VIT_ERROR_CANCELLED);
    assert_int_equal(seen, 3);
}

/* Width and height of a PNG of two maps, of which the first has four heads. */
static void check_png(const uint8_t *digit, const vit_map *maps, size_t count, uint32_t width,
                      uint32_t height) {
    vit_buffer png;
    assert_int_equal(vit_map_png(session, digit, maps, count, &png, NULL), VIT_OK);
    const uint8_t *p = png.data + 16;
    assert_int_equal((uint32_t)p[2] << 8 | p[3], width);
    assert_int_equal((uint32_t)p[6] << 8 | p[7], height);
    vit_buffer_clear(&png);
}

/* Below each of several maps is its name. */
static void maps_have_names(void **unused) {
    const struct {
        vit_map_options options;
        const char *name;
    } cases[] = {
        {{.method = VIT_METHOD_ATTENTION}, "attention, layer 3"},
        {{.method = VIT_METHOD_RELEVANCE, .class_index = vit_given(4)}, "relevance: 4"},
        {{.method = VIT_METHOD_ATTENTION, .layer = vit_given(1), .head = vit_given(2)},
         "attention, layer 1, head 2"},
        {{.method = VIT_METHOD_ROLLOUT, .fuse = VIT_FUSE_MAX}, "rollout, max of heads"},
        {{.method = VIT_METHOD_SIMILARITY}, "similarity, layer 3"},
    };
    enum { MAPS = sizeof cases / sizeof *cases, CAPTION = 13 };
    uint8_t digit[PIXELS];
    vit_map maps[MAPS];
    vit_draw_digit(digit, 8, 1);
    for (size_t i = 0; i < MAPS; i++) {
        assert_int_equal(vit_explain(session, digit, &cases[i].options, &maps[i], NULL), VIT_OK);
        assert_string_equal(maps[i].name, cases[i].name);
    }
    check_png(digit, maps + 1, 1, 448, 448);                   /* alone */
    check_png(digit, maps + 1, 2, 3 * 172 - 4, 168 + CAPTION); /* the picture and two */
    check_png(digit, maps, 1, 3 * 172 - 4, 2 * (172 + CAPTION) - 4);
    maps[1].name[0] = maps[2].name[0] = 0;
    check_png(digit, maps + 1, 2, 3 * 172 - 4, 168);
    for (size_t i = 0; i < MAPS; i++) vit_map_clear(&maps[i]);
}

enum { PICTURES = 5 };

/* Answers of a batch, before and after maps in the same session; the lens is of float32. */
static void check_answers(vit_precision opened, vit_precision computed, const float *exact) {
    uint8_t digits[PICTURES][PIXELS];
    float before[PICTURES][CLASSES], after[PICTURES][CLASSES], told[CLASSES];
    vit_model *m;
    vit_session *s;
    vit_error error;
    const vit_model_options opening = {.precision = opened, .cpu = check_bf16_cpu()};
    const bool bf16 = computed == VIT_PRECISION_BF16;
    const vit_session_options choice = {
        .threads = 2, .precision = computed, .cpu = bf16 ? check_bf16_cpu() : NULL};
    if (vit_model_load_with(&m, "models/mnist-cct.safetensors", &opening, &error) != VIT_OK ||
        vit_session_new(&s, m, &choice, &error) != VIT_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < PICTURES; i++) vit_draw_digit(digits[i], i, 1);
    assert_int_equal(vit_classify_prepared(s, digits[0], PICTURES, before[0], NULL), VIT_OK);
    for (size_t i = 0; i < PICTURES; i++) {
        const vit_status status = vit_explain_layers(s, digits[i], NULL, told, NULL, NULL, &error);
        if (opened == VIT_PRECISION_BF16) { /* there is no other copy */
            assert_int_equal(status, VIT_ERROR_ARGUMENT);
            assert_non_null(strstr(error.message, "bf16"));
            continue;
        }
        assert_int_equal(status, VIT_OK);
        assert_memory_equal(told, exact ? exact + i * CLASSES : before[i], sizeof told);
        vit_map map;
        const vit_map_options o = {.method = VIT_METHOD_RELEVANCE};
        assert_int_equal(vit_explain(s, digits[i], &o, &map, &error), VIT_OK);
        vit_map_clear(&map);
    }
    assert_int_equal(vit_classify_prepared(s, digits[0], PICTURES, after[0], NULL), VIT_OK);
    assert_memory_equal(before, after, sizeof before);
    vit_session_free(s);
    vit_model_free(m);
}

static void maps_change_no_answer(void **unused) {
    uint8_t digits[PICTURES][PIXELS];
    float exact[PICTURES][CLASSES];
    for (size_t i = 0; i < PICTURES; i++) vit_draw_digit(digits[i], i, 1);
    assert_int_equal(vit_classify_prepared(session, digits[0], PICTURES, exact[0], NULL), VIT_OK);
    check_answers(VIT_PRECISION_F32, VIT_PRECISION_F32, NULL);
    if (!check_bf16_cpu()) return;
    check_answers(VIT_PRECISION_F32, VIT_PRECISION_BF16, exact[0]);
    check_answers(VIT_PRECISION_BF16, VIT_PRECISION_BF16, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_of_a_prepared_picture),
        cmocka_unit_test(maps_have_names),
        cmocka_unit_test(maps_change_no_answer),
    };
    return cmocka_run_group_tests_name("maps", tests, open_model, close_model);
}
