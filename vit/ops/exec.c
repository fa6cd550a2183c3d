#include "vit/ops/exec.h"

/* Multiply-adds that take about as long as it takes to wake a thread, some microseconds. */
#define WORTH_A_THREAD ((size_t)1 << 18)

int vit_exec_threads(const vit_exec *exec, size_t multiply_adds) {
    const size_t worth = multiply_adds / WORTH_A_THREAD;
    return worth < (size_t)exec->threads ? (worth > 0 ? (int)worth : 1) : exec->threads;
}
