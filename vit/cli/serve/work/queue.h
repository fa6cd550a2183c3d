/* The queue of work for the models. One thread, which uses all processors, does it in the order in
 * which it came. Pictures for the same model that are waiting at the same time are computed
 * together, which is faster and gives the same bytes.
 *
 * Clients that were answered together tend to ask again together, but not in the same microsecond.
 * So pictures wait for others that are likely to come soon, for at most a twentieth of the time
 * that computing them will take.
 *
 * Functions may be called from any thread. */
#ifndef VIT_CLI_SERVE_WORK_QUEUE_H
#define VIT_CLI_SERVE_WORK_QUEUE_H

#include <pthread.h>

#include "vit/cli/serve/work/metrics.h"
#include "vit/cli/serve/work/served.h"

typedef struct serve_job serve_job;
struct serve_job {
    serve_model *model; /* NULL: an empty job, to find out whether the queue moves */
    /* Pictures to compute: */
    const void *images; /* [count][model->pixels]: bytes, as vit_prepare_memory makes them, or */
    bool normalised;    /* floats, as vit_prepare_values makes them */
    float *logits;      /* [count][classes] */
    float *features;    /* [count][features], or NULL */
    size_t count;
    /* Or other work that needs the model's session; it is done alone: */
    vit_status (*work)(serve_job *job, vit_error *error);
    void *context;
    /* The outcome: */
    vit_error error; /* status VIT_OK: it was done */
    double waited;   /* seconds in the queue */
    double computed; /* seconds of the computation that it was part of */
    /* The queue's own: */
    double arrived;
    bool started, done;
    pthread_cond_t ended;
    serve_job *next;
};

typedef enum serve_turn {
    SERVE_TURN_DONE,
    SERVE_TURN_FULL, /* the queue has as many pictures as it may */
    SERVE_TURN_LATE, /* it was not begun in time */
} serve_turn;

typedef struct serve_queue_options {
    size_t most;    /* pictures that may wait */
    size_t batch;   /* pictures that are computed together, at most */
    double delay;   /* seconds that a picture always waits for others */
    double timeout; /* seconds that a job may wait */
    /* The number of clients that have pictures in the queue or may bring some soon; NULL: not known
     */
    size_t (*asking)(void *context);
    void *context;
    bool is_here; /* there is no thread: who brings a job does it */
    bool yields;  /* the thread has a lower priority than the others */
} serve_queue_options;

typedef struct serve_queue serve_queue;

/* Starts the thread; `metrics` must outlive the queue. Ended by serve_queue_stop. */
vit_status serve_queue_start(serve_queue **out, const serve_queue_options *options,
                             serve_metrics *metrics, vit_error *error);

/* From now on no picture waits for others. */
void serve_queue_hurry(serve_queue *queue);

/* Does the jobs that wait, then ends the thread and frees the queue; NULL is allowed. */
void serve_queue_stop(serve_queue *queue);

/* Puts the job into the queue and waits until it is done, or until it is clear that it will not be.
 */
serve_turn serve_queue_do(serve_queue *queue, serve_job *job);

size_t serve_queue_length(serve_queue *queue); /* pictures that wait */
size_t serve_queue_jobs(serve_queue *queue);   /* jobs that wait or are being done */

#endif
