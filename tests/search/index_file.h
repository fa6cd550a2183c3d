/* An index of pictures that tests write, and change: for test_index.c. */
#ifndef VIT_TESTS_SEARCH_INDEX_FILE_H
#define VIT_TESTS_SEARCH_INDEX_FILE_H

#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/search/index.h"

#include <stdio.h>
#include <string.h>
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

enum { SMALL = 6, HEAD = 64 };

/* An index of six rows in two blocks, and a third block that takes one out; *file = its bytes. */
static inline void make_small(vit_bytes *file) {
    const uint64_t gone[] = {1};
    make("large");
    vit_index_writer *w = open_writer("small");
    put_rows(w, 0, 4, NULL, 0);
    put_rows(w, 4, SMALL, NULL, 0);
    put_rows(w, 0, 0, gone, 1);
    vit_index_writer_close(w);
    assert_int_equal(vit_read_file(file, "small", 1 << 20, NULL), VIT_OK);
}

/* Gives the block at `at` the checksums of its content. */
static inline void seal(uint8_t *block) {
    uint64_t size;
    uint32_t sum;
    memcpy(&size, block + 8, 8);
    sum = (uint32_t)crc32(0, block + HEAD, (uInt)size);
    memcpy(block + 28, &sum, 4);
    sum = (uint32_t)crc32(0, block, 32);
    memcpy(block + 32, &sum, 4);
}

#endif
