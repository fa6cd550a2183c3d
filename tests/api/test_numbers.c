/* Weights that are numbers, and sums that are none: an answer of NaN or infinity is refused, on
 * every road through vit/vit.h, and only the picture that it is of. The network overflows for a
 * white picture; a black one is zeros to it. */
#include "tests/support/scratch.h"
#include "tests/support/small_model.h"
#include "tests/support/unit.h"
#include "vit/image/codec/png_write.h"
#include "vit/maps.h"
#include <math.h>
#include <string.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 3, DIM = 16 };

static const char *const labels[] = {"a", "b", "c"};
static uint8_t images[2][PIXELS]; /* black, white */

/* Freed by vit_model_free. */
static vit_model *overflowing(void) {
    vit_model_file f = small_model(
        "{\"image\": [8, 8], \"channels\": 1, \"patch\": 4, \"dim\": 16, \"depth\": 1, \"heads\": "
        "2, \"mlp\": 16, \"classes\": 3}",
        "{}", "[{\"op\": \"normalize\", \"mean\": [0], \"std\": [1]}]", labels, "{}");
    vit_model *m;
    vit_error error;
    memset(images[1], 255, PIXELS);
    for (size_t i = 0; i < f.table.count; i++) {
        const vit_parameter *row = &f.table.rows[i];
        if (strcmp(row->name, "patch_embed.proj.weight") != 0) continue;
        for (size_t k = 0; k < row->count; k++) f.values[row->offset + k] *= 1e30F;
    }
    assert_int_equal(vit_model_file_save("m.safetensors", &f, &error), VIT_OK);
    vit_model_file_clear(&f);
    if (vit_model_load(&m, "m.safetensors", &error) != VIT_OK) fail_msg("%s", error.message);
    return m;
}

static vit_session *session_of(const vit_model *m) {
    vit_session *s;
    assert_int_equal(vit_session_new(&s, m, NULL, NULL), VIT_OK);
    return s;
}

static void test_prepared(void **state) {
    vit_error error;
    float logits[2 * CLASSES], features[2 * DIM];
    vit_model *m = overflowing();
    vit_session *s = session_of(m);
    assert_int_equal(vit_classify_prepared(s, images[0], 1, logits, &error), VIT_OK);
    assert_true(isfinite(logits[0]));
    assert_int_equal(vit_classify_prepared(s, images[0], 2, logits, &error), VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, "picture 2 of 2: the model's answer is not finite",
                "earlier checkpoint");
    assert_int_equal(vit_embed_prepared(s, images[1], 1, logits, features, &error),
                     VIT_ERROR_FORMAT);
    vit_session_free(s);
    vit_model_free(m);
}

static vit_bytes png_of(const uint8_t *pixels) {
    vit_bytes png = {0};
    assert_int_equal(vit_png_write(&png, pixels, SIDE, SIDE, 1, NULL), VIT_OK);
    return png;
}

/* One by one, and among others: the black picture is answered as if it were alone. */
static void test_pictures(void **state) {
    vit_error error;
    float one[CLASSES], many[4 * CLASSES], features[4 * DIM];
    vit_answer about[4];
    vit_model *m = overflowing();
    vit_session *s = session_of(m);
    vit_bytes black = png_of(images[0]), white = png_of(images[1]);
    const vit_picture list[] = {{.name = "0.png", .bytes = black.data, .size = black.size},
                                {.name = "1.png", .bytes = white.data, .size = white.size},
                                {.name = "2.png", .bytes = white.data, .size = 20},
                                {.name = "3.png", .bytes = black.data, .size = black.size}};
    assert_int_equal(vit_classify_pixels(s, images[1], SIDE, SIDE, 1, SIDE, one, &error),
                     VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, "the picture: the model's answer", "NaN");
    assert_int_equal(vit_classify_memory(s, white.data, white.size, "1.png", one, &error),
                     VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, "1.png: the model's answer is not finite", "damaged");
    assert_int_equal(vit_classify_memory(s, black.data, black.size, "0.png", one, NULL), VIT_OK);
    assert_int_equal(vit_classify_many(s, list, 4, many, features, about, NULL), VIT_OK);
    assert_says(&about[1].error, VIT_ERROR_FORMAT, "1.png: the model's answer is not finite", "");
    assert_says(&about[2].error, VIT_ERROR_FORMAT, "2.png", "");
    for (size_t i = 0; i < 4; i += 3) {
        assert_int_equal(about[i].error.status, VIT_OK);
        assert_memory_equal(many + i * CLASSES, one, sizeof one);
    }
    for (size_t i = CLASSES; i < 3 * CLASSES; i++) assert_true(isnan(many[i]));
    for (size_t i = DIM; i < 3 * DIM; i++) assert_true(isnan(features[i]));
    vit_free(black.data);
    vit_free(white.data);
    vit_session_free(s);
    vit_model_free(m);
}

static void test_evaluate(void **state) {
    static const int64_t classes[] = {0, 1};
    const vit_arrays arrays = {.height = SIDE,
                               .width = SIDE,
                               .channels = 1,
                               .classes = CLASSES,
                               .test = {images[0], classes, 2}};
    const vit_evaluate_options o = {.data = "two", .arrays = &arrays};
    vit_evaluation result;
    vit_error error;
    vit_model *m = overflowing();
    assert_int_equal(vit_evaluate(m, &o, &result, &error), VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, "two: picture 1: the model's answer is not finite", "");
    assert_null(result.confusion);
    vit_model_free(m);
}

static void test_maps(void **state) {
    vit_error error;
    vit_map map;
    vit_buffer page;
    float logits[CLASSES];
    vit_model *m = overflowing();
    vit_session *s = session_of(m);
    for (vit_method i = 0; i < VIT_METHOD_COUNT; i++) {
        const vit_map_options o = {.method = i};
        assert_int_equal(vit_explain(s, images[1], &o, &map, &error), VIT_ERROR_FORMAT);
        assert_says(&error, VIT_ERROR_FORMAT, "answer is not finite", "");
        assert_null(map.values);
        const vit_status black = vit_explain(s, images[0], &o, &map, &error);
        if (black != VIT_OK) assert_says(&error, VIT_ERROR_FORMAT, "the map is not finite", "");
        vit_map_clear(&map);
    }
    assert_int_equal(vit_explain_page(s, images[1], &(vit_page_options){0}, &page, &error),
                     VIT_ERROR_FORMAT);
    assert_int_equal(vit_explain_layers(s, images[1], NULL, logits, NULL, NULL, &error),
                     VIT_ERROR_FORMAT);
    assert_int_equal(vit_explain_layers(s, images[0], NULL, logits, NULL, NULL, &error), VIT_OK);
    vit_session_free(s);
    vit_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_prepared),
        IN_DIRECTORY(test_pictures),
        IN_DIRECTORY(test_evaluate),
        IN_DIRECTORY(test_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
