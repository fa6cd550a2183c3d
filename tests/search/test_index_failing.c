/* An index of pictures while calls of the system fail, each in turn: what fails says so and leaves
 * a file that is whole; what does not is the answer. */
#include "tests/search/index_file.h"
#include "tests/support/fault.h"
#include "vit/search/copies.h"
#include "vit/search/sheet.h"

#include <stdlib.h>

enum { FEW = 6 };

/* Each makes calls; those that are given an index also answer. */
typedef vit_status made(const vit_index *index, vit_error *error);

static vit_status writes(const vit_index *index, vit_error *error) {
    vit_index_writer *w;
    const uint64_t gone[] = {1};
    const vit_index_picture one = {"new.png", {1, 2, 3}, features[0]};
    (void)index;
    vit_status status = vit_index_writer_open(&w, "kept", &about, error);
    if (status == VIT_OK) status = vit_index_writer_put(w, &one, 1, gone, 1, error);
    if (status == VIT_OK) status = vit_index_writer_put(w, NULL, 0, NULL, 0, error);
    vit_index_writer_close(w);
    return status;
}

static vit_status opens(const vit_index *index, vit_error *error) {
    vit_index *again;
    const vit_status status = vit_index_open_on(&again, "small", 1, error);
    if (status == VIT_OK) assert_int_equal(vit_index_rows(again), vit_index_rows(index));
    vit_index_free(again);
    return status;
}

static vit_status finds(const vit_index *index, vit_error *error) {
    vit_hit hits[FEW];
    size_t count;
    const vit_status status =
        vit_index_find(hits, &count, index, features[0], FEW, 1, VIT_CPU_COUNT, error);
    if (status == VIT_OK) assert_int_equal(hits[0].row, 0);
    return status;
}

static vit_status pairs(const vit_index *index, vit_error *error) {
    vit_similar *found = NULL;
    size_t count;
    const vit_status status = vit_index_pairs(&found, &count, index, 0.01, 1, VIT_CPU_COUNT, error);
    if (status == VIT_OK) assert_true(count > 0);
    vit_free(found);
    return status;
}

static void unread(const vit_error *problem, void *user) {
    assert_true(problem->message[0] != 0);
    ++*(size_t *)user;
}

static vit_status copies(const vit_index *index, vit_error *error) {
    vit_index_copy *found = NULL;
    size_t count, problems = 0;
    const vit_status status = vit_index_copies(&found, &count, index, 1, unread, &problems, error);
    if (status == VIT_OK) assert_int_equal(problems, vit_index_pictures(index)); /* no such files */
    vit_free(found);
    return status;
}

static vit_status repairs(const vit_index *index, vit_error *error) {
    vit_index_repaired said;
    (void)index;
    const vit_status status = vit_index_repair(&said, "bad", "saved", error);
    if (status == VIT_OK) assert_true(said.saved > 0 && said.damage[0]);
    return status;
}

static vit_status shows(const vit_index *index, vit_error *error) {
    uint8_t *png = NULL;
    size_t size;
    (void)index;
    const vit_status status = vit_thumbnail(&png, &size, "picture.pgm", error);
    if (status == VIT_OK) assert_true(size > 8);
    vit_free(png);
    return status;
}

/* A small index, whole and with a damaged last block. */
static void make_files(void) {
    vit_bytes file;
    make_small(&file);
    file.data[file.size - 1] ^= 1;
    assert_int_equal(vit_write_file("bad", file.data, file.size, NULL), VIT_OK);
    vit_free(file.data);
    put_file("picture.pgm", "P5 2 2 255\nabcd");
}

static void test_each_fails(void **state) {
    static made *const all[] = {writes, opens, finds, pairs, copies, repairs, shows};
    (void)state;
    make_files();
    vit_index *index = open_index("small");
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (long n = 1;; n++) {
            vit_error error = {0};
            assert_int_equal(system("cp small kept; rm -f saved"), 0);
            fault_arm(n);
            const vit_status status = all[k](index, &error);
            fault_disarm();
            if (!fault_call()) {
                assert_int_equal(status, VIT_OK);
                break;
            }
            if (status != VIT_OK) assert_true(error.status == status && error.message[0]);
            vit_index_free(open_index("kept"));
        }
    vit_index_free(index);
}

int main(void) {
    const struct CMUnitTest tests[] = {IN_MEMORY(test_each_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
