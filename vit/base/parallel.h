/* Threads. Only parallel.c uses OpenMP.
 *
 * The threads are OpenMP's, so that OMP_NUM_THREADS and the settings of the host apply to them, but
 * they wait for each other in our own way. OpenMP's barriers spin for milliseconds; if the thread
 * that is waited for needs the same processor, spinning keeps it from running, a hundred times in
 * the answer for one picture.
 *
 * OpenMP cannot report that there are no threads or no memory: it ends the process. And after fork
 * its threads are missing in the child. So threads are our own in a child of fork, under a limit of
 * the address space (RLIMIT_AS), and when a trial shows that too few can be started; then they are
 * as many as there are, if need be the calling thread alone (helpers.h). Compilers without OpenMP
 * have these alone. Results do not depend on it. */
#ifndef VIT_BASE_PARALLEL_H
#define VIT_BASE_PARALLEL_H

#include <stddef.h>

/* Calls task(index, thread, context) once for every index < count, in any order, on at most
 * `threads` threads; `thread` < threads is for scratch memory of its own, results must not depend
 * on it. Tasks run in the library's floating-point mode. */
typedef void vit_task(size_t index, int thread, void *context);
void vit_parallel(int threads, size_t count, vit_task *task, void *context);

/* Calls body(context) on this thread while a team of threads - 1 others waits: calls of
 * vit_parallel in it give their tasks to the team, which is faster than starting threads. Inside
 * the body of another team, or in a task, it only calls body. */
typedef void vit_team_body(void *context);
void vit_with_team(int threads, vit_team_body *body, void *context);

/* In the body of a team: calls body(context) on its second thread, which leads the others but this
 * one as a team, while this thread calls beside(context). Returns when both have. Where there is no
 * second thread, one is called after the other. */
void vit_beside(vit_team_body *body, vit_team_body *beside, void *context);

/* The most threads that can have a processor each: vit_cpu_count, or the processors of the places
 * that OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY bind threads to. */
int vit_threads_most(void);

/* How many of `wanted` threads, this one among them, can be started now; 1 or more. It starts them
 * to find out, which takes some ten microseconds for each. */
int vit_threads_to_be_had(int wanted);

/* The default number of threads: the same, or OMP_NUM_THREADS if that is smaller. */
int vit_threads_default(void);

#endif
