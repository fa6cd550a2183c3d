#include "vit/ops/exec.h"
#include "vit/base/fpmode.h"
#include <omp.h>

/* Waking a thread costs some microseconds; so does this much work. */
#define WORTH_A_THREAD ((size_t)1 << 18)

void vit_parallel(int threads, size_t count, vit_task *task, void *context) {
    if (threads > 1 && (size_t)threads > count) threads = (int)count;
    if (threads <= 1) {
        for (size_t i = 0; i < count; i++) task(i, 0, context);
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        const vit_fpmode host = vit_fpmode_enter();
        const int thread = omp_get_thread_num();
#pragma omp for schedule(dynamic, 1) nowait
        for (size_t i = 0; i < count; i++) task(i, thread, context);
        vit_fpmode_leave(host);
    }
}

int vit_exec_threads(const vit_exec *exec, size_t multiply_adds) {
    const size_t worth = multiply_adds / WORTH_A_THREAD;
    return worth < (size_t)exec->threads ? (worth > 0 ? (int)worth : 1) : exec->threads;
}
