#include "vit/ops/exec.h"
#include "vit/base/fpmode.h"
#include "vit/base/sys.h"
#include <omp.h>

/* Waking a thread costs some microseconds; so does this much work. */
#define WORTH_A_THREAD ((size_t)1 << 18)

/* A thread begins with its share of the indices, so that operators which divide the same rows find
 * them in that thread's cache, and goes on with what the others have left of theirs. */
typedef struct share {
    _Alignas(64) size_t next; /* a cache line each */
} share;

#define MOST_SHARES 64

/* Looks at the others' progress before a waiting thread offers its processor: some microseconds. */
#define PATIENCE 10000

typedef struct work {
    share shares[MOST_SHARES];
    size_t share_count, count;
    _Alignas(64) size_t arrived; /* threads with nothing left to do */
    vit_task *task;
    void *context;
} work;

static size_t share_end(const work *w, size_t s) {
    return (s + 1) * w->count / w->share_count;
}

static void run_share(work *w, size_t s, int thread) {
    for (;;) {
        size_t index;
#pragma omp atomic capture
        index = w->shares[s].next++;
        if (index >= share_end(w, s)) return;
        w->task(index, thread, w->context);
    }
}

/* The barrier at the end of an OpenMP region spins for milliseconds. Where another process has the
 * processor of a thread that is waited for, that would keep both from going on: so the waiting is
 * done here, before it. */
static void wait_for_others(work *w, size_t team) {
    size_t arrived;
#pragma omp atomic capture
    arrived = ++w->arrived;
    for (size_t looks = 0; arrived < team; looks++) {
        if (looks >= PATIENCE) vit_yield();
#pragma omp atomic read
        arrived = w->arrived;
    }
}

void vit_parallel(int threads, size_t count, vit_task *task, void *context) {
    if (threads > 1 && (size_t)threads > count) threads = (int)count;
    if (threads <= 1) {
        for (size_t i = 0; i < count; i++) task(i, 0, context);
        return;
    }
    work w = {.count = count, .task = task, .context = context};
    w.share_count = threads < MOST_SHARES ? (size_t)threads : MOST_SHARES;
    for (size_t s = 0; s < w.share_count; s++) w.shares[s].next = s * count / w.share_count;
#pragma omp parallel num_threads(threads)
    {
        const vit_fpmode host = vit_fpmode_enter();
        const int thread = omp_get_thread_num();
        for (size_t s = 0; s < w.share_count; s++)
            run_share(&w, ((size_t)thread + s) % w.share_count, thread);
        vit_fpmode_leave(host);
        wait_for_others(&w, (size_t)omp_get_num_threads());
    }
}

int vit_exec_threads(const vit_exec *exec, size_t multiply_adds) {
    const size_t worth = multiply_adds / WORTH_A_THREAD;
    return worth < (size_t)exec->threads ? (worth > 0 ? (int)worth : 1) : exec->threads;
}

vit_status vit_precision_check(vit_precision precision, const vit_kernels *kernels,
                               vit_error *error) {
    if (precision == VIT_PRECISION_F32 || kernels->pairs) return VIT_OK;
    const bool here = vit_cpu_detect() >= VIT_CPU_AVX512BF16;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "precision bf16 needs the instruction set avx512bf16, %s (%s is used), and "
                    "emulating it would be slower than f32: choose f32",
                    here ? "which this build or the choice of instruction set leaves out"
                         : "which this processor does not have",
                    vit_cpu_name(kernels->cpu));
}
