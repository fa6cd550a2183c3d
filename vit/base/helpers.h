/* Threads of our own, for where there is no OpenMP or it is not safe (parallel.c). They stay until
 * the process ends: starting one takes longer than a small product, and in WebAssembly a thread
 * that ends is not to be had again before the program returns to its browser. */
#ifndef VIT_BASE_HELPERS_H
#define VIT_BASE_HELPERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

/* pthread_create of a thread that takes no signals of the process: its host waits for them, and has
 * handlers, in its own threads. Those of its own faults (SIGSEGV, SIGBUS, ...) come. */
int vit_start_thread(pthread_t *id, void *(*body)(void *), void *context);

/* What each of `size` threads does at the same time, numbered from 0, the caller. */
typedef void vit_region_part(void *context, int thread, int size);

/* Does the parts of at most `threads` threads, and returns when all have ended: of as many as can
 * be had, if need be of the caller alone. Within a part there is one thread. Several threads may
 * call it at the same time, also in a child of fork. */
void vit_helpers_run(int threads, vit_region_part *part, void *context);

/* Waits until *place is `value`: polls, after some ten microseconds with pauses. */
void vit_wait_for(const atomic_size_t *place, size_t value);

#endif
