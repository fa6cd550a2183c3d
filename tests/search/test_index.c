/* An index of pictures: what is found is what computing everything finds, whatever the instruction
 * set; a file that ends anywhere has all that was written before; one with any bit turned is
 * refused, and what is whole in it can be saved. */
#include "tests/search/index_file.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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
            for (size_t i = 0; i < 20; i++)
                assert_true(hits[c][i].row == hits[0][i].row &&
                            hits[c][i].score <= hits[0][i].score &&
                            hits[c][i].score >= hits[0][i].score);
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
    if (!strstr(error.message, words)) fail_msg("%s", error.message);
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

/* The three blocks behind the first: where they begin, and the end of the file. */
static void find_blocks(size_t at[4], const vit_bytes *file) {
    uint64_t size;
    at[0] = 128;
    for (size_t i = 0; i < 3; i++) {
        memcpy(&size, file->data + at[i] + 8, 8);
        at[i + 1] = at[i] + HEAD + (size_t)size;
    }
    assert_int_equal(at[3], file->size);
}

/* Refuses the file with so many bytes changed at a place of the block at `block`, which is sealed,
 * and changes them back. */
static void refuse_changed(const vit_bytes *file, size_t block, size_t at, const void *bytes,
                           size_t count, const char *words) {
    uint8_t before[64], head[HEAD];
    memcpy(before, file->data + block + at, count);
    memcpy(head, file->data + block, HEAD);
    memcpy(file->data + block + at, bytes, count);
    seal(file->data + block);
    refuse("bad", file->data, file->size, words);
    memcpy(file->data + block + at, before, count);
    if (at >= HEAD) memcpy(file->data + block, head, HEAD);
    seal(file->data + block);
}

enum { ROWS_AT = 16, GONE_AT = 20, FIRST_AT = 24 }; /* in a head */

static void refuse_number(const vit_bytes *file, size_t block, size_t at, uint32_t number,
                          const char *words) {
    refuse_changed(file, block, at, &number, sizeof number, words);
}

/* Each sentence, where what it says begins to hold. */
static void test_said(void **state) {
    vit_bytes file;
    size_t at[4];
    make_small(&file);
    find_blocks(at, &file);
    refuse_number(&file, 0, FIRST_AT, 0, "is damaged: nothing can be saved"); /* the width */
    refuse_number(&file, 0, FIRST_AT, 1 << 20, "at byte 128 is too small for what it has");
    refuse_number(&file, 0, FIRST_AT, (1 << 20) + 1, "is damaged: nothing can be saved");
    uint8_t text[64];
    memset(text, 'x', sizeof text);
    refuse_changed(&file, 0, HEAD, text, sizeof text, "is damaged: nothing can be saved");
    text[20] = 0;
    refuse_changed(&file, 0, HEAD, text, sizeof text, "is damaged: nothing can be saved");
    uint8_t first[HEAD + 64 + 64] = {0}; /* nor is the second text ended by what follows */
    memcpy(first, file.data, HEAD);
    memcpy(first + HEAD, text, sizeof text);
    seal(first);
    refuse("bad", first, sizeof first, "is damaged: nothing can be saved");
    for (size_t size = HEAD; size < at[0]; size += 63) { /* writers begin anew */
        vit_index *index;
        vit_error error;
        put_bytes("bad", file.data, size);
        assert_int_equal(vit_index_open(&index, "bad", &error), VIT_ERROR_FORMAT);
        assert_non_null(strstr(error.message, "is not whole: nothing can be saved"));
    }
    refuse_number(&file, at[1], FIRST_AT, 3, "byte 896 has rows that were there before; 3 of");
    refuse_number(&file, at[1], FIRST_AT, 5, "byte 896 follows rows that are missing; 6 of");
    const uint32_t far = (uint32_t)(64 * (file.size + 1));
    refuse_number(&file, at[1], FIRST_AT, far, "has an impossible number of its first row");
    refuse_number(&file, at[1], FIRST_AT, far - 1, "follows rows that are missing");
    refuse_number(&file, at[2], HEAD, SMALL, "byte 1344 takes out a row that is not there; 6 of");
    refuse_number(&file, at[2], GONE_AT, 9, "byte 1344 is too small for what it has; 6 of");
    refuse_number(&file, at[0], ROWS_AT, 5, "byte 128 is too small for what it has");
    refuse_number(&file, at[0], GONE_AT, 9, "byte 128 is too small for what it has");
    refuse_number(&file, at[0], ROWS_AT, 0, "is damaged");
    file.data[at[0] + 2] ^= 1;
    file.data[at[2] + 2] ^= 1; /* the first of two is named */
    refuse("bad", file.data, file.size, "its block at byte 128 has a damaged head; 2 of");
    vit_free(file.data);
}

/* A name begins where one does, is not empty, and ends. */
static void test_names(void **state) {
    vit_bytes file;
    size_t at[4];
    make_small(&file);
    find_blocks(at, &file);
    const size_t name = HEAD + 24, last = at[1] - 1 - at[0]; /* of the first entry; of all names */
    const uint32_t wrong[] = {1, 28, 64, 1000};              /* "p0.png" ends before 7 */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuse_number(&file, at[0], name, wrong[i], "has an entry with impossible numbers");
    refuse_changed(&file, at[0], last, "x", 1, "at byte 128 is too small for what it has");
    refuse_number(&file, at[0], name + 32, 1, "has an entry with impossible numbers");
    const uint32_t second = 7;
    memcpy(file.data + at[0] + name, &second, sizeof second);
    seal(file.data + at[0]);
    put_bytes("bad", file.data, file.size);
    vit_index *index = open_index("bad");
    assert_string_equal(vit_index_row(index, 0).name, "p1.png");
    vit_index_free(index);
    vit_free(file.data);
}

/* Names that are not there at all, and those behind rows that are taken out. */
static void test_no_names(void **state) {
    vit_bytes file;
    const uint64_t gone[] = {3, 1, 0}, without = 640; /* bytes of entries and vectors */
    make_small(&file);
    memcpy(file.data + 128 + 8, &without, sizeof without);
    seal(file.data + 128);
    refuse("bad", file.data, 128 + HEAD + without, "at byte 128 is too small for what it has");
    vit_free(file.data);
    vit_index_writer *w = open_writer("both");
    put_rows(w, 0, 4, NULL, 0);
    put_rows(w, 4, SMALL, gone, 3);
    put_rows(w, 0, 1, NULL, 0); /* what follows ends no name */
    vit_index_writer_close(w);
    vit_index *index = open_index("both");
    assert_int_equal(vit_index_pictures(index), SMALL - 2); /* six, three out, one in */
    vit_index_free(index);
    assert_int_equal(vit_read_file(&file, "both", 1 << 20, NULL), VIT_OK);
    const size_t second = 896, out = HEAD + 64 + 256; /* its entries, its vectors */
    uint64_t size;
    memcpy(&size, file.data + second + 8, sizeof size);
    const size_t last = HEAD + (size_t)size - 1;
    refuse_changed(&file, second, last, "x", 1, "byte 896 is too small for what it has");
    refuse_number(&file, second, out, SMALL, "byte 896 takes out a row that is not there");
    refuse_number(&file, second, out + 8, SMALL, "byte 896 takes out a row that is not there");
    vit_free(file.data);
}

/* Blocks of a kind that is not known, and of nothing, at the end and before a damaged one. */
static void test_kinds(void **state) {
    vit_bytes file;
    size_t at[4];
    vit_index *index;
    vit_error error;
    uint8_t more[2048], empty[HEAD] = {0};
    make_small(&file);
    find_blocks(at, &file);
    const size_t rest = file.size - at[0];
    memcpy(empty, file.data + at[2], 8);
    empty[FIRST_AT] = SMALL;
    seal(empty);
    memcpy(more, file.data, file.size);
    memcpy(more + file.size, empty, HEAD);
    put_bytes("more", more, file.size + HEAD);
    index = open_index("more");
    assert_int_equal(vit_index_unfinished(index), 0);
    assert_int_equal(vit_index_pictures(index), SMALL - 1);
    vit_index_free(index);
    put_bytes("more", more, file.size + HEAD - 1);
    index = open_index("more");
    assert_int_equal(vit_index_unfinished(index), HEAD - 1);
    vit_index_free(index);
    empty[FIRST_AT] = 0;
    seal(empty);
    memcpy(more + at[0], empty, HEAD);
    memcpy(more + at[0] + HEAD, file.data + at[0], rest);
    more[at[0] + HEAD + 2] ^= 1;
    refuse("bad", more, file.size + HEAD, "its block at byte 192 has a damaged head; 2 of");
    for (uint8_t kind = 0; kind < 4; kind++) {
        if (kind == 2) continue;
        file.data[at[0] + 4] = kind;
        seal(file.data + at[0]);
        put_bytes("bad", file.data, file.size);
        assert_int_equal(vit_index_open(&index, "bad", &error), VIT_ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.message, "at byte 128, of a later version"));
    }
    vit_free(file.data);
}

static void test_continues(void **state) {
    vit_bytes file;
    make_small(&file);
    vit_index *before = open_index("small");
    vit_index_writer *w = open_writer("small");
    put_rows(w, 0, 1, NULL, 0);
    vit_index_writer_close(w);
    vit_index *after = open_index("small");
    assert_true(vit_index_continues(after, before));
    assert_true(vit_index_continues(before, before));
    assert_false(vit_index_continues(before, after));
    make("other");
    vit_index *other = open_index("other");
    assert_false(vit_index_continues(other, before));
    vit_index_free(other);
    vit_index_free(after);
    vit_index_free(before);
    vit_free(file.data);
}

static void check_path(const vit_index *index, const char *name, const char *expected) {
    char *path = vit_index_path(index, name);
    assert_string_equal(path, expected);
    vit_free(path);
}

/* Pictures are named from the index's directory, through links to it, too. */
static void test_places(void **state) {
    assert_string_equal(vit_index_name("/a", "/a/b/c.png"), "b/c.png");
    assert_string_equal(vit_index_name("/a", "/ab/c.png"), "/ab/c.png");
    assert_string_equal(vit_index_name("/a", "/b/c.png"), "/b/c.png");
    assert_string_equal(vit_index_name("/a", "/a"), "/a");
    assert_string_equal(vit_index_name("/", "/c.png"), "c.png");
    assert_int_equal(mkdir("away", 0700), 0);
    make("away/i");
    assert_int_equal(symlink("away/i", "leads"), 0);
    vit_index *index = open_index("away/i"), *led = open_index("leads");
    check_path(index, "c.png", "away/c.png");
    check_path(index, "/c.png", "/c.png");
    check_path(index, "C:/c.png", "C:/c.png");
    check_path(index, "C:c.png", "away/C:c.png");
    check_path(index, "Cc/c.png", "away/Cc/c.png");
    check_path(index, "", "away/");
    char *root, *path = vit_index_path(led, "c.png");
    vit_error error;
    assert_int_equal(vit_index_root(&root, "leads", &error), VIT_OK);
    assert_string_equal(root + strlen(root) - 5, "/away");
    assert_string_equal(vit_index_name(root, path), "c.png");
    vit_free(root);
    vit_free(path);
    assert_int_equal(vit_index_root(&root, "absent", &error), VIT_ERROR_IO);
    vit_index_free(index);
    vit_index_free(led);
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
        IN_MEMORY(test_said),           IN_MEMORY(test_names),
        IN_MEMORY(test_kinds),          IN_MEMORY(test_no_names),
        IN_MEMORY(test_continues),      IN_MEMORY(test_places),
        IN_MEMORY(test_rows),           IN_MEMORY(test_pairs),
        IN_MEMORY(test_foreign),        IN_MEMORY(test_impossible),
        IN_MEMORY(test_repair),         IN_MEMORY(test_other_files),
        IN_MEMORY(test_refusals),       IN_MEMORY(test_every_bit),
        IN_MEMORY(test_finds_the_best), IN_MEMORY(test_killed_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
