/* A semaphore: a limited number of threads are between enter and leave. Others wait, and enter in
 * the order in which they came. */
#ifndef VIT_CLI_SERVE_WORK_GATE_H
#define VIT_CLI_SERVE_WORK_GATE_H

#include <pthread.h>

#include "vit/base/error.h"

/* A thread that waits; it lies on its stack. */
typedef struct serve_gate_place {
    pthread_cond_t called;
    struct serve_gate_place *next;
} serve_gate_place;

typedef struct serve_gate {
    pthread_mutex_t lock;
    size_t free;
    double timeout; /* seconds that a thread waits at most */
    serve_gate_place *first, *last;
} serve_gate;

void serve_gate_init(serve_gate *gate, size_t most, double timeout);
void serve_gate_destroy(serve_gate *gate);

/* CANCELLED: it had to wait too long. */
vit_status serve_gate_enter(serve_gate *gate, vit_error *error);
void serve_gate_leave(serve_gate *gate);

/* Enters as `most` threads, or as many as there is room for, *some, at least one. */
vit_status serve_gate_enter_some(size_t *some, serve_gate *gate, size_t most, vit_error *error);
void serve_gate_leave_some(serve_gate *gate, size_t some);

#endif
