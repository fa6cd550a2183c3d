#include "vit/ops/exec.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Multiply-adds that take about as long as it takes to hand work to a thread and to wait for it, as
 * `vit-bench ops` measures both (docs/learn.md, "Threads"): a few microseconds. */
#define WORTH_A_THREAD ((size_t)1 << 18)

/* The same, or 1 if the environment says VIT_PARALLEL=always, to see threads with small networks.
 */
static size_t worth_a_thread(void) {
    static atomic_size_t known; /* 0: not asked for yet */
    size_t worth = atomic_load_explicit(&known, memory_order_relaxed);
    if (worth > 0) return worth;
    const char *word = getenv("VIT_PARALLEL");
    worth = word && strcmp(word, "always") == 0 ? 1 : WORTH_A_THREAD;
    atomic_store_explicit(&known, worth, memory_order_relaxed);
    return worth;
}

int vit_exec_threads(const vit_exec *exec, size_t multiply_adds) {
    const size_t worth = multiply_adds / worth_a_thread();
    return worth < (size_t)exec->threads ? (worth > 0 ? (int)worth : 1) : exec->threads;
}
