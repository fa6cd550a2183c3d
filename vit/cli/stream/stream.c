#include "vit/cli/classify/stream.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/parts/interrupt.h"
#include "vit/cli/stream/latency.h"
#include "vit/cli/stream/latest.h"

static const char *contradiction(const vit_stream_choice *c, int operands) {
    const bool any = c->frames || c->fps > 0 || c->matrix > 0 || c->realtime || c->every > 0 ||
                     c->change.given || c->ema > 0 || c->begin > 0 || c->end > 0;
    if (!c->stream)
        return any ? "--frames, --fps, --matrix, --realtime, --every, --change, --ema, --begin and "
                     "--end are for --stream"
                   : NULL;
    if (operands > 1) return "--stream reads one stream: a file, a FIFO, or standard input";
    if (c->ema >= 1) return "--ema is below 1: the frames would count nothing";
    if ((c->begin > 0) != (c->end > 0)) return "--begin P and --end P go together";
    return c->begin > 0 && c->end >= c->begin
               ? "--end is below --begin, so that an event does not begin and end by turns"
               : NULL;
}

/* An event of a class that has begun. */
typedef struct event {
    bool is_on;
    uint64_t frame;
    double time;
} event;

typedef struct stream {
    const vit_command *command;
    const vit_stream_choice *choice;
    const vit_stream_model *how;
    vit_frames *frames;
    vit_latest *latest;
    size_t classes, height, width, channels;
    uint8_t *pixels, *before; /* of the frame, and of the one that was answered last */
    float *values, *logits, *features, *smoothed, *probabilities;
    vit_unknown unknown; /* the frame's own, with --unknown */
    size_t *best, *set;
    event *events; /* [classes] */
    bool has_answered;
    uint64_t answered, unchanged, damaged;
    vit_latency latency;
    double start, last; /* when the first frame came; when the last answer was written */
    int exit_status;
    pthread_t guard; /* ends the program where a frame takes too long after an interruption */
    bool has_guard;
    pthread_mutex_t lock; /* of all this; free while a frame is computed or waited for */
    pthread_cond_t news;
    bool is_computing, has_ended;
} stream;

/* ---- opening and closing ---- */

static vit_status allocate(stream *s, vit_error *error) {
    const vit_model_info info = vit_model_describe(s->how->model);
    s->classes = info.classes;
    s->height = info.height;
    s->width = info.width;
    s->channels = info.channels;
    const size_t size = info.height * info.width * info.channels;
    s->pixels = vit_alloc(1, size);
    s->before = vit_alloc(1, size);
    s->values = vit_alloc(size, sizeof *s->values);
    s->logits = vit_alloc(s->classes, sizeof *s->logits);
    s->features = vit_alloc(info.features, sizeof *s->features);
    s->smoothed = vit_alloc(s->classes, sizeof *s->smoothed);
    s->probabilities = vit_alloc(s->classes, sizeof *s->probabilities);
    s->best = vit_alloc(s->how->top, sizeof *s->best);
    s->set = vit_alloc(s->classes, sizeof *s->set);
    s->events = vit_alloc(s->classes, sizeof *s->events);
    if (s->pixels && s->before && s->values && s->logits && s->features && s->smoothed &&
        s->probabilities && s->best && s->set && s->events)
        return VIT_OK;
    return vit_fail_memory(error, "frames", size * sizeof *s->values);
}

static void close_stream(stream *s) {
    void *const arrays[] = {s->pixels,        s->before, s->values, s->logits, s->smoothed,
                            s->probabilities, s->best,   s->set,    s->events, s->features};
    vit_latest_close(s->latest);
    vit_frames_close(s->frames);
    for (size_t i = 0; i < VIT_COUNT(arrays); i++) vit_free(arrays[i]);
}

/* ---- events ---- */

static void add_time(vit_json_out *json, const char *key, double time) {
    if (!isnan(time)) vit_json_number(json, key, time);
}

static bool write_event(stream *s, const char *what, size_t class, const vit_frame *frame) {
    const event *e = &s->events[class];
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "event", what);
    vit_json_text(&json, "label", vit_model_label(s->how->model, class));
    vit_json_count(&json, "frame", frame->number);
    add_time(&json, "time", frame->time);
    vit_json_float(&json, "probability", s->probabilities[class]);
    if (e->is_on) vit_json_count(&json, "begin_frame", e->frame);
    if (e->is_on) add_time(&json, "begin_time", e->time);
    vit_json_close(&json, '}');
    return vit_print_json(s->command, &json);
}

static bool write_events(stream *s, const vit_frame *frame) {
    bool fine = true;
    for (size_t i = 0; i < s->classes && s->choice->begin > 0 && fine; i++) {
        const double p = (double)s->probabilities[i];
        event *e = &s->events[i];
        if (e->is_on && p < s->choice->end) {
            fine = write_event(s, "end", i, frame);
            e->is_on = false;
        } else if (!e->is_on && p >= s->choice->begin) {
            fine = write_event(s, "begin", i, frame);
            *e = (event){true, frame->number, frame->time};
        }
    }
    return fine;
}

/* ---- a frame ---- */

/* Whether the frame differs enough from the one that was answered last. */
static bool has_changed(const stream *s) {
    const size_t size = s->height * s->width * s->channels;
    uint64_t sum = 0;
    if (!s->choice->change.given || !s->has_answered) return true;
    for (size_t i = 0; i < size; i++)
        sum += (uint64_t)(s->pixels[i] > s->before[i] ? s->pixels[i] - s->before[i]
                                                      : s->before[i] - s->pixels[i]);
    return (double)sum > s->choice->change.value * 255 * (double)size;
}

static void smooth(stream *s) {
    const float kept = (float)s->choice->ema;
    for (size_t i = 0; i < s->classes; i++)
        s->smoothed[i] = s->has_answered && kept > 0
                             ? kept * s->smoothed[i] + (1 - kept) * s->logits[i]
                             : s->logits[i];
}

static vit_status compute(stream *s, vit_frame *frame, bool *changed, const char **warning,
                          vit_error *error) {
    vit_picture picture;
    vit_status status = vit_frame_picture(&picture, s->frames, frame, error);
    if (status == VIT_OK)
        status =
            vit_prepare_values(s->how->session, &picture, 0, s->pixels, s->values, warning, error);
    if (status != VIT_OK) return status;
    *changed = has_changed(s);
    if (!*changed) return VIT_OK;
    status = vit_embed_normalized(s->how->session, s->values, 1, s->logits, s->features, error);
    if (status == VIT_OK && s->how->coverage->unknown)
        status = vit_coverages->test(s->how->coverage, s->how->model, s->logits, s->features,
                                     &s->unknown, error);
    if (status != VIT_OK) return status;
    smooth(s);
    vit_model_probabilities(s->how->model, s->smoothed, s->probabilities);
    vit_top_k(s->probabilities, s->classes, s->how->top, s->best);
    return VIT_OK;
}

/* The guard may write the closing line meanwhile, and end the program. */
static vit_status compute_unlocked(stream *s, vit_frame *frame, bool *changed, const char **warning,
                                   vit_error *error) {
    s->is_computing = true;
    pthread_mutex_unlock(&s->lock);
    const vit_status status = compute(s, frame, changed, warning, error);
    pthread_mutex_lock(&s->lock);
    s->is_computing = false;
    return status;
}

static bool write_frame(stream *s, const vit_frame *frame, const vit_error *failure,
                        const char *warning) {
    vit_answered a = {.name = frame->name,
                      .is_frame = true,
                      .frame = frame->number,
                      .time = frame->time,
                      .failure = failure,
                      .warning = warning,
                      .model = s->how->model,
                      .probabilities = s->probabilities,
                      .logits = s->how->logits ? s->smoothed : NULL,
                      .classes = s->classes,
                      .top = s->how->top,
                      .best = s->best,
                      .coverage = s->how->coverage_asked,
                      .set = s->set,
                      .unknown = s->how->coverage->unknown ? &s->unknown : NULL,
                      .thresholds = s->how->coverage->thresholds};
    if (!failure && s->how->coverage->rule)
        a.set_count = vit_coverages->set(s->how->coverage, s->probabilities, s->set);
    return vit_answer_json(s->command, &a);
}

/* Answers a frame. False: standard output does not take more. */
static bool answer_frame(stream *s, vit_frame *frame) {
    const char *warning = NULL;
    vit_error error = frame->problem;
    bool changed = true;
    if (s->start <= 0) s->start = frame->arrived;
    if (error.status == VIT_OK)
        error.status = compute_unlocked(s, frame, &changed, &warning, &error);
    if (error.status != VIT_OK) {
        s->damaged++;
        s->exit_status = VIT_EXIT_FAILED;
        return write_frame(s, frame, &error, NULL);
    }
    if (!changed) {
        s->unchanged++;
        return true;
    }
    uint8_t *const other = s->before;
    s->before = s->pixels;
    s->pixels = other;
    s->has_answered = true;
    s->answered++;
    const bool fine = write_frame(s, frame, NULL, warning) && write_events(s, frame);
    s->last = vit_clock();
    vit_latency_add(&s->latency, s->last - frame->arrived);
    return fine && !ferror(stdout);
}

/* ---- the end ---- */

/* Events that have not ended, and the closing line. */
static void write_closing(stream *s, const vit_error *why) {
    const vit_latest_counts counts = vit_latest_count(s->latest);
    const double seconds = s->last > s->start ? s->last - s->start : 0;
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "event", "done");
    vit_json_text(&json, "stream", vit_frames_kind(s->frames));
    vit_json_count(&json, "frames", counts.frames);
    vit_json_count(&json, "answered", s->answered);
    vit_json_count(&json, "passed_over", counts.passed_over);
    vit_json_count(&json, "unchanged", s->unchanged);
    vit_json_count(&json, "dropped", counts.dropped + s->is_computing);
    vit_json_count(&json, "damaged", s->damaged);
    vit_json_number(&json, "seconds", seconds);
    vit_json_number(&json, "frames_per_second", seconds > 0 ? (double)s->answered / seconds : NAN);
    vit_latency_json(&json, "latency_ms", &s->latency);
    vit_json_bool(&json, "interrupted", vit_interrupted());
    if (why) vit_json_text(&json, "error", why->message);
    vit_json_close(&json, '}');
    vit_print_json(s->command, &json);
}

static void end_events(stream *s) {
    for (size_t i = 0; i < s->classes && s->events; i++) {
        vit_json_out json = {0};
        if (!s->events[i].is_on) continue;
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "event", "end");
        vit_json_text(&json, "label", vit_model_label(s->how->model, i));
        vit_json_count(&json, "begin_frame", s->events[i].frame);
        add_time(&json, "begin_time", s->events[i].time);
        vit_json_bool(&json, "stream_ended", true);
        vit_json_close(&json, '}');
        if (!vit_print_json(s->command, &json)) return;
    }
}

/* Once the program is interrupted, the frame that is computed has this long to be answered: the
 * alarm of vit_interrupt_ends_within comes after a second, and knows no closing line. */
#define GRACE 0.6

static void *end_in_time(void *context) {
    stream *s = context;
    double interrupted = 0;
    pthread_mutex_lock(&s->lock);
    while (!s->has_ended) {
        const struct timespec until = vit_soon(0.1);
        pthread_cond_timedwait(&s->news, &s->lock, &until);
        if (vit_interrupted() && interrupted <= 0) interrupted = vit_clock();
        if (interrupted <= 0 || vit_clock() - interrupted < GRACE || !s->is_computing) continue;
        end_events(s);
        write_closing(s, NULL);
        fflush(stdout);
        _exit(128 + vit_interrupted());
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static vit_status start_guard(stream *s, vit_error *error) {
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->news, NULL);
    pthread_mutex_lock(&s->lock);
    const int number = pthread_create(&s->guard, NULL, end_in_time, s);
    s->has_guard = number == 0;
    return number == 0 ? VIT_OK : vit_fail_errno(error, number, "no thread can be started");
}

static void end_guard(stream *s) {
    s->has_ended = true;
    pthread_cond_signal(&s->news);
    pthread_mutex_unlock(&s->lock);
    if (s->has_guard) pthread_join(s->guard, NULL);
    pthread_cond_destroy(&s->news);
    pthread_mutex_destroy(&s->lock);
}

static vit_status next_unlocked(stream *s, vit_frame **frame, vit_error *error) {
    pthread_mutex_unlock(&s->lock);
    const vit_status status = vit_latest_next(s->latest, frame, error);
    pthread_mutex_lock(&s->lock);
    return status;
}

static vit_status answer_all(stream *s, vit_error *error) {
    for (;;) {
        vit_frame *frame;
        const vit_status status = next_unlocked(s, &frame, error);
        if (status != VIT_OK || !frame) return status;
        if (!answer_frame(s, frame))
            return vit_fail(error, VIT_ERROR_IO, "standard output takes no more answers");
    }
}

static int run(const vit_command *command, const vit_stream_choice *choice,
               const vit_stream_model *how, const char *path) {
    const vit_frames_options options = {.path = path,
                                        .raw = choice->frames,
                                        .rate = choice->fps,
                                        .matrix = (vit_yuv_matrix)choice->matrix};
    stream s = {.command = command, .choice = choice, .how = how};
    vit_error error;
    vit_status status = start_guard(&s, &error);
    if (status == VIT_OK) status = allocate(&s, &error);
    if (status == VIT_OK) status = vit_frames_open(&s.frames, &options, &error);
    if (status == VIT_OK)
        status = vit_latest_open(&s.latest, s.frames, choice->every, choice->realtime, &error);
    if (status == VIT_OK) status = answer_all(&s, &error);
    if (status != VIT_OK) vit_say(command, "%s", error.message);
    if (s.latest) {
        end_events(&s);
        write_closing(&s, status != VIT_OK ? &error : NULL);
    }
    end_guard(&s);
    close_stream(&s);
    if (vit_interrupted()) return 128 + vit_interrupted();
    return status == VIT_OK ? s.exit_status : VIT_EXIT_FAILED;
}

const vit_stream_guest vit_streams_of_frames = {contradiction, run};
