#include "vit/cli/serve/work/queue.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/serve/work/moment.h"

struct serve_queue {
    serve_queue_options options;
    serve_metrics *metrics;
    pthread_t thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    serve_job *first, *last;
    size_t waiting; /* pictures */
    size_t jobs;    /* not done yet */
    double freed;   /* when the last batch was done */
    bool hurried, stopping;
};

/* Places in the queue that a job takes: its pictures, or one. */
static size_t weight(const serve_job *job) {
    return job->count > 0 ? job->count : 1;
}

/* ---- the thread that computes ---- */

/* Takes the job after `before` (NULL: the first one) out of the queue. */
static serve_job *take_after(serve_queue *q, serve_job *before) {
    serve_job **link = !before ? &q->first : &before->next;
    serve_job *job = *link;
    *link = job->next;
    if (q->last == job) q->last = before;
    job->next = NULL;
    job->started = true;
    q->waiting -= weight(job);
    return job;
}

/* Takes the first job, and if it has pictures the next ones for the same model, as many as may be
 * computed together: a list in their order. */
static serve_job *take_batch(serve_queue *q, size_t *pictures) {
    serve_job *batch = take_after(q, NULL), *end = batch;
    *pictures = batch->count;
    if (batch->work || batch->count == 0) return batch;
    for (serve_job *before = NULL, *job = q->first; job;) {
        const bool fits = !job->work && job->model == batch->model && job->count > 0 &&
                          job->normalised == batch->normalised &&
                          *pictures + job->count <= q->options.batch;
        serve_job *next = job->next;
        if (fits) {
            end = end->next = take_after(q, before);
            *pictures += end->count;
        } else {
            before = job;
        }
        job = next;
    }
    return batch;
}

/* Computes `count` pictures with the model of job `first`. */
static vit_status embed(const serve_job *first, const void *images, size_t count, float *logits,
                        float *features, vit_error *error) {
    vit_session *session = serve_model_session(first->model, count);
    if (first->normalised)
        return vit_embed_normalized(session, images, count, logits, features, error);
    return vit_embed_prepared(session, images, count, logits, features, error);
}

/* Copies the pictures of several jobs into one array, computes them, and copies the results back.
 */
static vit_status compute_together(serve_job *batch, size_t pictures, vit_error *error) {
    const serve_model *m = batch->model;
    const size_t classes = m->info.classes, width = m->info.features;
    const size_t size = m->pixels * (batch->normalised ? sizeof(float) : 1);
    uint8_t *images = vit_alloc_unset(pictures, size);
    float *logits = vit_alloc_unset(pictures, classes * sizeof *logits);
    float *features = vit_alloc_unset(pictures, width * sizeof *features);
    vit_status status = VIT_OK;
    size_t at = 0;
    if (!images || !logits || !features)
        status = vit_fail_memory(error, "pictures", pictures * size);
    for (serve_job *job = batch; job && status == VIT_OK; at += job->count, job = job->next)
        memcpy(images + at * size, job->images, job->count * size);
    if (status == VIT_OK) status = embed(batch, images, pictures, logits, features, error);
    at = 0;
    for (serve_job *job = batch; job && status == VIT_OK; at += job->count, job = job->next) {
        memcpy(job->logits, logits + at * classes, job->count * classes * sizeof *logits);
        if (job->features)
            memcpy(job->features, features + at * width, job->count * width * sizeof *features);
    }
    vit_free(images);
    vit_free(logits);
    vit_free(features);
    return status;
}

/* `batch` is one job, or several with pictures for the same model. */
static vit_status compute(serve_job *batch, size_t pictures, vit_error *error) {
    if (batch->work) return batch->work(batch, error);
    if (batch->count == 0) return VIT_OK;
    if (batch->next) return compute_together(batch, pictures, error);
    return embed(batch, batch->images, batch->count, batch->logits, batch->features, error);
}

/* Jobs that fail together are done again one by one, so that none fails for another's picture. */
static void compute_all(serve_job *batch, size_t pictures) {
    vit_error error = {0};
    error.status = compute(batch, pictures, &error);
    const bool apart = error.status != VIT_OK && batch->next;
    for (serve_job *job = batch, *next; job; job = next) {
        next = job->next;
        if (apart) {
            job->next = NULL;
            error.status = compute(job, job->count, &error);
            job->next = next;
        }
        job->error = error;
    }
}

/* Does the first job, and those that can be computed with it. The lock is held, except
 * during the computation. */
static void do_batch(serve_queue *q) {
    size_t pictures;
    serve_job *batch = take_batch(q, &pictures);
    pthread_mutex_unlock(&q->lock);
    const double start = vit_clock();
    compute_all(batch, pictures);
    const double seconds = vit_clock() - start;
    if (pictures > 0 && !batch->work) {
        batch->model->pace = seconds / (double)pictures;
        serve_metrics_batch(q->metrics, batch->model->place, pictures);
    }
    pthread_mutex_lock(&q->lock);
    for (serve_job *job = batch, *next; job; job = next) {
        next = job->next; /* a job that is done is its owner's again */
        job->waited = start - job->arrived;
        job->computed = seconds;
        job->done = true;
        q->jobs--;
        pthread_cond_signal(&job->ended);
    }
    q->freed = start + seconds;
}

/* Seconds that the first job still waits for others: its delay, then, if clients are likely to
 * bring pictures soon, `share` of the time that computing theirs as well will take. */
static double left_to_wait(const serve_queue *q) {
    static const double share = .05, least = 5e-4; /* a shorter wait is not worth it */
    const serve_job *first = q->first;
    const size_t most = q->options.batch;
    if (first->count == 0 || q->waiting >= most || q->hurried) return 0;
    const double left = first->arrived + q->options.delay - vit_clock();
    const double pace = first->model->pace;
    if (left > 0) return left;
    if (!q->options.asking || share * pace * (double)most < least) return 0;
    const size_t asking = q->options.asking(q->options.context);
    const size_t coming = asking > q->jobs ? asking - q->jobs : 0;
    const double budget = share * pace * (double)vit_min(q->waiting + coming, most);
    const double since = first->arrived > q->freed ? first->arrived : q->freed;
    return coming == 0 || budget < least ? 0 : since + budget - vit_clock();
}

static void *run(void *context) {
    serve_queue *q = context;
#ifdef __linux__ /* where each thread has a priority; 0 means the calling thread */
    if (q->options.yields) setpriority(PRIO_PROCESS, 0, 10);
#endif
    pthread_mutex_lock(&q->lock);
    while (!q->stopping || q->first) {
        if (!q->first) {
            pthread_cond_wait(&q->changed, &q->lock);
            continue;
        }
        const double left = left_to_wait(q);
        if (left > 0) {
            const struct timespec until = serve_moment(left);
            pthread_cond_timedwait(&q->changed, &q->lock, &until);
            continue;
        }
        do_batch(q);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

vit_status serve_queue_start(serve_queue **out, const serve_queue_options *options,
                             serve_metrics *metrics, vit_error *error) {
    serve_queue *q = vit_alloc(1, sizeof *q);
    *out = NULL;
    if (!q) return vit_fail_memory(error, "the queue", sizeof *q);
    q->options = *options;
    q->metrics = metrics;
    pthread_mutex_init(&q->lock, NULL);
    serve_condition_init(&q->changed);
    const int number = options->is_here ? 0 : pthread_create(&q->thread, NULL, run, q);
    if (number != 0) {
        vit_free(q);
        return vit_fail_errno(error, number, "cannot start the thread that computes");
    }
    *out = q;
    return VIT_OK;
}

void serve_queue_hurry(serve_queue *q) {
    pthread_mutex_lock(&q->lock);
    q->hurried = true;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void serve_queue_stop(serve_queue *q) {
    if (!q) return;
    pthread_mutex_lock(&q->lock);
    q->hurried = q->stopping = true;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
    if (!q->options.is_here) pthread_join(q->thread, NULL);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    vit_free(q);
}

/* ---- the threads that wait ---- */

serve_turn serve_queue_do(serve_queue *q, serve_job *job) {
    const struct timespec until = serve_moment(q->options.timeout);
    serve_turn turn = SERVE_TURN_DONE;
    pthread_mutex_lock(&q->lock);
    if (q->waiting + weight(job) > q->options.most) {
        pthread_mutex_unlock(&q->lock);
        return SERVE_TURN_FULL;
    }
    serve_condition_init(&job->ended);
    job->arrived = vit_clock();
    job->next = NULL;
    job->started = job->done = false;
    if (!q->last)
        q->first = job;
    else
        q->last->next = job;
    q->last = job;
    q->waiting += weight(job);
    q->jobs++;
    pthread_cond_signal(&q->changed);
    while (!job->done) {
        if (q->options.is_here) {
            do_batch(q);
        } else if (job->started) {
            pthread_cond_wait(&job->ended, &q->lock);
        } else if (pthread_cond_timedwait(&job->ended, &q->lock, &until) == ETIMEDOUT &&
                   !job->started) {
            serve_job *before = NULL;
            for (serve_job *j = q->first; j != job; j = j->next) before = j;
            take_after(q, before);
            q->jobs--;
            turn = SERVE_TURN_LATE;
            break;
        }
    }
    pthread_mutex_unlock(&q->lock);
    pthread_cond_destroy(&job->ended);
    return turn;
}

size_t serve_queue_length(serve_queue *q) {
    pthread_mutex_lock(&q->lock);
    const size_t waiting = q->waiting;
    pthread_mutex_unlock(&q->lock);
    return waiting;
}

size_t serve_queue_jobs(serve_queue *q) {
    pthread_mutex_lock(&q->lock);
    const size_t jobs = q->jobs;
    pthread_mutex_unlock(&q->lock);
    return jobs;
}
