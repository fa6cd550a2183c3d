/* Threads. All of the library's OpenMP is behind these functions.
 *
 * The threads are OpenMP's, so that OMP_NUM_THREADS and what the host sets up hold for them; how
 * they wait for each other is our own. OpenMP's barriers spin for milliseconds: where another
 * process has the processor of a thread that is waited for, that keeps both from going on, a
 * hundred times in the answer to one picture. */
#ifndef VIT_BASE_PARALLEL_H
#define VIT_BASE_PARALLEL_H

#include <stddef.h>

/* Calls task(index, thread, context) once for every index < count, on at most `threads` threads,
 * in any order; `thread` < threads tells whose scratch memory to use. Each worker runs in the
 * library's floating-point mode. A result must not depend on `thread`. */
typedef void vit_task(size_t index, int thread, void *context);
void vit_parallel(int threads, size_t count, vit_task *task, void *context);

/* Calls body(context) on this thread, while threads - 1 others stand by: vit_parallel inside it
 * gives its tasks to them, at most so many threads, sooner than it could start any. Inside another
 * team's body, or a task, it only calls. */
typedef void vit_team_body(void *context);
void vit_with_team(int threads, vit_team_body *body, void *context);

/* The threads that have a processor each: by affinity and control groups, as vit_cpu_count, and
 * where OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY bind threads, by the places these name. */
int vit_threads_most(void);

/* How many to use where nobody said: that number, or OMP_NUM_THREADS if it is smaller. */
int vit_threads_default(void);

#endif
