/* An index of pictures: what is found is what computing everything finds, whatever the instruction
 * set; a file that ends anywhere has all that was written before; damaged ones are refused. */
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/search/index.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Any byte that is changed: what is opened can be searched. */
static void test_damaged(void **state) {
    vit_bytes file;
    float query[WIDTH] = {1};
    make("whole");
    assert_int_equal(vit_read_file(&file, "whole", 1 << 24, NULL), VIT_OK);
    for (size_t at = 0; at < file.size; at += at < 8192 ? 3 : 997) {
        vit_index *index;
        vit_hit hits[5];
        size_t count;
        file.data[at] ^= 0x55;
        assert_int_equal(vit_write_file("bad", file.data, file.size, NULL), VIT_OK);
        if (vit_index_open(&index, "bad", NULL) == VIT_OK) {
            vit_index_find(hits, &count, index, query, 5, 1, VIT_CPU_COUNT, NULL);
            for (size_t i = 0; i < vit_index_rows(index); i++)
                assert_true(strlen(vit_index_row(index, i).name) < file.size);
        }
        vit_index_free(index);
        file.data[at] ^= 0x55;
    }
    vit_free(file.data);
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
        IN_MEMORY(test_finds_the_best),  IN_MEMORY(test_rows),    IN_MEMORY(test_pairs),
        IN_MEMORY(test_killed_anywhere), IN_MEMORY(test_damaged), IN_MEMORY(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
