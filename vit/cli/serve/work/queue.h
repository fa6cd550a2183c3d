/* Work for the models, done in the order in which it came by one thread that uses all processors.
 * Pictures for the same model that wait together are computed together: the same bytes as alone,
 * sooner. Those who were answered together ask again together, not in the same microsecond:
 * pictures wait for others that are on their way, for a twentieth of what computing them all will
 * take.
 *
 * Functions may be called from any thread. */
#ifndef VIT_CLI_SERVE_WORK_QUEUE_H
#define VIT_CLI_SERVE_WORK_QUEUE_H

#include <pthread.h>

#include "vit/cli/serve/work/metrics.h"
#include "vit/cli/serve/work/served.h"

typedef struct serve_job serve_job;
struct serve_job {
    serve_model *model; /* NULL: only whether the queue moves is asked */
    /* Pictures to compute: */
    const void *images; /* [count][model->pixels], as vit_prepare_memory makes them; or, where */
    bool normalised;    /* they are that already, floats */
    float *logits, *features; /* [count][classes]; [count][features], or NULL */
    size_t count;
    /* Or something else that needs the model's session, done alone: */
    vit_status (*work)(serve_job *job, vit_error *error);
    void *context;
    /* What became of it: */
    vit_error error;         /* its status is VIT_OK where it was done */
    double waited, computed; /* seconds in the queue; of the computation that it was part of */
    /* The queue's own: */
    double arrived;
    bool started, done;
    pthread_cond_t ended;
    serve_job *next;
};

typedef enum serve_turn {
    SERVE_TURN_DONE,
    SERVE_TURN_FULL, /* as much waits already as may */
    SERVE_TURN_LATE, /* its turn did not come in time */
} serve_turn;

typedef struct serve_queue_options {
    size_t most;    /* pictures that may wait */
    size_t batch;   /* pictures that are computed together */
    double delay;   /* seconds that a picture waits for others */
    double timeout; /* seconds until a turn comes too late */
    /* Who may bring pictures soon, those in the queue among them; NULL: nobody knows. */
    size_t (*asking)(void *context);
    void *context;
    bool yields; /* whatever else the program does goes first */
} serve_queue_options;

typedef struct serve_queue serve_queue;

vit_status serve_queue_start(serve_queue **out, const serve_queue_options *options,
                             serve_metrics *metrics, vit_error *error);

/* From now on nothing waits for others. */
void serve_queue_hurry(serve_queue *queue);

/* Does what waits, then ends the thread. */
void serve_queue_stop(serve_queue *queue);

/* Waits until the job is done, or says why it will not be. A job that has begun is waited for. */
serve_turn serve_queue_do(serve_queue *queue, serve_job *job);

size_t serve_queue_length(serve_queue *queue); /* pictures that wait */
size_t serve_queue_jobs(serve_queue *queue);   /* jobs that wait or are done just now */

#endif
