/* Labelled pictures in arrays: of a caller, and in the files of NumPy. Both are the same data, and
 * every damaged or strange file is refused with a sentence. */
#include "datasets/records/numpy.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/formats/npy.h"
#include "vit/tensors/npz_write.h"
#include <stdlib.h>
#include <string.h>

#define COUNT 60
#define SIDE 28
#define PIXELS (SIDE * SIDE)

static const char preset[] = "{\"model\": {\"image\": [28, 28], \"channels\": 1, \"patch\": 14, "
                             "\"dim\": 24, \"depth\": 1, \"heads\": 3, \"mlp\": 40, "
                             "\"classes\": 10}, \"train\": {\"batch\": 10, \"epochs\": 1}}";

static uint8_t images[COUNT * PIXELS];
static int64_t labels[COUNT];

static void draw(void) {
    for (uint32_t i = 0; i < COUNT; i++) labels[i] = vit_draw_digit(images + i * PIXELS, 1, i);
}

/* ---- files ---- */

static void put_npy(const char *path, const char *type, const size_t *shape, size_t dims,
                    const void *elements, size_t size) {
    vit_string t = {0};
    vit_string_add_npy(&t, type, shape, dims);
    vit_string_add_bytes(&t, elements, size);
    assert_false(t.failed);
    put_bytes(path, t.text, t.length);
    vit_string_free(&t);
}

static void put_images(const char *path, size_t first, size_t count) {
    const size_t shape[] = {count, SIDE, SIDE};
    put_npy(path, "|u1", shape, 3, images + first * PIXELS, count * PIXELS);
}

static void put_labels(const char *path, const int64_t *from, size_t count) {
    put_npy(path, "<i8", &count, 1, from, count * sizeof *from);
}

static void put_archive(const char *path, size_t train) {
    const vit_tensor tensors[] = {
        {"test_images",
         VIT_U8,
         3,
         {COUNT - train, SIDE, SIDE},
         (COUNT - train) * PIXELS,
         images + train * PIXELS},
        {"test_labels", VIT_I64, 1, {COUNT - train}, COUNT - train, labels + train},
        {"train_images", VIT_U8, 3, {train, SIDE, SIDE}, train * PIXELS, images},
        {"train_labels", VIT_I64, 1, {train}, train, labels}};
    vit_error e;
    if (vit_npz_write(path, tensors, 4, &e) != VIT_OK) fail_msg("%s", e.message);
}

static int enter(void **state) {
    const int failed = enter_directory(state);
    if (failed) return failed;
    draw();
    assert_int_equal(vit_make_directory("d", NULL), VIT_OK);
    put_file("small.json", preset);
    return 0;
}

static void opens(vit_dataset *d, const char *data, unsigned parts) {
    const vit_dataset_options o = {.need = parts, .want = parts, .empty_classes = true};
    vit_error e;
    if (vit_dataset_open(d, data, &o, &e) != VIT_OK) fail_msg("%s", e.message);
}

static void refused(const char *data, vit_status status, const char *part) {
    const vit_dataset_options o = {.need = VIT_PART_TRAIN, .want = VIT_PART_TRAIN};
    vit_dataset d;
    vit_error e = {0};
    if (vit_dataset_open(&d, data, &o, &e) != status || !strstr(e.message, part))
        fail_msg("expected %s \"%s\", found \"%s\"", vit_status_name(status), part, e.message);
}

/* ---- the same data by every road ---- */

static vit_arrays in_memory(size_t train) {
    return (vit_arrays){.height = SIDE,
                        .width = SIDE,
                        .channels = 1,
                        .train = {images, labels, train},
                        .test = {images + train * PIXELS, labels + train, COUNT - train}};
}

static vit_model *train(const char *data, const vit_arrays *arrays) {
    const vit_train_options o = {.data = data,
                                 .arrays = arrays,
                                 .preset = "small.json",
                                 .steps = 3,
                                 .empty_classes = true,
                                 .threads = 1};
    vit_model *m;
    vit_error e;
    if (vit_train(&m, &o, &e) != VIT_OK) fail_msg("%s", e.message);
    return m;
}

static void answer(const vit_model *m, float *logits) {
    vit_session *s;
    assert_int_equal(vit_session_new(&s, m, NULL, NULL), VIT_OK);
    assert_int_equal(vit_classify_prepared(s, images, 4, logits, NULL), VIT_OK);
    vit_session_free(s);
}

static vit_evaluation evaluate(const vit_model *m, const char *data, const vit_arrays *arrays) {
    const vit_evaluate_options o = {.data = data, .arrays = arrays, .threads = 1};
    vit_evaluation result;
    vit_error e;
    if (vit_evaluate(m, &o, &result, &e) != VIT_OK) fail_msg("%s", e.message);
    return result;
}

static void test_roads(void **state) {
    const vit_arrays arrays = in_memory(48);
    float want[40], got[40];
    put_images("d/x_train.npy", 0, 48);
    put_labels("d/y_train.npy", labels, 48);
    put_images("d/x_test.npy", 48, 12);
    put_labels("d/y_test.npy", labels + 48, 12);
    put_archive("d.npz", 48);
    vit_model *models[] = {train(NULL, &arrays), train("d", NULL), train("d.npz", NULL)};
    answer(models[0], want);
    const vit_evaluation a = evaluate(models[0], NULL, &arrays);
    assert_int_equal(a.images, 12);
    assert_string_equal(a.data, "arrays");
    for (size_t i = 1; i < 3; i++) {
        vit_evaluation b = evaluate(models[i], i == 1 ? "d" : "d.npz", NULL);
        answer(models[i], got);
        assert_memory_equal(got, want, sizeof want);
        assert_true(b.loss == a.loss && b.correct == a.correct && b.images == a.images);
        vit_evaluation_clear(&b);
    }
    vit_evaluation first = a;
    vit_evaluation_clear(&first);
    for (size_t i = 0; i < 3; i++) vit_model_free(models[i]);
}

/* Without a test part a sixth of each class is held back, and a model is tested with those that its
 * training did not see; another one with all. */
static void test_held_back(void **state) {
    vit_dataset d;
    size_t of_class[10] = {0}, held[10] = {0};
    for (size_t i = 0; i < COUNT; i++) of_class[labels[i]]++;
    put_images("d/images.npy", 0, COUNT);
    put_labels("d/labels.npy", labels, COUNT);
    opens(&d, "d", VIT_PART_TRAIN | VIT_PART_TEST);
    for (size_t i = 0; i < d.test.count; i++) held[d.test.labels[i]]++;
    for (size_t i = 0; i < 10; i++) assert_int_equal(held[i], of_class[i] / 6);
    assert_int_equal(d.train.count + d.test.count, COUNT);
    assert_string_equal(d.name, "d");
    assert_non_null(strstr(d.notes[0], "every sixth picture"));
    const size_t share = d.test.count;
    vit_dataset_close(&d);
    vit_model *own = train("d", NULL), *other = train("digits", NULL);
    vit_evaluation a = evaluate(own, "d", NULL), b = evaluate(other, "d", NULL);
    assert_int_equal(a.images, share);
    assert_int_equal(b.images, COUNT);
    assert_non_null(strstr(b.which, "not trained on these arrays"));
    vit_evaluation_clear(&a);
    vit_evaluation_clear(&b);
    vit_model_free(own);
    vit_model_free(other);
}

/* ---- forms ---- */

static void test_labels(void **state) {
    uint8_t narrow[COUNT], big[2 * COUNT];
    const size_t column[] = {COUNT, 1}, row[] = {COUNT};
    vit_dataset d;
    for (size_t i = 0; i < COUNT; i++) {
        narrow[i] = (uint8_t)labels[i];
        big[2 * i] = 0;
        big[2 * i + 1] = narrow[i];
    }
    put_images("d/images.npy", 0, COUNT);
    for (int form = 0; form < 3; form++) {
        if (form == 0) put_npy("d/labels.npy", "|u1", column, 2, narrow, sizeof narrow);
        if (form == 1) put_npy("d/labels.npy", ">i2", row, 1, big, sizeof big);
        if (form == 2) put_npy("d/labels.npy", ">u2", row, 1, big, sizeof big);
        opens(&d, "d", VIT_PART_TRAIN);
        assert_int_equal(d.train.labels[0], labels[0]);
        assert_int_equal(d.train.labels[3], labels[3]);
        assert_true(d.has_characters && d.labels == NULL);
        vit_dataset_close(&d);
    }
    put_file("d/classes.txt", "nil\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    opens(&d, "d", VIT_PART_TRAIN);
    assert_int_equal(d.classes, 10);
    assert_string_equal(d.labels[9], "nine");
    assert_false(d.has_characters);
    vit_dataset_close(&d);
}

/* Columns first, and colours. */
static void test_fortran(void **state) {
    static uint8_t turned[12 * 16 * 8 * 3];
    static const size_t shape[] = {12, 16, 8, 3};
    vit_string t = {0};
    vit_dataset d;
    const int64_t two[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
    vit_string_add_npy(&t, "|u1", shape, 4);
    memcpy(strstr(t.text + 10, "False"), "True ", 5);
    for (size_t i = 0, at = 0; i < 3; i++)
        for (size_t x = 0; x < 8; x++)
            for (size_t y = 0; y < 16; y++)
                for (size_t n = 0; n < 12; n++) turned[at++] = (uint8_t)(n * 20 + y + x + i);
    vit_string_add_bytes(&t, (const char *)turned, sizeof turned);
    put_bytes("d/images.npy", t.text, t.length);
    vit_string_free(&t);
    put_labels("d/labels.npy", two, 12);
    opens(&d, "d", VIT_PART_TRAIN);
    assert_int_equal(d.height, 16);
    assert_int_equal(d.channels, 3);
    for (size_t n = 0; n < d.train.count; n++)
        for (size_t y = 0; y < 16; y++)
            for (size_t x = 0; x < 8; x++)
                for (size_t c = 0; c < 3; c++)
                    assert_int_equal(d.train.pixels[((n * 16 + y) * 8 + x) * 3 + c],
                                     (uint8_t)(n * 20 + y + x + c));
    vit_dataset_close(&d);
}

/* Of a size that no patches fit, or not the network's: as the model prepares a picture itself. */
static void test_other_sizes(void **state) {
    static uint8_t pixels[12 * 50 * 37];
    int64_t two[12];
    float want[12 * 10];
    vit_error e;
    vit_session *s;
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * 2654435761u >> 20);
    for (size_t i = 0; i < 12; i++) two[i] = (int64_t)i % 2;
    vit_arrays a = {.height = 50, .width = 37, .channels = 1, .train = {pixels, two, 12}};
    vit_dataset d;
    const vit_dataset_options o = {.need = VIT_PART_TRAIN, .arrays = &a};
    if (vit_dataset_open(&d, NULL, &o, &e) != VIT_OK) fail_msg("%s", e.message);
    assert_int_equal(d.height, 32);
    assert_int_equal(d.channels, 3);
    assert_non_null(strstr(d.notes[0], "50 x 37 x 1"));
    vit_dataset_close(&d);
    const vit_arrays digits = in_memory(48);
    vit_model *m = train(NULL, &digits);
    a.test = a.train;
    vit_evaluation result = evaluate(m, NULL, &a);
    size_t correct = 0;
    assert_int_equal(vit_session_new(&s, m, NULL, NULL), VIT_OK);
    for (size_t i = 0; i < 12; i++) {
        size_t best;
        assert_int_equal(
            vit_classify_pixels(s, pixels + i * 50 * 37, 37, 50, 1, 37, want + 10 * i, &e), VIT_OK);
        vit_top_k(want + 10 * i, 10, 1, &best);
        correct += best == (size_t)two[i];
    }
    assert_int_equal(result.correct, correct);
    vit_evaluation_clear(&result);
    vit_session_free(s);
    vit_model_free(m);
}

/* ---- what is refused ---- */

static void test_refused(void **state) {
    static float floats[12 * 4];
    static const size_t rows[] = {12, 4}, first[] = {12, 3, 2, 2}, square[] = {12, 2, 2};
    int64_t wrong[COUNT];
    refused("d", VIT_ERROR_FORMAT, "found nothing");
    put_images("d/images.npy", 0, COUNT);
    refused("d", VIT_ERROR_IO, "has no labels, which images needs");
    put_labels("d/labels.npy", labels, COUNT - 1);
    refused("d", VIT_ERROR_MISMATCH, "d/labels.npy: 59 labels, but the pictures are 60");
    memcpy(wrong, labels, sizeof wrong);
    wrong[7] = -1;
    put_labels("d/labels.npy", wrong, COUNT);
    refused("d", VIT_ERROR_FORMAT, "the label of training picture 7 is -1, expected 0 to");
    wrong[7] = 135;
    put_labels("d/labels.npy", wrong, COUNT);
    refused("d", VIT_ERROR_FORMAT, "is the largest label wrong?");
    wrong[7] = 1 << 20;
    put_labels("d/labels.npy", wrong, COUNT);
    refused("d", VIT_ERROR_FORMAT, "is 1048576, expected 0 to 65535");
    put_npy("d/labels.npy", "<f8", rows, 1, labels, 12 * 8);
    refused("d", VIT_ERROR_UNSUPPORTED, "labels.astype('int64')");
    put_npy("d/labels.npy", "|O", rows, 1, labels, 12 * 8);
    refused("d", VIT_ERROR_UNSUPPORTED, "'|O', expected integers");
    put_npy("d/labels.npy", "|u1", rows, 2, floats, 48);
    refused("d", VIT_ERROR_FORMAT, "labels of shape [12, 4], expected one number");
    put_labels("d/labels.npy", labels, 12);
    put_npy("d/images.npy", "<f4", square, 3, floats, 48 * 4);
    refused("d", VIT_ERROR_UNSUPPORTED, "(images * 255).round()");
    put_npy("d/images.npy", "|u1", first, 4, images, 144);
    refused("d", VIT_ERROR_FORMAT, "images.transpose(0, 2, 3, 1)");
    put_npy("d/images.npy", "|u1", rows, 2, images, 48);
    refused("d", VIT_ERROR_FORMAT, "pictures of shape [12, 4]");
    put_images("d/images.npy", 0, 12);
    put_images("d/train_images.npy", 0, 12);
    refused("d", VIT_ERROR_MISMATCH, "has both images and train_images");
    put_file("e.npz", "no archive");
    refused("e.npz", VIT_ERROR_FORMAT, "e.npz");
    put_file("f.npz", "");
    refused("f.npz", VIT_ERROR_FORMAT, "f.npz");
}

/* Cut off anywhere, and every bit of the header turned: refused, or read as the picture it then is,
 * but never more. */
static void test_damaged(void **state) {
    const vit_dataset_options o = {
        .need = VIT_PART_TRAIN, .want = VIT_PART_TRAIN, .empty_classes = true};
    vit_bytes whole;
    vit_dataset d;
    vit_error e;
    put_images("d/images.npy", 0, 12);
    put_labels("d/labels.npy", labels, 12);
    assert_int_equal(vit_read_file(&whole, "d/images.npy", 1 << 20, NULL), VIT_OK);
    for (size_t length = 0; length < whole.size; length += length < 140 ? 1 : 397) {
        put_bytes("d/images.npy", whole.data, length);
        assert_int_not_equal(vit_dataset_open(&d, "d", &o, &e), VIT_OK);
        assert_non_null(strstr(e.message, "d/images.npy: "));
    }
    for (size_t bit = 0; bit < 8 * 128; bit++) {
        whole.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        put_bytes("d/images.npy", whole.data, whole.size);
        const vit_status status = vit_dataset_open(&d, "d", &o, &e);
        if (status == VIT_OK) {
            assert_true(d.train.count <= 12);
            vit_dataset_close(&d);
        } else {
            assert_true(strlen(e.message) > 10);
        }
        whole.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    vit_free(whole.data);
}

/* Every bit of an archive, and every length: the CRC-32 finds what the headers do not. */
static void test_damaged_archive(void **state) {
    const vit_dataset_options o = {
        .need = VIT_PART_TRAIN, .want = VIT_PART_TRAIN, .empty_classes = true};
    static const size_t square[] = {4, 2, 2};
    const vit_tensor tensors[] = {{"images", VIT_U8, 3, {square[0], 2, 2}, 16, images + 300},
                                  {"labels", VIT_I64, 1, {4}, 4, labels}};
    vit_bytes whole;
    vit_dataset d = {0};
    vit_error e;
    assert_int_equal(vit_npz_write("a.npz", tensors, 2, NULL), VIT_OK);
    assert_int_equal(vit_read_file(&whole, "a.npz", 1 << 20, NULL), VIT_OK);
    assert_int_equal(vit_numpy_parse(&d, whole.data, whole.size, "a.npz", &o, &e), VIT_OK);
    vit_dataset_close(&d);
    d = (vit_dataset){0};
    for (size_t length = 0; length < whole.size; length++) {
        assert_int_not_equal(vit_numpy_parse(&d, whole.data, length, "a.npz", &o, &e), VIT_OK);
        vit_dataset_close(&d);
    }
    for (size_t bit = 0; bit < 8 * whole.size; bit++) {
        whole.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        vit_numpy_parse(&d, whole.data, whole.size, "a.npz", &o, &e);
        vit_dataset_close(&d);
        whole.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    vit_free(whole.data);
}

/* What a caller may get wrong. */
static void test_caller(void **state) {
    static const struct {
        vit_arrays arrays;
        const char *says;
    } cases[] = {
        {{.height = 0, .width = 28, .channels = 1}, "pictures of 0x28"},
        {{.height = 28, .width = 28, .channels = 4}, "images[..., :3]"},
        {{.height = 28, .width = 28, .channels = 1}, "no pictures for training"},
        {{.height = 28, .width = 28, .channels = 1, .train = {NULL, labels, 3}}, "without pixels"},
        {{.height = 28, .width = 28, .channels = 1, .train = {images, NULL, 3}}, "without labels"},
        {{.height = 28, .width = 28, .channels = 1, .classes = 2, .train = {images, labels, 60}},
         "expected 0 to 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const vit_train_options o = {.arrays = &cases[i].arrays, .steps = 1};
        vit_error e = {0};
        assert_int_not_equal(vit_train(NULL, &o, &e), VIT_OK);
        if (!strstr(e.message, cases[i].says))
            fail_msg("expected \"%s\", found \"%s\"", cases[i].says, e.message);
    }
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, enter, leave_directory)

int main(void) {
    const struct CMUnitTest tests[] = {
        HERE(test_roads),   HERE(test_held_back),       HERE(test_labels),
        HERE(test_fortran), HERE(test_other_sizes),     HERE(test_refused),
        HERE(test_damaged), HERE(test_damaged_archive), HERE(test_caller)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
