/* A semaphore: a limited number of threads are between enter and leave; others wait. */
#ifndef VIT_CLI_SERVE_WORK_GATE_H
#define VIT_CLI_SERVE_WORK_GATE_H

#include <pthread.h>

typedef struct serve_gate {
    pthread_mutex_t lock;
    pthread_cond_t left;
    int free;
} serve_gate;

static inline void serve_gate_init(serve_gate *gate, int most) {
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->left, NULL);
    gate->free = most;
}

static inline void serve_gate_enter(serve_gate *gate) {
    pthread_mutex_lock(&gate->lock);
    while (gate->free == 0) pthread_cond_wait(&gate->left, &gate->lock);
    gate->free--;
    pthread_mutex_unlock(&gate->lock);
}

static inline void serve_gate_leave(serve_gate *gate) {
    pthread_mutex_lock(&gate->lock);
    gate->free++;
    pthread_cond_signal(&gate->left);
    pthread_mutex_unlock(&gate->lock);
}

static inline void serve_gate_destroy(serve_gate *gate) {
    pthread_mutex_destroy(&gate->lock);
    pthread_cond_destroy(&gate->left);
}

#endif
