/* Waiting for a condition with a limit of time. */
#ifndef VIT_CLI_SERVE_WORK_MOMENT_H
#define VIT_CLI_SERVE_WORK_MOMENT_H

#include <pthread.h>
#include <time.h>

#if defined _WIN32 || defined __APPLE__ /* conditions know the time of day alone */
#define WAIT_CLOCK CLOCK_REALTIME
static inline void serve_condition_init(pthread_cond_t *condition) {
    pthread_cond_init(condition, NULL);
}
#else
#define WAIT_CLOCK CLOCK_MONOTONIC
static inline void serve_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, WAIT_CLOCK);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}
#endif

/* The time `seconds` from now. */
static inline struct timespec serve_moment(double seconds) {
    struct timespec at;
    clock_gettime(WAIT_CLOCK, &at);
    const time_t whole = (time_t)seconds;
    at.tv_sec += whole;
    at.tv_nsec += (long)((seconds - (double)whole) * 1e9);
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

#undef WAIT_CLOCK
#endif
