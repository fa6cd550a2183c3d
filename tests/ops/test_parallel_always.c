/* VIT_PARALLEL=always: the heads of attention are computed by several threads even in the lectures'
 * network, whose operators are too small for it to pay; with the same bytes. */
#include "tests/support/check.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/ops/attention.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* models/presets/lecture.json: 4 patches and the class token, 8 heads of 128 / 8. */
enum { TOKENS = 5, HEADS = 8, HEAD_DIM = 16, DIM = HEADS * HEAD_DIM };

#define PATIENCE 10 /* seconds for the second thread to come */

/* ---- which threads compute softmax ---- */

static void (*softmax)(float *, size_t, size_t);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t first;
static int threads_seen;

static int see_thread(void) {
    pthread_mutex_lock(&lock);
    if (threads_seen == 0) {
        first = pthread_self();
        threads_seen = 1;
    } else if (!pthread_equal(first, pthread_self())) {
        threads_seen = 2;
    }
    const int seen = threads_seen;
    pthread_mutex_unlock(&lock);
    return seen;
}

/* Waits for the second thread, which may need its time on a busy machine. */
static void watched_softmax(float *x, size_t rows, size_t n) {
    const double start = vit_clock();
    while (see_thread() < 2 && vit_clock() - start < PATIENCE) vit_yield();
    softmax(x, rows, n);
}

static void attend(float *o, const float *qkv, int threads, bool is_watched) {
    const vit_attention_shape s = {.batch = 1,
                                   .heads = HEADS,
                                   .head_dim = HEAD_DIM,
                                   .queries = TOKENS,
                                   .keys = TOKENS,
                                   .q_row = 3 * DIM,
                                   .k_row = 3 * DIM,
                                   .v_row = 3 * DIM,
                                   .o_row = DIM,
                                   .scale = .25f};
    vit_kernels kernels = *vit_kernels_choose(VIT_CPU_AVX512);
    softmax = kernels.softmax;
    if (is_watched) kernels.softmax = watched_softmax;
    const vit_exec exec = {.kernels = &kernels, .threads = threads};
    float *scratch = check_floats((size_t)threads * vit_attention_scratch(&s, false));
    vit_attention_forward(&exec, o, NULL, qkv, qkv + DIM, qkv + 2 * DIM, &s, scratch);
    free(scratch);
}

static void heads_run_on_threads_with_the_same_bytes(void **state) {
    float *qkv = check_floats(TOKENS * 3 * DIM), *one = check_floats(TOKENS * DIM),
          *two = check_floats(TOKENS * DIM);
    vit_random r = check_random(1);
    check_fill(qkv, TOKENS * 3 * DIM, 2, &r);
    attend(one, qkv, 1, false);
    attend(two, qkv, 2, true);
    assert_int_equal(threads_seen, 2);
    assert_memory_equal(one, two, TOKENS * DIM * sizeof *one);
    free(qkv);
    free(one);
    free(two);
}

static void one_multiply_add_is_worth_a_thread(void **state) {
    const vit_exec exec = {.threads = 4};
    assert_int_equal(vit_exec_threads(&exec, 0), 1);
    assert_int_equal(vit_exec_threads(&exec, 3), 3);
    assert_int_equal(vit_exec_threads(&exec, 100), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_multiply_add_is_worth_a_thread),
                                       cmocka_unit_test(heads_run_on_threads_with_the_same_bytes)};
    setenv("VIT_PARALLEL", "always", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
