/* An index of pictures: what is found is what computing everything finds, whatever the instruction
 * set; a file that ends anywhere has all that was written before; one with any bit turned is
 * refused, and what is whole in it can be saved. */
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/search/index.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { WIDTH = 70, ROWS = 700, TOGETHER = 64 };
static const vit_index_about about = {WIDTH, "model.safetensors", "0123456789abcdef"};
static float features[ROWS][WIDTH];
static char names[ROWS][16];

static float draw(void) {
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return (float)(state >> 8) / (1 << 24) - 0.5f;
}

static vit_index_writer *open_writer(const char *path) {
    vit_index_writer *w;
    vit_error error;
    if (vit_index_writer_open(&w, path, &about, &error) != VIT_OK) fail_msg("%s", error.message);
    return w;
}

static vit_index *open_index(const char *path) {
    vit_index *index;
    vit_error error;
    if (vit_index_open(&index, path, &error) != VIT_OK) fail_msg("%s", error.message);
    return index;
}

/* Writes rows from..to) in one block, and takes some out. */
static void put_rows(vit_index_writer *w, size_t from, size_t to, const uint64_t *gone, size_t n) {
    vit_index_picture pictures[ROWS];
    vit_error error;
    for (size_t i = from; i < to; i++)
        pictures[i - from] = (vit_index_picture){names[i], {(int64_t)i, 5, 7}, features[i]};
    if (vit_index_writer_put(w, pictures, to - from, gone, n, &error) != VIT_OK)
        fail_msg("%s", error.message);
}

static void make(const char *path) {
    const uint64_t gone[] = {3, 65};
    vit_index_writer *w = open_writer(path);
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(names[i], sizeof names[i], "p%zu.png", i);
        for (size_t k = 0; k < WIDTH; k++) features[i][k] = draw();
    }
    for (size_t i = 0; i < ROWS; i += TOGETHER)
        put_rows(w, i, i + TOGETHER < ROWS ? i + TOGETHER : ROWS, NULL, 0);
    put_rows(w, 0, 0, gone, 2);
    vit_index_writer_close(w);
}

/* The cosine with what is stored: 127 steps of the largest. */
static double cosine(const float *query, const float *stored) {
    double most = 0, dot = 0, a = 0, b = 0;
    for (size_t k = 0; k < WIDTH; k++) most = fmax(most, fabs((double)stored[k]));
    for (size_t k = 0; k < WIDTH; k++) {
        const double x = (double)query[k], y = nearbyint((double)stored[k] / most * 127);
        dot += x * y;
        a += x * x;
        b += y * y;
    }
    return dot / sqrt(a * b);
}

static int compare(const void *a, const void *b) {
    const vit_hit *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

static void test_finds_the_best(void **state) {
    make("i");
    vit_index *index = open_index("i");
    assert_int_equal(vit_index_rows(index), ROWS);
    assert_int_equal(vit_index_pictures(index), ROWS - 2);
    for (size_t q = 0; q < 40; q++) {
        vit_hit all[ROWS], hits[3][20];
        float query[WIDTH];
        size_t n = 0, count;
        const vit_cpu cpus[] = {VIT_CPU_SCALAR, VIT_CPU_AVX2, VIT_CPU_COUNT};
        for (size_t k = 0; k < WIDTH; k++) query[k] = draw() * 100;
        for (size_t i = 0; i < ROWS; i++)
            if (i != 3 && i != 65) all[n++] = (vit_hit){i, (float)cosine(query, features[i])};
        qsort(all, n, sizeof *all, compare);
        for (size_t c = 0; c < 3; c++) {
            assert_int_equal(
                vit_index_find(hits[c], &count, index, query, 20, 1 + (int)c, cpus[c], NULL),
                VIT_OK);
            assert_int_equal(count, 20);
            assert_memory_equal(hits[c], hits[0], sizeof hits[0]);
        }
        for (size_t i = 0; i < 20; i++) {
            assert_int_equal(hits[0][i].row, all[i].row);
            assert_true(fabs((double)hits[0][i].score - (double)all[i].score) < 1e-6);
        }
    }
    vit_index_free(index);
}

static void test_rows(void **state) {
    make("i");
    vit_index *index = open_index("i");
    const vit_index_about found = vit_index_describe(index);
    assert_string_equal(found.model, about.model);
    assert_string_equal(found.fingerprint, about.fingerprint);
    assert_int_equal(found.width, WIDTH);
    for (size_t i = 0; i < ROWS; i++) {
        const vit_indexed row = vit_index_row(index, i);
        assert_string_equal(row.name, names[i]);
        assert_int_equal(row.stamp.seconds, i);
        assert_int_equal(row.stamp.nanoseconds, 5);
        assert_int_equal(row.stamp.size, 7);
        assert_int_equal(row.gone, i == 3 || i == 65);
    }
    vit_index_writer *w = open_writer("i");
    put_rows(w, 0, 1, NULL, 0);
    assert_int_equal(vit_index_rows(index), ROWS); /* it goes on being what it was */
    vit_index_writer_close(w);
    vit_index_free(index);
}

static void test_pairs(void **state) {
    make("i");
    vit_index_writer *w = open_writer("i");
    const uint64_t gone[] = {9};
    put_rows(w, 8, 10, gone, 1); /* rows ROWS and ROWS + 1 are 8 and 9 again */
    vit_index_writer_close(w);
    vit_index *index = open_index("i");
    vit_similar *found;
    size_t count;
    assert_int_equal(vit_index_pairs(&found, &count, index, 0.999, 2, VIT_CPU_COUNT, NULL), VIT_OK);
    assert_int_equal(count, 1);
    assert_int_equal(found[0].first, 8);
    assert_int_equal(found[0].second, ROWS);
    assert_true(fabs((double)found[0].score - 1) < 1e-6);
    vit_free(found);
    size_t expected = 0;
    for (size_t i = 0; i < ROWS; i++) /* pairs of two stored ones, by the definition */
        for (size_t k = i + 1; k < ROWS; k++) {
            float rounded[WIDTH];
            double most = 0;
            if (i == 3 || i == 65 || i == 9 || k == 65 || k == 9) continue;
            for (size_t j = 0; j < WIDTH; j++) most = fmax(most, fabs((double)features[i][j]));
            for (size_t j = 0; j < WIDTH; j++)
                rounded[j] = (float)nearbyint((double)features[i][j] / most * 127);
            expected += k != 3 && cosine(rounded, features[k]) >= 0.35;
        }
    assert_int_equal(vit_index_pairs(&found, &count, index, 0.35, 2, VIT_CPU_COUNT, NULL), VIT_OK);
    size_t old = 0;
    for (size_t i = 0; i < count; i++) old += found[i].second < ROWS;
    assert_int_equal(old, expected);
    vit_free(found);
    vit_index_free(index);
}

/* A file that ends anywhere: readers see the whole blocks, and a writer goes on behind them. */
static void test_killed_anywhere(void **state) {
    vit_bytes file;
    size_t last = 0;
    make("whole");
    assert_int_equal(vit_read_file(&file, "whole", 1 << 24, NULL), VIT_OK);
    for (size_t size = 0; size <= file.size; size += size < 400 ? 1 : 101) {
        vit_index *index;
        vit_error error;
        assert_int_equal(vit_write_file("cut", file.data, size, NULL), VIT_OK);
        const vit_status status = vit_index_open(&index, "cut", &error);
        if (size > 0 && size < 64) { /* no whole head: it may be anybody's */
            vit_index_writer *w;
            assert_int_equal(status, VIT_ERROR_FORMAT);
            assert_int_equal(vit_index_writer_open(&w, "cut", &about, &error), VIT_ERROR_FORMAT);
            continue;
        }
        const size_t rows = status == VIT_OK ? vit_index_rows(index) : 0;
        if (status != VIT_OK) assert_int_equal(status, VIT_ERROR_FORMAT);
        assert_true(rows >= last && (rows % TOGETHER == 0 || rows == ROWS));
        last = rows;
        vit_index_free(index);
        vit_index_writer *w = open_writer("cut");
        put_rows(w, 0, 2, NULL, 0);
        vit_index_writer_close(w);
        index = open_index("cut");
        assert_int_equal(vit_index_rows(index), rows + 2);
        assert_string_equal(vit_index_row(index, rows + 1).name, "p1.png");
        vit_index_free(index);
    }
    vit_free(file.data);
}

/* ---- damage ---- */

enum { SMALL = 6, HEAD = 64 };

/* An index of six rows in two blocks, and a third block that takes one out; *file = its bytes. */
static void make_small(vit_bytes *file) {
    const uint64_t gone[] = {1};
    make("large");
    vit_index_writer *w = open_writer("small");
    put_rows(w, 0, 4, NULL, 0);
    put_rows(w, 4, SMALL, NULL, 0);
    put_rows(w, 0, 0, gone, 1);
    vit_index_writer_close(w);
    assert_int_equal(vit_read_file(file, "small", 1 << 20, NULL), VIT_OK);
}

/* All that an index answers, as bytes. */
typedef struct answers {
    vit_hit hits[SMALL];
    size_t count;
    vit_stamp stamps[SMALL];
    char names[SMALL][16], model[32], fingerprint[32];
    bool gone[SMALL];
} answers;

static void ask(answers *a, const vit_index *index) {
    float query[WIDTH] = {1, -2};
    *a = (answers){0};
    assert_int_equal(vit_index_rows(index), SMALL);
    snprintf(a->model, sizeof a->model, "%s", vit_index_describe(index).model);
    snprintf(a->fingerprint, sizeof a->fingerprint, "%s", vit_index_describe(index).fingerprint);
    assert_int_equal(
        vit_index_find(a->hits, &a->count, index, query, SMALL, 1, VIT_CPU_COUNT, NULL), VIT_OK);
    for (size_t i = 0; i < SMALL; i++) {
        const vit_indexed row = vit_index_row(index, i);
        snprintf(a->names[i], sizeof a->names[i], "%s", row.name);
        a->stamps[i] = row.stamp;
        a->gone[i] = row.gone;
    }
}

/* Every bit that is turned: the index is refused, by readers and writers, or it answers the same.
 */
static void test_every_bit(void **state) {
    vit_bytes file;
    answers right, now;
    vit_index *index;
    vit_error error;
    make_small(&file);
    index = open_index("small");
    ask(&right, index);
    vit_index_free(index);
    for (size_t bit = 0; bit < 8 * file.size; bit++) {
        file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        put_bytes("bad", file.data, file.size);
        if (vit_index_open(&index, "bad", &error) == VIT_OK) {
            ask(&now, index);
            assert_memory_equal(&now, &right, sizeof now);
            vit_index_free(index);
        } else {
            vit_index_writer *w;
            assert_non_null(strstr(error.message, "bad: "));
            if (bit % 16 == 0)
                assert_int_not_equal(vit_index_writer_open(&w, "bad", &about, &error), VIT_OK);
        }
        file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    vit_free(file.data);
}

/* Writers leave these as they are. */
static void refuse(const char *path, const void *data, size_t size, const char *words) {
    vit_index_writer *w;
    vit_index *index;
    vit_error error;
    vit_bytes now;
    put_bytes(path, data, size);
    assert_int_equal(vit_index_writer_open(&w, path, &about, &error), VIT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, words));
    assert_int_equal(vit_index_open(&index, path, &error), VIT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, words));
    assert_int_equal(vit_read_file(&now, path, 1 << 20, NULL), VIT_OK);
    assert_int_equal(now.size, size);
    assert_memory_equal(now.data, data, size);
    vit_free(now.data);
}

static void test_foreign(void **state) {
    vit_bytes file;
    char text[400] = "IDX2 is how my notes of the second index begin.";
    make_small(&file);
    refuse("notes", "I", 1, "is no index");
    refuse("notes", text, strlen(text), "is no index");
    refuse("notes", text, sizeof text, "is no index");
    refuse("notes", file.data, HEAD - 1, "is no index");
    vit_bytes longer = {vit_alloc(file.size + 200, 1), file.size + 200};
    memcpy(longer.data, file.data, file.size);
    for (size_t more = 1; more <= 200; more += more < 8 ? 1 : 64) {
        refuse("longer", longer.data, file.size + more, "5 of its pictures can be saved");
    }
    vit_free(longer.data);
    vit_free(file.data);
}

/* Gives the block at `at` the checksums of its content. */
static void seal(uint8_t *block) {
    uint64_t size;
    uint32_t sum;
    memcpy(&size, block + 8, 8);
    sum = (uint32_t)crc32(0, block + HEAD, (uInt)size);
    memcpy(block + 28, &sum, 4);
    sum = (uint32_t)crc32(0, block, 32);
    memcpy(block + 32, &sum, 4);
}

/* Numbers that cannot be, under right checksums. */
static void test_impossible(void **state) {
    vit_bytes file;
    const float scales[] = {1e38f, 0, -1, INFINITY, NAN, 0.5f};
    const uint32_t counts[] = {0, 5, 1 << 20, UINT32_MAX};
    make_small(&file);
    const size_t about_size = 128;
    uint8_t *block = file.data + about_size, copy[HEAD + 64];
    memcpy(copy, block, sizeof copy);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        memcpy(block + HEAD + 12, &scales[i], 4);
        seal(block);
        refuse("bad", file.data, file.size, "impossible numbers");
        memcpy(block, copy, sizeof copy);
    }
    for (size_t at = 16; at <= 24; at += 4) /* rows, gone, the first row */
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            if (memcmp(block + at, &counts[i], 4) == 0) continue;
            memcpy(block + at, &counts[i], 4);
            seal(block);
            refuse("bad", file.data, file.size, "is damaged");
            memcpy(block, copy, sizeof copy);
        }
    vit_free(file.data);
}

/* A damaged block in the middle takes nothing with it but its own pictures. */
static void test_repair(void **state) {
    vit_bytes file;
    vit_index_repaired r;
    vit_error error;
    make_small(&file);
    const size_t second = 128; /* the first block of pictures */
    uint64_t size;
    memcpy(&size, file.data + second + 8, 8);
    for (int where = 0; where < 2; where++) { /* in its head, in its content */
        uint8_t *byte = file.data + second + (where == 0 ? 9 : HEAD + 100);
        *byte ^= 4;
        refuse("bad", file.data, file.size, "2 of its pictures can be saved: vit-search repair");
        assert_int_equal(vit_index_repair(&r, "bad", "bad", &error), VIT_ERROR_IO);
        remove("saved");
        if (vit_index_repair(&r, "bad", "saved", &error) != VIT_OK) fail_msg("%s", error.message);
        assert_int_equal(r.saved, 2);
        assert_non_null(strstr(r.damage, "byte 128"));
        vit_index *index = open_index("saved");
        assert_int_equal(vit_index_pictures(index), 2);
        assert_string_equal(vit_index_row(index, 0).name, names[4]);
        assert_string_equal(vit_index_row(index, 1).name, names[5]);
        vit_index_free(index);
        *byte ^= 4;
    }
    remove("saved"); /* of a whole one: what is in it, with the same numbers */
    assert_int_equal(vit_index_repair(&r, "small", "saved", &error), VIT_OK);
    assert_int_equal(r.saved, SMALL - 1);
    assert_string_equal(r.damage, "");
    vit_index *old = open_index("small"), *saved = open_index("saved");
    vit_hit a[SMALL], b[SMALL];
    size_t count;
    assert_int_equal(vit_index_find(a, &count, old, features[7], SMALL, 1, VIT_CPU_COUNT, &error),
                     VIT_OK);
    assert_int_equal(vit_index_find(b, &count, saved, features[7], SMALL, 1, VIT_CPU_COUNT, &error),
                     VIT_OK);
    assert_int_equal(count, SMALL - 1);
    for (size_t i = 0; i < count; i++) {
        assert_true(memcmp(&a[i].score, &b[i].score, sizeof a[i].score) == 0);
        assert_string_equal(vit_index_row(old, a[i].row).name, vit_index_row(saved, b[i].row).name);
    }
    vit_index_free(old);
    vit_index_free(saved);
    vit_free(file.data);
}

/* What is no regular file is refused at once. */
static void test_other_files(void **state) {
    vit_index_writer *w;
    vit_index *index;
    vit_error error;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(mkdir("folder", 0700), 0);
    const char *const paths[] = {"pipe", "folder"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(vit_index_open(&index, paths[i], &error), VIT_ERROR_IO);
        assert_int_equal(vit_index_writer_open(&w, paths[i], &about, &error), VIT_ERROR_IO);
    }
    w = open_writer("i");
    put_rows(w, 0, 1, NULL, 0);
    assert_int_equal(rename("i", "elsewhere"), 0); /* what is written now would be lost */
    const vit_index_picture picture = {"p", {0}, features[0]};
    assert_int_equal(vit_index_writer_put(w, &picture, 1, NULL, 0, &error), VIT_ERROR_IO);
    assert_non_null(strstr(error.message, "replaced while it was written"));
    vit_index_writer_close(w);
    assert_int_equal(symlink("elsewhere", "link"), 0);
    index = open_index("link");
    assert_int_equal(vit_index_rows(index), 1);
    vit_index_free(index);
}

static void test_refusals(void **state) {
    vit_index_writer *w = open_writer("i"), *second;
    vit_index *index;
    vit_error error;
    float none[WIDTH] = {0}, odd[WIDTH] = {1, NAN};
    const vit_index_about other = {WIDTH, "other", "another"};
    const vit_index_picture bad[] = {{"none.png", {0}, none}, {"odd.png", {0}, odd}};
    assert_int_equal(vit_index_writer_open(&second, "i", &about, &error), VIT_ERROR_IO);
    assert_non_null(strstr(error.message, "locked"));
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(vit_index_writer_put(w, bad + i, 1, NULL, 0, &error), VIT_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, bad[i].name));
    }
    vit_index_writer_close(w);
    assert_int_equal(vit_index_writer_open(&second, "i", &other, &error), VIT_ERROR_MISMATCH);
    assert_non_null(strstr(error.message, "those of model.safetensors"));
    put_file("text", "no index");
    assert_int_equal(vit_index_writer_open(&second, "text", &about, &error), VIT_ERROR_FORMAT);
    assert_content("text", "no index");
    index = open_index("i");
    vit_hit hit;
    size_t count;
    assert_int_equal(vit_index_find(&hit, &count, index, none, 1, 1, VIT_CPU_COUNT, &error),
                     VIT_ERROR_ARGUMENT);
    vit_index_free(index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_MEMORY(test_finds_the_best),  IN_MEMORY(test_rows),      IN_MEMORY(test_pairs),
        IN_MEMORY(test_killed_anywhere), IN_MEMORY(test_every_bit), IN_MEMORY(test_foreign),
        IN_MEMORY(test_impossible),      IN_MEMORY(test_repair),    IN_MEMORY(test_other_files),
        IN_MEMORY(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
