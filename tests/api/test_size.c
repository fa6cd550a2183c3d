/* Models at another size than they were trained at: against timm (tests/fixtures/sizes.txt), and
 * the lists of operations that go with it. */
#include "tests/support/check.h"
#include "tests/support/fault.h"
#include "tests/support/pictures.h"
#include "tests/support/unit.h"
#include "vit/vit.h"
#include "vit/weights/file/model_file.h"
#include <stdio.h>
#include <string.h>

#define MODEL "tests/fixtures/sizes.safetensors"
#define CLASSES 4

static void check_answer(size_t height, size_t width, const vit_image *picture,
                         const float expected[CLASSES]) {
    const vit_model_options options = {.height = height, .width = width};
    vit_model *model;
    vit_session *session;
    vit_error error;
    float logits[CLASSES];
    if (vit_model_load_with(&model, MODEL, &options, &error) != VIT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(vit_model_describe(model).width, width);
    assert_int_equal(vit_session_new(&session, model, NULL, &error), VIT_OK);
    if (vit_classify_pixels(session, picture->pixels, picture->width, picture->height, 3,
                            picture->width * 3, logits, &error) != VIT_OK)
        fail_msg("%s", error.message);
    const double difference = check_difference(logits, expected, CLASSES);
    if (!(difference <= 1e-5))
        fail_msg("%zux%zu: off by %g of the largest", height, width, difference);
    vit_session_free(session);
    vit_model_free(model);
}

static void test_timm(void **state) {
    FILE *file = open_fixture("sizes.txt");
    size_t height, width, w, h, count = 0;
    float logits[CLASSES];
    for (; fscanf(file, "%zu %zu %zu %zu %f %f %f %f", &height, &width, &w, &h, &logits[0],
                  &logits[1], &logits[2], &logits[3]) == 8;
         count++) {
        vit_image picture = noise_picture(w, h, 3, 0);
        check_answer(height, width, &picture, logits);
        vit_image_free(&picture);
    }
    fclose(file);
    assert_int_equal(count, 10);
}

static void test_refused_options(void **state) {
    vit_model *model;
    vit_error error;
    const vit_model_options odd = {.height = 25, .width = 24}, huge = {.height = 8192};
    const vit_model_options unknown = {.cpu = "sse9"};
    assert_int_equal(vit_model_load_with(&model, MODEL, &odd, &error), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "8 does not divide the picture, 25 x 24"));
    assert_null(model);
    assert_int_equal(vit_model_load_with(&model, MODEL, &huge, &error), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "\"image height\" is 8192"));
    assert_int_equal(vit_model_load_with(&model, MODEL, &unknown, &error), VIT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "\"sse9\", expected scalar"));
    assert_null(model);
}

/* Without memory the model stays what it was. */
static void test_no_memory(void **state) {
    vit_tensors *opened;
    vit_model_file file;
    vit_error error;
    assert_int_equal(vit_tensors_open(&opened, MODEL, &error), VIT_OK);
    assert_int_equal(vit_model_file_load(&file, opened, NULL, 0, &error), VIT_OK);
    vit_tensors_close(opened);
    long n = 1;
    for (;; n++) {
        fault_arm(n);
        const vit_status status = vit_model_file_resize(&file, 40, 32, &error);
        fault_disarm();
        if (fault_call() == NULL) break;
        assert_int_equal(status, VIT_ERROR_MEMORY);
        assert_int_equal(file.config.height, 24);
        assert_int_equal(file.preprocessing.operations[1].shorter, 26);
    }
    assert_true(n > 8);
    assert_int_equal(file.config.height, 40);
    vit_model_file_clear(&file);
}

#define RGB "[{\"op\": \"rgb\"}, {\"op\": \"resize\", "
#define END "{\"op\": \"normalize\", \"mean\": [0.5], \"std\": [0.5]}]"
#define CROP(height, width) \
    "{\"op\": \"center_crop\", \"height\": " #height ", \"width\": " #width "}, "

static void test_lists(void **state) {
    static const struct {
        size_t height, width, new_height, new_width;
        const char *before, *after;
    } cases[] = {
        /* floor(384 / 0.9), not 384 * 248 / 224 */
        {224, 224, 384, 384,
         RGB "\"shorter\": 248, \"filter\": \"bicubic\", \"crop_share\": 0.9}, " CROP(224, 224) END,
         RGB "\"shorter\": 426, \"filter\": \"bicubic\", \"crop_share\": 0.9}, " CROP(384, 384)
             END},
        {224, 224, 192, 320,
         RGB "\"shorter\": 248, \"filter\": \"bicubic\", \"crop_share\": 0.9}, " CROP(224, 224) END,
         RGB "\"height\": 213, \"width\": 355, \"fit\": \"cover\", \"filter\": \"bicubic\", "
             "\"crop_share\": 0.9}, " CROP(192, 320) END},
        {192, 320, 224, 224,
         RGB "\"height\": 213, \"width\": 355, \"fit\": \"cover\", \"filter\": \"bicubic\", "
             "\"crop_share\": 0.9}, " CROP(192, 320) END,
         RGB "\"shorter\": 248, \"filter\": \"bicubic\", \"crop_share\": 0.9}, " CROP(224, 224)
             END},
        {224, 224, 384, 384, RGB "\"shorter\": 256, \"filter\": \"bilinear\"}, " CROP(224, 224) END,
         RGB "\"shorter\": 438, \"filter\": \"bilinear\"}, " CROP(384, 384) END},
        {224, 224, 192, 320, RGB "\"height\": 224, \"width\": 224, \"filter\": \"bilinear\"}, " END,
         RGB "\"height\": 192, \"width\": 320, \"filter\": \"bilinear\"}, " END},
        {224, 224, 112, 112,
         RGB
         "\"height\": 256, \"width\": 256, \"fit\": \"cover\", \"filter\": \"bilinear\"}, " CROP(
             224, 224) END,
         RGB
         "\"height\": 128, \"width\": 128, \"fit\": \"cover\", \"filter\": \"bilinear\"}, " CROP(
             112, 112) END},
        {64, 64, 96, 32,
         RGB "\"height\": 71, \"width\": 71, \"fit\": \"contain\", \"filter\": \"bicubic\", "
             "\"crop_share\": 0.9}, " CROP(64, 64) END,
         RGB "\"height\": 106, \"width\": 35, \"fit\": \"contain\", \"filter\": \"bicubic\", "
             "\"crop_share\": 0.9}, " CROP(96, 32) END},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_preprocessing p;
        assert_int_equal(vit_preprocessing_read(&p, cases[i].before, "a test", NULL), VIT_OK);
        assert_int_equal(vit_preprocessing_at(&p, cases[i].height, cases[i].width,
                                              cases[i].new_height, cases[i].new_width, NULL),
                         VIT_OK);
        char *text = vit_preprocessing_write(&p);
        assert_string_equal(text, cases[i].after);
        vit_free(text);
    }
}

static void test_refused_lists(void **state) {
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"[{\"op\": \"digit\"}, " END, "prepares digits of 28 x 28"},
        {RGB "\"shorter\": 9, \"filter\": \"box\", \"crop_share\": 1e-9}, " END,
         "cannot be scaled"},
        {RGB "\"height\": 1, \"width\": 99, \"filter\": \"box\"}, " END, "cannot be scaled"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_preprocessing p, before;
        vit_error error;
        assert_int_equal(vit_preprocessing_read(&p, cases[i].json, "a test", NULL), VIT_OK);
        before = p;
        assert_int_equal(vit_preprocessing_at(&p, 28, 28, 14, 14, &error), VIT_ERROR_ARGUMENT);
        if (!strstr(error.message, cases[i].message)) fail_msg("%s", error.message);
        assert_memory_equal(&p, &before, sizeof p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timm),          cmocka_unit_test(test_refused_options),
        cmocka_unit_test(test_no_memory),     cmocka_unit_test(test_lists),
        cmocka_unit_test(test_refused_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
