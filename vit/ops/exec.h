/* How operators run: with which kernels, on how many threads. All of the library's threads are
 * behind vit_parallel. */
#ifndef VIT_OPS_EXEC_H
#define VIT_OPS_EXEC_H

#include "vit/base/team.h"
#include "vit/kernels/kernels.h"
#include <stddef.h>

typedef struct vit_exec {
    const vit_kernels *kernels;
    int threads; /* inside one operator; 1 while slices of a batch have a thread each */
} vit_exec;

/* Calls task(index, thread, context) once for every index < count, on at most `threads` threads,
 * in any order; `thread` < threads tells whose scratch memory to use. Each worker runs in the
 * library's floating-point mode. A result must not depend on `thread`. */
void vit_parallel(int threads, size_t count, vit_task *task, void *context);

/* From here on the calling thread's vit_parallel uses this team, of as many threads as it will ask
 * for, instead of starting threads for each call; NULL: no longer. Returns the team used before. */
vit_team *vit_parallel_use(vit_team *team);

/* The threads worth waking for `multiply_adds` of work, at most exec's. */
int vit_exec_threads(const vit_exec *exec, size_t multiply_adds);

#endif
