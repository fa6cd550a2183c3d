#include "vit/cli/stream/latest.h"

#include <errno.h>
#include <pthread.h>

#include "vit/base/sys.h"
#include "vit/cli/parts/interrupt.h"

struct vit_latest {
    vit_frames *frames;
    uint64_t every;
    vit_frame taken, reading; /* the caller's; the one that is read */
    vit_latest_counts counts;
    bool is_realtime, has_thread;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows, and of the counts */
    pthread_cond_t news;
    vit_frame newest;
    bool has_newest, ended;
    vit_status status;
    vit_error error;
};

static void swap(vit_frame *a, vit_frame *b) {
    const vit_frame c = *a;
    *a = *b;
    *b = c;
}

/* Reads into l->reading the next frame that is not passed over. */
static vit_status read_next(vit_latest *l, bool *more, vit_error *error) {
    for (;;) {
        const vit_status status = vit_frames_next(l->frames, &l->reading, more, error);
        if (status != VIT_OK || !*more) return status;
        pthread_mutex_lock(&l->lock);
        const bool is_wanted = l->reading.number % l->every == 0;
        l->counts.frames++;
        l->counts.passed_over += !is_wanted;
        pthread_mutex_unlock(&l->lock);
        if (is_wanted) return VIT_OK;
    }
}

static void *read_all(void *context) {
    vit_latest *l = context;
    vit_error error = {0};
    bool more = true;
    while (more) {
        const vit_status status = read_next(l, &more, &error);
        more = more && status == VIT_OK;
        pthread_mutex_lock(&l->lock);
        if (more) {
            l->counts.dropped += l->has_newest;
            swap(&l->newest, &l->reading);
            l->has_newest = true;
        }
        if (!more) {
            l->ended = true;
            l->status = status;
            l->error = error;
        }
        pthread_cond_signal(&l->news);
        pthread_mutex_unlock(&l->lock);
    }
    return NULL;
}

vit_status vit_latest_open(vit_latest **out, vit_frames *frames, uint64_t every, bool realtime,
                           vit_error *error) {
    vit_latest *l = *out = vit_alloc(1, sizeof *l);
    if (!l) return vit_fail_memory(error, "a stream", sizeof *l);
    l->frames = frames;
    l->every = every > 0 ? every : 1;
    l->is_realtime = realtime;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->news, NULL);
    if (!realtime) return VIT_OK;
    const int number = pthread_create(&l->thread, NULL, read_all, l);
    l->has_thread = number == 0;
    return number == 0 ? VIT_OK : vit_fail_errno(error, number, "no thread can be started");
}

void vit_latest_close(vit_latest *l) {
    if (!l) return;
    if (l->has_thread) pthread_join(l->thread, NULL);
    pthread_cond_destroy(&l->news);
    pthread_mutex_destroy(&l->lock);
    vit_frame_free(&l->taken);
    vit_frame_free(&l->reading);
    vit_frame_free(&l->newest);
    vit_free(l);
}

struct timespec vit_soon(double seconds) {
    const double time = vit_wall_clock() + seconds;
    struct timespec t = {.tv_sec = (time_t)time};
    t.tv_nsec = (long)((time - (double)t.tv_sec) * 1e9);
    return t;
}

static vit_status take_newest(vit_latest *l, vit_frame **frame, vit_error *error) {
    vit_status status = VIT_OK;
    pthread_mutex_lock(&l->lock);
    while (!l->has_newest && !l->ended && !vit_interrupted()) {
        const struct timespec until = vit_soon(0.1);
        pthread_cond_timedwait(&l->news, &l->lock, &until);
    }
    l->counts.dropped += l->has_newest && vit_interrupted();
    if (l->has_newest && !vit_interrupted()) {
        swap(&l->taken, &l->newest);
        l->has_newest = false;
        *frame = &l->taken;
    } else if (l->ended && l->status != VIT_OK) {
        status = vit_fail(error, l->status, "%s", l->error.message);
    }
    pthread_mutex_unlock(&l->lock);
    return status;
}

vit_status vit_latest_next(vit_latest *l, vit_frame **frame, vit_error *error) {
    bool more;
    *frame = NULL;
    if (l->is_realtime) return take_newest(l, frame, error);
    const vit_status status = read_next(l, &more, error);
    if (status == VIT_OK && more) *frame = &l->reading;
    return status;
}

vit_latest_counts vit_latest_count(vit_latest *l) {
    pthread_mutex_lock(&l->lock);
    const vit_latest_counts counts = l->counts;
    pthread_mutex_unlock(&l->lock);
    return counts;
}
