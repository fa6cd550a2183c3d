/* IDX sets, and how DATA is found. The published sets come from $VIT_DATA; figures of theirs
 * (sums, checksums) were computed with numpy and hashlib. Everything else is written into a
 * directory of its own under /tmp. */
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
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define BOTH (VIT_PART_TRAIN | VIT_PART_TEST)

/* ---- a directory of files ---- */

static char directory[64];

static void path_of(char path[256], const char *name) {
    snprintf(path, 256, "%s/%s", directory, name);
}

static void put(const char *name, const void *bytes, size_t size) {
    char path[256];
    path_of(path, name);
    put_bytes(path, bytes, size);
}

static int make_directory(void **state) {
    snprintf(directory, sizeof directory, "/tmp/vit-datasets-XXXXXX");
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int remove_directory(void **state) {
    char **names, path[256];
    size_t count;
    if (vit_list_directory(&names, &count, directory, NULL) != VIT_OK) return -1;
    for (size_t i = 0; i < count; i++) {
        path_of(path, names[i]);
        if (vit_path_look(path) == VIT_PATH_DIRECTORY ? rmdir(path) : unlink(path)) return -1;
    }
    vit_free(names);
    return rmdir(directory);
}

/* An IDX file of `count` pictures (or labels: height 0) whose bytes count up from `first`. */
static size_t make_idx(uint8_t *out, uint8_t count, uint8_t height, uint8_t width, uint8_t first) {
    uint8_t dimensions = height > 0 ? 3 : 1;
    size_t size = 0, bytes = (size_t)count * (height > 0 ? (size_t)height * width : 1);
    const uint8_t head[16] = {0, 0, 8, dimensions, 0, 0, 0, count, 0, 0, 0, height, 0, 0, 0, width};
    size = height > 0 ? 16 : 8;
    memcpy(out, head, size);
    for (size_t i = 0; i < bytes; i++) out[size++] = (uint8_t)(first + i);
    return size;
}

static void put_idx(const char *name, uint8_t count, uint8_t height, uint8_t width, uint8_t first) {
    uint8_t bytes[4096];
    put(name, bytes, make_idx(bytes, count, height, width, first));
}

static void put_small_train(void) {
    put_idx("train-images-idx3-ubyte", 4, 5, 3, 7);
    put_idx("train-labels-idx1-ubyte", 4, 0, 0, 2);
}

/* ---- expectations ---- */

static void check_message(const vit_error *error, const char *part) {
    if (strstr(error->message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error->message, part);
    if (strchr(error->message, '\n') != NULL) fail_msg("a newline in \"%s\"", error->message);
}

static void refuse(const char *data, unsigned need, vit_status status, const char *a,
                   const char *b) {
    refuse_set(data, &(vit_dataset_options){.need = need, .want = BOTH, .empty_classes = true},
               status, a, b);
}

static void accept(vit_dataset *set, const char *data, unsigned need, unsigned want) {
    open_set(set, data, &(vit_dataset_options){.need = need, .want = want, .empty_classes = true});
}

static uint64_t sum(const vit_dataset *set, const vit_records *r) {
    uint64_t total = 0;
    for (size_t i = 0; i < r->count * set->height * set->width; i++) total += r->pixels[i];
    return total;
}

static void check_labels(const vit_records *r, const char *first) {
    for (size_t i = 0; first[i] != 0; i++) assert_int_equal(r->labels[i], first[i] - '0');
}

static void need_published(char path[512], const char *name) {
    const char *root = getenv("VIT_DATA");
    snprintf(path, 512, "%s/%s", root != NULL ? root : "../shared/data", name);
    if (vit_path_look(path) == VIT_PATH_DIRECTORY) return;
    print_message("%s is absent: scripts/fetch-data %s\n", path, name);
    skip();
}

/* ---- the published sets ---- */

static void test_mnist(void **state) {
    char path[512];
    vit_dataset set;
    need_published(path, "mnist");
    accept(&set, path, BOTH, BOTH);
    assert_string_equal(set.name, "mnist");
    assert_int_equal(set.train.count, 60000);
    assert_int_equal(set.test.count, 10000);
    assert_true(set.height == 28 && set.width == 28 && set.channels == 1 && set.classes == 10);
    check_labels(&set.train, "5041921314");
    check_labels(&set.test, "7210414959");
    assert_int_equal(sum(&set, &set.train), 1567298545);
    assert_int_equal(sum(&set, &set.test), 264923200);
    assert_string_equal(set.labels[7], "7");
    assert_true(set.mean[0] == 0.1307f && set.std[0] == 0.3081f);
    assert_ptr_equal(vit_record_pixels(&set, &set.test, 3), set.test.pixels + 3 * 784);
    assert_string_equal(set.checksum,
                        "4001eb64bdd4fba19622b81828e1791a489beccd9fc0921758af147b8f23d483");
    vit_dataset_close(&set);
    assert_null(set.train.pixels);
}

static void test_fashion(void **state) {
    char path[512];
    vit_dataset set;
    need_published(path, "fashion");
    accept(&set, path, BOTH, BOTH);
    assert_string_equal(set.name, "fashion");
    check_labels(&set.train, "9003027255");
    check_labels(&set.test, "9211614657");
    assert_int_equal(sum(&set, &set.train), 3431114169);
    assert_int_equal(sum(&set, &set.test), 573469082);
    assert_string_equal(set.labels[0], "T-shirt/top");
    assert_string_equal(set.labels[9], "Ankle boot");
    assert_true(set.mean[0] == 0.2860f && set.std[0] == 0.3530f);
    assert_string_equal(set.checksum,
                        "57e90bd16368fb7e6e3573ed8b694a0490743343613bd8a668f84e80881115ed");
    vit_dataset_close(&set);
}

/* Each part is recognised alone, and what is not asked for is not read. */
static void test_parts_alone(void **state) {
    const char *names[] = {"mnist", "fashion"};
    for (int i = 0; i < 2; i++) {
        char path[512];
        vit_dataset set;
        need_published(path, names[i]);
        accept(&set, path, VIT_PART_TEST, 0);
        assert_string_equal(set.name, names[i]);
        assert_true(set.train.count == 0 && set.test.count == 10000 && set.train.pixels == NULL);
        if (i == 0)
            assert_string_equal(set.checksum,
                                "64129d4fcbf2d37234219c3ac364b434fe0e30b11e21d691a1edc8d342e83e2e");
        vit_dataset_close(&set);
        accept(&set, path, 0, VIT_PART_TRAIN);
        assert_string_equal(set.name, names[i]);
        assert_true(set.train.count == 60000 && set.test.count == 0 && set.test.pixels == NULL);
        if (i == 0) /* as with the test part beside it: the same training */
            assert_string_equal(set.checksum,
                                "4001eb64bdd4fba19622b81828e1791a489beccd9fc0921758af147b8f23d483");
        vit_dataset_close(&set);
    }
}

static void copy_inflated(const char *from, const char *name) {
    static uint8_t bytes[8000000];
    gzFile file = gzopen(from, "rb");
    assert_non_null(file);
    int size = gzread(file, bytes, sizeof bytes);
    assert_true(size > 0);
    gzclose(file);
    put(name, bytes, (size_t)size);
}

/* A directory with the test files only, not compressed, with a dot in their names. */
static void test_plain_and_dotted(void **state) {
    char path[512], file[600];
    vit_dataset set;
    need_published(path, "mnist");
    snprintf(file, sizeof file, "%s/t10k-labels-idx1-ubyte.gz", path);
    copy_inflated(file, "t10k-labels.idx1-ubyte");
    snprintf(file, sizeof file, "%s/t10k-images-idx3-ubyte.gz", path);
    copy_inflated(file, "t10k-images.idx3-ubyte");
    accept(&set, directory, VIT_PART_TEST, BOTH);
    assert_string_equal(set.name, "mnist");
    assert_string_equal(set.checksum,
                        "64129d4fcbf2d37234219c3ac364b434fe0e30b11e21d691a1edc8d342e83e2e");
    assert_int_equal(set.train.count, 0);
    vit_dataset_close(&set);
    refuse(directory, VIT_PART_TRAIN, VIT_ERROR_IO, "train-labels-idx1-ubyte", "training part");

    put_idx("t10k-images.idx3-ubyte", 4, 5, 3, 0);
    refuse(directory, VIT_PART_TEST, VIT_ERROR_MISMATCH, "holds 4 pictures", "10000");
}

static void link_part(const char *set, const char *part) {
    const char *kinds[] = {"images-idx3", "labels-idx1"};
    for (int i = 0; i < 2; i++) {
        char root[512], target[600], here[512], path[256], name[64];
        need_published(root, set);
        snprintf(name, sizeof name, "%s-%s-ubyte.gz", part, kinds[i]);
        path_of(path, name);
        snprintf(target, sizeof target, "%s%s%s/%s", root[0] == '/' ? "" : getcwd(here, 512),
                 root[0] == '/' ? "" : "/", root, name);
        assert_int_equal(symlink(target, path), 0);
    }
}

static void test_two_sets_mixed(void **state) {
    link_part("fashion", "train");
    link_part("mnist", "t10k");
    refuse(directory, BOTH, VIT_ERROR_MISMATCH, "training labels are those of fashion",
           "test labels those of mnist");
}

static void test_known_labels_other_pictures(void **state) {
    static uint8_t pictures[16 + 10000];
    const uint8_t head[16] = {0, 0, 8, 3, 0, 0, 0x27, 0x10, 0, 0, 0, 1, 0, 0, 0, 1};
    char path[256];
    link_part("mnist", "t10k");
    path_of(path, "t10k-images-idx3-ubyte.gz");
    assert_int_equal(unlink(path), 0);
    memcpy(pictures, head, 16);
    put("t10k-images-idx3-ubyte", pictures, sizeof pictures);
    refuse(directory, VIT_PART_TEST, VIT_ERROR_MISMATCH, "1x1, expected 28x28", "mnist");
}

/* ---- other sets ---- */

static void test_grey(void **state) {
    vit_dataset set;
    put_small_train();
    put_idx("t10k-images-idx3-ubyte", 2, 5, 3, 0);
    put_idx("t10k-labels-idx1-ubyte", 2, 0, 0, 3);
    accept(&set, directory, BOTH, BOTH);
    assert_string_equal(set.name, strrchr(directory, '/') + 1);
    assert_true(set.has_characters && !set.is_digits);
    assert_string_equal(set.preset, "folder"); /* no patches of 7 pixels */
    assert_true(set.height == 5 && set.width == 3 && set.channels == 1);
    assert_null(set.labels);
    assert_int_equal(set.classes, 6); /* the training labels go up to 5 */
    assert_int_equal(set.train.pixels[0], 7);
    assert_int_equal(set.train.pixels[59], 66);
    assert_int_equal(set.train.labels[3], 5);
    /* 60 consecutive numbers from 7 on: mean 36.5, variance (60^2 - 1) / 12. */
    assert_true(fabs(set.mean[0] - 36.5 / 255) < 1e-8);
    assert_true(fabs(set.std[0] - sqrt(3599.0 / 12) / 255) < 1e-8);
    vit_dataset_close(&set);

    accept(&set, directory, VIT_PART_TEST, VIT_PART_TEST);
    assert_true(fabs(set.mean[0] - 14.5 / 255) < 1e-8);
    assert_int_equal(set.classes, 5);
    vit_dataset_close(&set);

    put_idx("t10k-labels-idx1-ubyte", 2, 0, 0, 5);
    refuse(directory, BOTH, VIT_ERROR_MISMATCH, "test picture 1 is 6", "at most 5");

    put_idx("t10k-images-idx3-ubyte", 2, 3, 5, 0);
    refuse(directory, BOTH, VIT_ERROR_MISMATCH, "t10k-images-idx3-ubyte: pictures are 3x5", "5x3");
}

static void test_constant_pictures(void **state) {
    vit_dataset set;
    uint8_t bytes[64];
    put_small_train();
    size_t size = make_idx(bytes, 4, 2, 2, 0);
    memset(bytes + 16, 100, size - 16);
    put("train-images-idx3-ubyte", bytes, size);
    accept(&set, directory, VIT_PART_TRAIN, BOTH);
    assert_true(fabs(set.mean[0] - 100.0 / 255) < 1e-8);
    assert_true(set.std[0] == 1);
    vit_dataset_close(&set);
}

/* Some archives unpack every file into a directory of its own name, beside the files. */
static void test_directories_of_the_same_name(void **state) {
    char path[256];
    vit_dataset set;
    put_idx("train-images.idx3-ubyte", 4, 5, 3, 7);
    put_idx("train-labels.idx1-ubyte", 4, 0, 0, 2);
    path_of(path, "train-images-idx3-ubyte");
    assert_int_equal(vit_make_directory(path, NULL), VIT_OK);
    accept(&set, directory, VIT_PART_TRAIN, BOTH);
    assert_int_equal(set.train.count, 4);
    vit_dataset_close(&set);
}

static void test_absent_files(void **state) {
    put_idx("train-images-idx3-ubyte", 4, 5, 3, 7);
    refuse(directory, BOTH, VIT_ERROR_IO, "has no train-labels-idx1-ubyte", ".gz");
    refuse(directory, 0, VIT_ERROR_IO, "has no train-labels-idx1-ubyte", "training part");
    put_idx("train-labels-idx1-ubyte", 4, 0, 0, 2);
    put_idx("t10k-labels-idx1-ubyte", 4, 0, 0, 2);
    refuse(directory, 0, VIT_ERROR_IO, "has no t10k-images-idx3-ubyte",
           "pictures of the test part");
}

/* ---- files that are wrong ---- */

static void test_counts_differ(void **state) {
    put_small_train();
    put_idx("train-labels-idx1-ubyte", 3, 0, 0, 0);
    refuse(directory, BOTH, VIT_ERROR_MISMATCH, "holds 4 pictures", "labels beside it are 3");
}

static void test_magic(void **state) {
    put_small_train();
    put_idx("train-images-idx3-ubyte", 4, 0, 0, 0);
    refuse(directory, BOTH, VIT_ERROR_FORMAT, "train-images-idx3-ubyte: begins with 0x00000801",
           "expected 0x00000803");
    put_small_train();
    put_idx("train-labels-idx1-ubyte", 4, 5, 3, 0);
    refuse(directory, BOTH, VIT_ERROR_FORMAT, "begins with 0x00000803", "expected 0x00000801");
}

static void test_every_wrong_size(void **state) {
    uint8_t bytes[256];
    vit_idx idx;
    for (unsigned dimensions = 1; dimensions <= 3; dimensions += 2) {
        size_t size = make_idx(bytes, 4, dimensions == 3 ? 5 : 0, 3, 0);
        for (size_t n = 0; n <= size + 4; n++) {
            vit_error error = {0};
            char found[32];
            vit_status status = vit_idx_parse(&idx, bytes, n, dimensions, "FILE", &error);
            assert_int_equal(status, n == size ? VIT_OK : VIT_ERROR_FORMAT);
            if (n == size) continue;
            snprintf(found, sizeof found, "%zu bytes found", n);
            check_message(&error, found);
            check_message(&error, n < size ? "FILE: is cut off" : "FILE: goes on after its end");
            assert_int_equal(idx.count, 0);
        }
    }
}

static void parse_fails(const uint8_t head[16], vit_status expected, const char *part) {
    uint8_t bytes[64] = {0};
    vit_error error = {0};
    vit_idx idx;
    memcpy(bytes, head, 16);
    assert_int_equal(vit_idx_parse(&idx, bytes, sizeof bytes, 3, "FILE", &error), expected);
    check_message(&error, part);
}

static void test_header_values(void **state) {
    parse_fails((uint8_t[16]){0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4}, VIT_ERROR_FORMAT,
                "0 records of 4x4");
    parse_fails((uint8_t[16]){0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4}, VIT_ERROR_FORMAT,
                "3 records of 0x4");
    parse_fails((uint8_t[16]){0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 4, 1},
                VIT_ERROR_UNSUPPORTED, "4x1025, at most 1024x1024");
    /* 2^32 - 1 pictures of 1024x1024: the size does not fit 32 bits. */
    parse_fails((uint8_t[16]){0, 0, 8, 3, 255, 255, 255, 255, 0, 0, 4, 0, 0, 0, 4, 0},
                VIT_ERROR_FORMAT, "4503599626321936 expected");
    parse_fails((uint8_t[16]){0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                VIT_ERROR_FORMAT, "0x1f8b0800");
}

/* ---- compressed files ---- */

/* The contents decide, not the name. */
static void test_gzip_files(void **state) {
    uint8_t bytes[256];
    char path[256];
    vit_dataset set;
    put_small_train();
    accept(&set, directory, VIT_PART_TRAIN, BOTH);
    char plain[65];
    memcpy(plain, set.checksum, sizeof plain);
    vit_dataset_close(&set);
    path_of(path, "train-images-idx3-ubyte");
    gzFile file = gzopen(path, "wb");
    int size = (int)make_idx(bytes, 4, 5, 3, 7);
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
    assert_int_equal(gzclose(file), Z_OK);
    accept(&set, directory, VIT_PART_TRAIN, BOTH);
    assert_string_equal(set.checksum, plain);
    vit_dataset_close(&set);
    assert_int_equal(truncate(path, 40), 0);
    refuse(directory, BOTH, VIT_ERROR_FORMAT, "train-images-idx3-ubyte: the gzip data is cut off",
           directory);
}

/* ---- a system that fails ---- */

static char checksum[65];

static void check_checksum(const vit_dataset *set) {
    assert_string_equal(set->checksum, checksum);
}

static void open_with_faults(const char *data) {
    const vit_dataset_options options = {.need = VIT_PART_TEST, .want = VIT_PART_TEST};
    vit_dataset set;
    accept(&set, data, options.need, options.want);
    memcpy(checksum, set.checksum, sizeof checksum);
    vit_dataset_close(&set);
    for (long n = 1;; n++) {
        const vit_status status = open_with_fault(data, &options, n, check_checksum);
        if (fault_call() == NULL) break;
        if (strcmp(fault_call(), "posix_memalign") == 0) assert_int_equal(status, VIT_ERROR_MEMORY);
    }
}

static void test_faults(void **state) {
    char path[256];
    uint8_t bytes[256];
    put_idx("t10k-labels.idx1-ubyte", 4, 0, 0, 0);
    path_of(path, "t10k-images-idx3-ubyte.gz");
    gzFile file = gzopen(path, "wb");
    gzwrite(file, bytes, (unsigned)make_idx(bytes, 4, 5, 3, 7));
    assert_int_equal(gzclose(file), Z_OK);
    open_with_faults(directory);
    open_with_faults("digits");
}

/* ---- finding DATA ---- */

static void test_unknown_names(void **state) {
    refuse("date.npz", BOTH, VIT_ERROR_IO, "date.npz: there is no such file", "images.npy");
    refuse("x/labels.npy", BOTH, VIT_ERROR_IO, "x/labels.npy: there is no such file", "FILE.npz");
    refuse("mnsit", BOTH, VIT_ERROR_IO, "mnsit: is neither a directory nor", "did you mean mnist?");
    refuse("/no/such/place", BOTH, VIT_ERROR_IO, "/no/such/place: is neither",
           "fashion, cifar10, cifar100, digits, strips, drawn-strips, medley, numbers:en-de)");
    refuse(NULL, BOTH, VIT_ERROR_ARGUMENT, "no data set", "named");
    refuse("", BOTH, VIT_ERROR_IO, "is empty", "empty");
    put("a file", "x", 1);
    char path[256];
    path_of(path, "a file");
    refuse(path, BOTH, VIT_ERROR_IO, "is a file", "expected a directory");
}

static void test_unknown_directories(void **state) {
    refuse(directory, BOTH, VIT_ERROR_FORMAT, "found nothing", "train-images-idx3-ubyte");
    const char *names[] = {"f.txt", "b", "a", "e", "d", "c"};
    for (int i = 0; i < 6; i++) put(names[i], "", 0);
    refuse(directory, BOTH, VIT_ERROR_FORMAT, "expected IDX files", "found a, b, c, d and 2 more");
    put("0.jpg", "", 0);
    refuse(directory, BOTH, VIT_ERROR_FORMAT, "found 0.jpg, a", "pictures need classes");
}

/* Runs in the temporary directory, with VIT_DATA as given. */
static char *enter(const char *data, char here[512]) {
    const char *before = getenv("VIT_DATA");
    char *saved = before != NULL ? vit_strdup(before) : NULL;
    assert_non_null(getcwd(here, 512));
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(data != NULL ? setenv("VIT_DATA", data, 1) : unsetenv("VIT_DATA"), 0);
    return saved;
}

static void leave(char *saved, const char *here) {
    assert_int_equal(saved != NULL ? setenv("VIT_DATA", saved, 1) : unsetenv("VIT_DATA"), 0);
    vit_free(saved);
    assert_int_equal(chdir(here), 0);
}

static void test_known_names_not_found(void **state) {
    char here[512], *saved = enter("/no/such/root", here);
    refuse("mnist", BOTH, VIT_ERROR_IO,
           "mnist: not found: looked for the directories mnist, /no/such/root/mnist, data/mnist;",
           "scripts/fetch-data mnist, or set VIT_DATA");
    unsetenv("VIT_DATA");
    refuse("fashion", BOTH, VIT_ERROR_IO, "directories fashion, data/fashion;",
           "scripts/fetch-data fashion");
    setenv("VIT_DATA", "", 1);
    refuse("fashion", BOTH, VIT_ERROR_IO, "directories fashion, data/fashion;", "fetch-data");
    leave(saved, here);
}

/* $VIT_DATA/NAME, then data/NAME; a directory NAME here wins over both. */
static void test_known_names_found(void **state) {
    char here[512], *saved = enter(".", here);
    vit_dataset set;
    assert_int_equal(vit_make_directory("data", NULL), VIT_OK);
    assert_int_equal(vit_make_directory("data/mnist", NULL), VIT_OK);
    refuse("mnist", BOTH, VIT_ERROR_FORMAT, "data/mnist: holds no data set", "found nothing");
    setenv("VIT_DATA", "data", 1);
    refuse("mnist", BOTH, VIT_ERROR_FORMAT, "data/mnist: holds no data set", "found nothing");
    assert_int_equal(vit_make_directory("mnist", NULL), VIT_OK);
    refuse("mnist", BOTH, VIT_ERROR_FORMAT, "mnist: holds no data set", "found nothing");
    assert_int_equal(rename("mnist", "digits"), 0);
    refuse("digits", BOTH, VIT_ERROR_FORMAT, "digits: holds no data set", "found nothing");
    assert_int_equal(rmdir("digits"), 0);
    accept(&set, "digits", VIT_PART_TEST, VIT_PART_TEST);
    assert_string_equal(set.name, "digits");
    vit_dataset_close(&set);
    assert_int_equal(rmdir("data/mnist"), 0);
    leave(saved, here);
}

/* mnist+digits is MNIST, but that it trains on both. */
static void test_joined(void **state) {
    char path[512];
    vit_dataset both, mnist, digits;
    need_published(path, "mnist");
    accept(&both, "mnist+digits", BOTH, BOTH);
    accept(&mnist, "mnist", BOTH, BOTH);
    accept(&digits, "digits", BOTH, BOTH);
    const size_t first = mnist.train.count * 28 * 28, second = digits.train.count * 28 * 28;
    assert_string_equal(both.preset, "mnist");
    assert_string_equal(both.name, "mnist+digits");
    assert_true(both.is_digits && both.joined[0] == ' ' && strlen(both.joined) == 2 * 65);
    assert_string_not_equal(both.checksum, mnist.checksum);
    assert_int_equal(both.test.count, mnist.test.count);
    assert_int_equal(both.train.count, mnist.train.count + digits.train.count);
    assert_memory_equal(both.train.pixels, mnist.train.pixels, first);
    assert_memory_equal(both.train.pixels + first, digits.train.pixels, second);
    assert_int_equal(both.train.labels[mnist.train.count], digits.train.labels[0]);
    assert_true(both.mean[0] == mnist.mean[0] && both.std[0] == mnist.std[0]);
    vit_dataset_close(&digits);
    vit_dataset_close(&mnist);
    vit_dataset_close(&both);
}

static void test_not_joined(void **state) {
    static const char *const names[] = {"mnist", "fashion", "cifar10"};
    char path[512];
    refuse("digits+", BOTH, VIT_ERROR_IO, "name of a data set is empty", "");
    for (size_t i = 0; i < 3; i++) need_published(path, names[i]);
    refuse("mnist+fashion", BOTH, VIT_ERROR_MISMATCH, "mnist and fashion cannot be joined",
           "the class \"T-shirt/top\" of fashion is none of the 10 of mnist");
    refuse("mnist+cifar10", BOTH, VIT_ERROR_MISMATCH, "28x28x1", "32x32x3");
}

/* A pipe in the place of a file of a set: nobody waits for who would write into it. */
static void test_pipes(void **state) {
    static const char *const sets[][2] = {
        {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"},
        {"test_batch.bin", "batches.meta.txt"},
        {"images.npy", "labels.npy"},
        {"test_X.bin", "test_y.bin"},
        {"test_32x32.mat", NULL},
        {"shards.tsv", "train-000000.tar"},
        {"labels.csv", "metadata.csv"},
    };
    vit_dataset set;
    vit_error error;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        char path[256], folder[300];
        for (size_t k = 0; k < 2 && sets[i][k]; k++) {
            path_of(path, sets[i][k]);
            assert_int_equal(mkfifo(path, 0600), 0);
        }
        snprintf(folder, sizeof folder, "%s/pictures", directory);
        mkdir(folder, 0700); /* or it is there */
        alarm(20);
        for (size_t k = 0; k < 2; k++) { /* without a place for the error, too */
            const vit_dataset_options any = {.want = BOTH};
            assert_int_not_equal(vit_dataset_open(&set, directory, &any, k ? NULL : &error),
                                 VIT_OK);
            vit_dataset_close(&set);
        }
        alarm(0);
        for (size_t k = 0; k < 2 && sets[i][k]; k++) {
            path_of(path, sets[i][k]);
            unlink(path);
        }
    }
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mnist),
        cmocka_unit_test(test_fashion),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_not_joined),
        cmocka_unit_test(test_parts_alone),
        HERE(test_plain_and_dotted),
        HERE(test_two_sets_mixed),
        HERE(test_known_labels_other_pictures),
        HERE(test_grey),
        HERE(test_constant_pictures),
        HERE(test_directories_of_the_same_name),
        HERE(test_absent_files),
        HERE(test_counts_differ),
        HERE(test_magic),
        cmocka_unit_test(test_every_wrong_size),
        cmocka_unit_test(test_header_values),
        HERE(test_gzip_files),
        HERE(test_faults),
        HERE(test_unknown_names),
        HERE(test_unknown_directories),
        HERE(test_known_names_not_found),
        HERE(test_known_names_found),
        HERE(test_pipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
