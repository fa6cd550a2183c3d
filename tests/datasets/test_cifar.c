/* CIFAR-10 and CIFAR-100. The published CIFAR-10 comes from $VIT_DATA; figures of it were computed
 * with numpy and hashlib. Everything else is written into a directory of its own. */
#include "datasets/reader.h"
#include "tests/support/fault.h"
#include "tests/support/folders.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BOTH (VIT_PART_TRAIN | VIT_PART_TEST)
#define PICTURE 3072

static const vit_dataset_options both = {.need = BOTH, .want = BOTH};
static const vit_dataset_options train_alone = {.need = VIT_PART_TRAIN, .want = VIT_PART_TRAIN};
static const vit_dataset_options test_alone = {.need = VIT_PART_TEST, .want = VIT_PART_TEST};
static const vit_dataset_options any = {.want = BOTH};

/* ---- files ---- */

static uint8_t pixel(unsigned first, size_t record, size_t i) {
    return (uint8_t)(first + 7 * record + i % 251);
}

/* Records whose labels count up from `first`, wrapped at `classes`. */
static size_t make_records(uint8_t *bytes, size_t count, unsigned classes, unsigned first) {
    uint8_t *p = bytes;
    for (size_t r = 0; r < count; r++) {
        if (classes == 100) *p++ = (uint8_t)(r % 20);
        *p++ = (uint8_t)((first + r) % classes);
        for (size_t i = 0; i < PICTURE; i++) *p++ = pixel(first, r, i);
    }
    return (size_t)(p - bytes);
}

/* Gzipped where the name says so. */
static void put_records(const char *path, size_t count, unsigned classes, unsigned first) {
    static uint8_t bytes[32 * (PICTURE + 2)];
    assert_true(count <= 32);
    size_t size = make_records(bytes, count, classes, first), length = strlen(path);
    if (length < 3 || strcmp(path + length - 3, ".gz") != 0) {
        put_bytes(path, bytes, size);
        return;
    }
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
    assert_int_equal(gzclose(file), Z_OK);
}

static void put_cifar10(const char *directory, size_t count) {
    char path[64];
    for (unsigned i = 1; i <= 5; i++) {
        snprintf(path, sizeof path, "%s/data_batch_%u.bin%s", directory, i, i % 2 ? "" : ".gz");
        put_records(path, count, 10, 20 * i);
    }
    snprintf(path, sizeof path, "%s/test_batch.bin", directory);
    put_records(path, 4, 10, 3);
}

static void put_cifar100(const char *directory) {
    char path[64];
    snprintf(path, sizeof path, "%s/train.bin", directory);
    put_records(path, 30, 100, 80);
    snprintf(path, sizeof path, "%s/test.bin.gz", directory);
    put_records(path, 6, 100, 40);
}

/* ---- the published set ---- */

static uint64_t sum(const vit_records *r) {
    uint64_t total = 0;
    for (size_t i = 0; i < r->count * PICTURE; i++) total += r->pixels[i];
    return total;
}

static void check_labels(const vit_records *r, const char *first) {
    for (size_t i = 0; first[i] != 0; i++) assert_int_equal(r->labels[i], first[i] - '0');
}

static void test_published(void **state) {
    const char *root = getenv("VIT_DATA");
    char path[512];
    vit_dataset set;
    snprintf(path, sizeof path, "%s/cifar10", root != NULL ? root : "../shared/data");
    if (vit_path_look(path) != VIT_PATH_DIRECTORY) {
        print_message("%s is absent: scripts/fetch-data cifar10\n", path);
        skip();
    }
    open_set(&set, path, &both);
    assert_string_equal(set.name, "cifar10");
    assert_true(set.train.count == 50000 && set.test.count == 10000);
    assert_true(set.height == 32 && set.width == 32 && set.channels == 3 && set.classes == 10);
    check_labels(&set.train, "6994112783");
    check_labels(&set.test, "3880661631");
    assert_int_equal(sum(&set.train), 18540682003);
    assert_int_equal(sum(&set.test), 3733375634);
    const uint8_t *p = vit_record_pixels(&set, &set.train, 12345);
    assert_memory_equal(p + (7 * 32 + 19) * 3, ((const uint8_t[]){255, 255, 255}), 3);
    assert_memory_equal(p + (31 * 32 + 31) * 3, ((const uint8_t[]){153, 169, 159}), 3);
    assert_string_equal(set.labels[0], "airplane");
    assert_string_equal(set.labels[9], "truck");
    assert_true(set.mean[0] == 0.4914f && set.mean[2] == 0.4465f && set.std[1] == 0.2435f);
    assert_string_equal(set.checksum,
                        "a0181da372c0d63a5920fdbea2ec3f83ecbc552d378218e1cb473cf634941a3b");
    assert_int_equal(set.note_count, 0);
    vit_dataset_close(&set);
    assert_null(set.labels);
}

/* ---- small ones ---- */

static void test_cifar10(void **state) {
    vit_dataset set;
    put_cifar10(".", 3);
    open_set(&set, ".", &both);
    assert_string_equal(set.name, "cifar10");
    assert_true(set.train.count == 15 && set.test.count == 4 && set.classes == 10);
    check_labels(&set.train, "012012012012012");
    check_labels(&set.test, "3456");
    /* Picture 4 is record 1 of batch 2; its planes become pixels. */
    const uint8_t *p = vit_record_pixels(&set, &set.train, 4);
    for (size_t i = 0; i < 1024; i++)
        for (size_t c = 0; c < 3; c++) assert_int_equal(p[3 * i + c], pixel(40, 1, c * 1024 + i));
    assert_string_equal(set.labels[6], "frog");
    assert_int_equal(set.note_count, 1);
    assert_non_null(strstr(set.notes[0], "holds 15 pictures, that of the published cifar10 50000"));
    vit_dataset_close(&set);
}

static void test_checksum_is_of_the_training_part(void **state) {
    vit_dataset set;
    char checksum[65];
    put_cifar10(".", 3);
    open_set(&set, ".", &both);
    memcpy(checksum, set.checksum, sizeof checksum);
    vit_dataset_close(&set);
    open_set(&set, ".", &train_alone);
    assert_string_equal(set.checksum, checksum);
    assert_int_equal(set.test.count, 0);
    vit_dataset_close(&set);
    assert_int_equal(unlink("test_batch.bin"), 0);
    open_set(&set, ".", &any);
    assert_string_equal(set.checksum, checksum);
    vit_dataset_close(&set);
    put_records("data_batch_5.bin", 3, 10, 1);
    open_set(&set, ".", &any);
    assert_string_not_equal(set.checksum, checksum);
    vit_dataset_close(&set);
}

static void test_inside_the_archives_directory(void **state) {
    vit_dataset set;
    assert_int_equal(vit_make_directory("cifar-10-batches-bin", NULL), VIT_OK);
    refuse_set(".", &any, VIT_ERROR_FORMAT, "./cifar-10-batches-bin: holds no", "data_batch_1.bin");
    put_cifar10("cifar-10-batches-bin", 2);
    put_file("README.txt", "of the user's own");
    open_set(&set, ".", &both);
    assert_true(set.train.count == 10 && set.test.count == 4);
    vit_dataset_close(&set);
    assert_int_equal(vit_make_directory("100", NULL), VIT_OK);
    assert_int_equal(vit_make_directory("100/cifar-100-binary", NULL), VIT_OK);
    put_cifar100("100/cifar-100-binary");
    open_set(&set, "100", &test_alone);
    assert_true(set.train.count == 0 && set.test.count == 6);
    assert_string_equal(set.name, "cifar100");
    vit_dataset_close(&set);
}

static void test_cifar100(void **state) {
    vit_dataset set;
    put_cifar100(".");
    open_set(&set, ".", &both);
    assert_true(set.train.count == 30 && set.test.count == 6 && set.classes == 100);
    for (size_t i = 0; i < 30; i++) assert_int_equal(set.train.labels[i], (80 + i) % 100);
    assert_int_equal(set.test.labels[5], 45);
    assert_string_equal(set.labels[0], "apple");
    assert_string_equal(set.labels[47], "maple_tree");
    assert_string_equal(set.labels[99], "worm");
    for (size_t c = 0; c < 3; c++) {
        double total = 0, squares = 0;
        for (size_t i = 0; i < 30 * 1024; i++) {
            double v = pixel(80, i / 1024, c * 1024 + i % 1024) / 255.0;
            total += v;
            squares += v * v;
        }
        double mean = total / (30 * 1024), deviation = sqrt(squares / (30 * 1024) - mean * mean);
        assert_true(fabs(set.mean[c] - mean) < 1e-6);
        assert_true(fabs(set.std[c] - deviation) < 1e-6);
    }
    vit_dataset_close(&set);
}

/* ---- names ---- */

static void test_names_from_the_file(void **state) {
    vit_dataset set;
    put_cifar10(".", 2);
    put_file("batches.meta.txt", "a\r\nb\r\n\r\nc\nd\ne\nf\ng\nh\ni\nlast one");
    open_set(&set, ".", &train_alone);
    assert_string_equal(set.labels[0], "a");
    assert_string_equal(set.labels[2], "c");
    assert_string_equal(set.labels[9], "last one");
    vit_dataset_close(&set);
    put_file("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\n");
    refuse_set(".", &train_alone, VIT_ERROR_FORMAT, "batches.meta.txt: holds 9 names",
               "expected 10");
    put_file("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n");
    refuse_set(".", &train_alone, VIT_ERROR_FORMAT, "batches.meta.txt: holds 11 names",
               "expected 10");
    put_file("batches.meta.txt", "");
    refuse_set(".", &train_alone, VIT_ERROR_FORMAT, "holds 0 names", "expected 10");
}

static void test_known_names(void **state) {
    vit_dataset set;
    char *saved = vit_strdup(getenv("VIT_DATA") != NULL ? getenv("VIT_DATA") : "");
    unsetenv("VIT_DATA");
    refuse_set("cifar100", &any, VIT_ERROR_IO, "directories cifar100, data/cifar100;",
               "scripts/fetch-data cifar100");
    refuse_set("cifar", &any, VIT_ERROR_IO, "neither a directory", "did you mean cifar10");
    assert_int_equal(vit_make_directory("data", NULL), VIT_OK);
    assert_int_equal(vit_make_directory("data/cifar10", NULL), VIT_OK);
    put_cifar10("data/cifar10", 2);
    open_set(&set, "cifar10", &both);
    vit_dataset_close(&set);
    setenv("VIT_DATA", saved, 1);
    vit_free(saved);
}

/* ---- files that are wrong ---- */

static void test_cut_off(void **state) {
    uint8_t bytes[2 * (PICTURE + 1)] = {0};
    size_t count;
    vit_error error;
    for (size_t size = 0; size <= sizeof bytes; size++) {
        bool whole = size == sizeof bytes || size == sizeof bytes / 2;
        vit_status status = vit_cifar_parse(&count, bytes, size, 10, "FILE", &error);
        assert_int_equal(status, whole ? VIT_OK : VIT_ERROR_FORMAT);
        assert_int_equal(count, whole ? size / (PICTURE + 1) : 0);
    }
    assert_int_equal(vit_cifar_parse(&count, bytes, 5000, 10, "FILE", &error), VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, "FILE: 5000 bytes found", "records of 3073 bytes");
    assert_int_equal(vit_cifar_parse(&count, bytes, 5000, 100, "FILE", &error), VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, "cut off", "records of 3074 bytes");

    put_cifar10(".", 3);
    assert_int_equal(truncate("data_batch_3.bin", 2 * 3073 + 10), 0);
    refuse_set(".", &both, VIT_ERROR_FORMAT, "./data_batch_3.bin: 6156 bytes found", "3073 bytes");
    /* Cut between two records, it is shorter than the others. */
    assert_int_equal(truncate("data_batch_3.bin", 2 * 3073), 0);
    refuse_set(".", &both, VIT_ERROR_MISMATCH, "./data_batch_3.bin: holds 2 records",
               "the batches before it 3 each");
    assert_int_equal(truncate("data_batch_2.bin.gz", 100), 0);
    refuse_set(".", &both, VIT_ERROR_FORMAT, "./data_batch_2.bin.gz", "cut off");
}

static void test_labels_out_of_range(void **state) {
    uint8_t bytes[3 * (PICTURE + 2)];
    size_t count;
    vit_error error;
    make_records(bytes, 3, 10, 7);
    bytes[2 * (PICTURE + 1)] = 10;
    assert_int_equal(vit_cifar_parse(&count, bytes, 3 * (PICTURE + 1), 10, "FILE", &error),
                     VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, "FILE: the label of record 2 is 10", "0 to 9");
    make_records(bytes, 3, 100, 97);
    assert_int_equal(vit_cifar_parse(&count, bytes, sizeof bytes, 100, "FILE", &error), VIT_OK);
    bytes[PICTURE + 2] = 20;
    assert_int_equal(vit_cifar_parse(&count, bytes, sizeof bytes, 100, "FILE", &error),
                     VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, "the coarse label of record 1 is 20", "0 to 19");
    bytes[PICTURE + 2] = 0;
    bytes[PICTURE + 3] = 100;
    assert_int_equal(vit_cifar_parse(&count, bytes, sizeof bytes, 100, "FILE", &error),
                     VIT_ERROR_FORMAT);
    assert_says(&error, VIT_ERROR_FORMAT, "the label of record 1 is 100", "0 to 99");
}

static void test_missing_files(void **state) {
    put_cifar10(".", 2);
    assert_int_equal(unlink("data_batch_4.bin.gz"), 0);
    refuse_set(".", &both, VIT_ERROR_IO, "has no data_batch_4.bin", "data_batch_4.bin.gz");
    refuse_set(".", &any, VIT_ERROR_IO, "has no data_batch_4.bin", ".gz");
    assert_int_equal(unlink("test_batch.bin"), 0);
    refuse_set(".", &test_alone, VIT_ERROR_IO, "has no test_batch.bin", ".gz");
}

/* ---- a system that fails ---- */

static void test_faults(void **state) {
    put_cifar10(".", 2);
    put_file("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
    for (long n = 1;; n++) {
        const vit_status status = open_with_fault(".", &both, n, NULL);
        if (fault_call() == NULL) break;
        if (strcmp(fault_call(), "posix_memalign") == 0) assert_int_equal(status, VIT_ERROR_MEMORY);
    }
}

/* ---- Python's form ---- */

typedef struct pickle {
    char bytes[16 * (PICTURE + 64)];
    size_t size;
} pickle;

static void add(pickle *p, const void *bytes, size_t size) {
    assert_true(p->size + size <= sizeof p->bytes);
    memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
}

#define ADD(p, text) add(p, text, sizeof(text) - 1)

static void add_list(pickle *p, const uint8_t *numbers, size_t count) {
    ADD(p, "](");
    for (size_t i = 0; i < count; i++) add(p, (const char[]){'K', (char)numbers[i]}, 2);
    ADD(p, "e");
}

/* A dictionary as Python 2 has pickled it, with the pictures and labels of make_records. */
static void make_pickle(pickle *p, size_t count, unsigned classes, unsigned first) {
    static uint8_t records[16 * (PICTURE + 2)];
    uint8_t labels[2][16];
    const size_t head = classes == 100 ? 2 : 1, size = count * PICTURE;
    make_records(records, count, classes, first);
    for (size_t i = 0; i < 2 * count; i++)
        labels[i / count][i % count] = records[i % count * (head + PICTURE) + i / count];
    p->size = 0;
    ADD(p, "\x80\x02}q\x01(U\x0b"
           "batch_labelq\x02U\x03"
           "oneq\x03");
    if (classes == 100)
        ADD(p, "U\x0d"
               "coarse_labels");
    if (classes == 100) add_list(p, labels[0], count);
    if (classes == 100)
        ADD(p, "U\x0b"
               "fine_labels");
    if (classes == 10) ADD(p, "U\x06labels");
    add_list(p, labels[head - 1], count);
    ADD(p, "U\4datacnumpy.core.multiarray\n_reconstruct\nq\7cnumpy\nndarray\nq\x08K\0\x85U\1b\x87R"
           "(K\1K");
    add(p, &(char){(char)count}, 1);
    ADD(p, "M\x00\x0c\x86"
           "cnumpy\ndtype\nU\2u1K\0K\1\x87R(K\3U\1|NNNJ\xff\xff\xff\xff"
           "J\xff\xff\xff\xffK\0tb\x89T");
    for (int i = 0; i < 4; i++) add(p, &(char){(char)(size >> (8 * i))}, 1);
    for (size_t i = 0; i < count; i++) add(p, records + i * (head + PICTURE) + head, PICTURE);
    ADD(p, "tbU\tfilenames](U\5a.pngU\5b.pngeu.");
}

static void put_pickle(const char *path, size_t count, unsigned classes, unsigned first) {
    static pickle p;
    make_pickle(&p, count, classes, first);
    put_bytes(path, p.bytes, p.size);
}

/* The same pictures, labels and checksum as from the binary files. */
static void test_python(void **state) {
    vit_dataset binary, set;
    char path[64];
    assert_int_equal(vit_make_directory("bin", NULL), VIT_OK);
    assert_int_equal(vit_make_directory("root", NULL), VIT_OK);
    assert_int_equal(vit_make_directory("root/cifar-10-batches-py", NULL), VIT_OK);
    put_cifar10("bin", 4);
    for (unsigned i = 1; i <= 5; i++) {
        snprintf(path, sizeof path, "root/cifar-10-batches-py/data_batch_%u", i);
        put_pickle(path, 4, 10, 20 * i);
    }
    put_pickle("root/cifar-10-batches-py/test_batch", 4, 10, 3);
    put_file("root/cifar-10-batches-py/batches.meta",
             "\x80\2}(U\013label_names](U\3oneU\3twoU\1cU\1dU\1eU\1fU\1gU\1hU\1iU\3teneu.");
    open_set(&binary, "bin", &both);
    open_set(&set, "root", &both);
    assert_string_equal(set.name, "cifar10");
    assert_string_equal(set.labels[9], "ten");
    assert_true(set.train.count == 20 && set.test.count == 4);
    assert_memory_equal(set.train.pixels, binary.train.pixels, 20 * PICTURE);
    assert_memory_equal(set.train.labels, binary.train.labels, 20 * sizeof(uint16_t));
    assert_memory_equal(set.test.pixels, binary.test.pixels, 4 * PICTURE);
    assert_string_equal(set.checksum, binary.checksum);
    vit_dataset_close(&binary);
    vit_dataset_close(&set);
    put_file("root/cifar-10-batches-py/batches.meta", "\x80\2}U\013label_names](U\3onees.");
    refuse_set("root", &both, VIT_ERROR_FORMAT, "batches.meta: holds 1 names", "expected 10");
}

static void test_python_of_100(void **state) {
    vit_dataset set;
    put_pickle("train", 12, 100, 0);
    put_pickle("test", 5, 100, 50);
    put_file("meta", "\x80\2}(U\20fine_label_names](U\1ae");
    refuse_set(".", &test_alone, VIT_ERROR_FORMAT, "./meta", "cut off");
    assert_int_equal(unlink("meta"), 0);
    refuse_set(".", &test_alone, VIT_ERROR_FORMAT, "no data set that is known", "test, train");
    static pickle names;
    names.size = 0;
    ADD(&names, "\x80\2}U\20fine_label_names](");
    for (int i = 0; i < 100; i++) ADD(&names, "U\1x");
    ADD(&names, "es.");
    put_bytes("meta", names.bytes, names.size);
    open_set(&set, ".", &test_alone);
    assert_true(set.classes == 100 && set.test.count == 5 && set.test.labels[0] == 50);
    assert_string_equal(set.labels[99], "x");
    vit_dataset_close(&set);
}

/* What is cut off, or not what is expected, or would run code. */
static void test_python_that_is_damaged(void **state) {
    static pickle p;
    vit_bytes out;
    vit_error error;
    make_pickle(&p, 2, 10, 0);
    for (size_t n = 0; n < p.size; n += n < 120 || p.size - n < 60 ? 1 : 97) {
        uint8_t *cut = vit_alloc(n, 1);
        assert_non_null(cut);
        memcpy(cut, p.bytes, n);
        assert_int_equal(vit_cifar_pickles->records(&out, cut, n, 10, "f", &error),
                         VIT_ERROR_FORMAT);
        vit_free(cut);
    }
    for (size_t at = 0; at < p.size; at += at < 300 ? 1 : 89) {
        p.bytes[at] ^= 0x21;
        if (vit_cifar_pickles->records(&out, (uint8_t *)p.bytes, p.size, 10, "f", &error) == VIT_OK)
            vit_free(out.data);
        p.bytes[at] ^= 0x21;
    }
    const struct {
        const char *text, *says;
    } wrong[] = {{"\x80\2cos\nsystem\nU\2ls\x85R.", "no code in it is run"},
                 {"\x80\2}.", "\"data\" is no array"},
                 {"\x80\2K\1.", "\"data\" is no array"},
                 {"\x80\2}U\4data](K\1es.", "\"data\" is no array"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const size_t size = strlen(wrong[i].text);
        assert_int_equal(
            vit_cifar_pickles->records(&out, (const uint8_t *)wrong[i].text, size, 10, "f", &error),
            VIT_ERROR_FORMAT);
        assert_non_null(strstr(error.message, wrong[i].says));
        assert_non_null(strstr(error.message, "binary version"));
    }
    make_pickle(&p, 2, 10, 0);
    char *label = strstr(p.bytes + 10, "labels](") + 9;
    *label = 12;
    assert_int_equal(vit_cifar_pickles->records(&out, (uint8_t *)p.bytes, p.size, 10, "f", &error),
                     VIT_OK);
    size_t count;
    assert_int_equal(vit_cifar_parse(&count, out.data, out.size, 10, "f", &error),
                     VIT_ERROR_FORMAT);
    vit_free(out.data);
    label[-1] = 'N'; /* None, and then the opcode 12 */
    assert_int_equal(vit_cifar_pickles->records(&out, (uint8_t *)p.bytes, p.size, 10, "f", &error),
                     VIT_ERROR_FORMAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        IN_DIRECTORY(test_cifar10),
        IN_DIRECTORY(test_checksum_is_of_the_training_part),
        IN_DIRECTORY(test_inside_the_archives_directory),
        IN_DIRECTORY(test_cifar100),
        IN_DIRECTORY(test_python),
        IN_DIRECTORY(test_python_of_100),
        cmocka_unit_test(test_python_that_is_damaged),
        IN_DIRECTORY(test_names_from_the_file),
        IN_DIRECTORY(test_known_names),
        IN_DIRECTORY(test_cut_off),
        cmocka_unit_test(test_labels_out_of_range),
        IN_DIRECTORY(test_missing_files),
        IN_DIRECTORY(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
