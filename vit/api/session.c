#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/ops/loss.h"
#include <math.h>
#include <string.h>

struct vit_session {
    const vit_model *model;
    vit_rounded rounded;
    vit_inference *inference;
    int threads;
    float table[3][256]; /* normalised value of a byte, per channel */
    float *features;     /* [vit_config_features] of the last picture */
    const char *warning; /* about that picture, or NULL */
    bool answered;
};

vit_status vit_choose(const vit_kernels **kernels, int *count, const char *cpu, int threads,
                      vit_precision precision, vit_error *error) {
    vit_cpu highest = VIT_CPU_AVX512BF16;
    if (cpu && !vit_cpu_parse(cpu, &highest))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "instruction set \"%s\", expected scalar, neon, avx2, avx512 or avx512bf16",
                        cpu);
    if (threads < 0 || threads > 1024)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%d threads, expected 0 (all) to 1024", threads);
    if (precision != VIT_PRECISION_F32 && precision != VIT_PRECISION_BF16)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "precision %d, expected f32 or bf16", precision);
    *kernels = vit_kernels_choose(highest);
    *count = vit_cpu_count();
    if (threads > 0 && threads < *count) *count = threads; /* more would wait for each other */
    return vit_precision_check(precision, *kernels, error);
}

vit_status vit_session_new(vit_session **out, const vit_model *model,
                           const vit_session_options *options, vit_error *error) {
    const vit_session_options best = {0}, *o = options ? options : &best;
    const vit_kernels *kernels;
    int threads;
    *out = NULL;
    vit_status status = vit_choose(&kernels, &threads, o->cpu, o->threads, o->precision, error);
    if (status != VIT_OK) return status;
    vit_session *s = vit_alloc(1, sizeof *s);
    if (!s) return vit_fail_memory(error, "a session", sizeof *s);
    s->model = model;
    s->threads = threads;
    s->features = vit_alloc(vit_config_features(&model->file.config), sizeof(float));
    vit_normalize_table(s->table, &model->file.preprocessing, model->file.config.channels);
    if (!s->features) status = vit_fail_memory(error, "a session", sizeof *s);
    const vit_exec exec = {.kernels = kernels, .threads = threads, .precision = o->precision};
    if (status == VIT_OK) status = vit_rounded_new(&s->rounded, model, &exec, error);
    if (status == VIT_OK)
        status = vit_inference_new(&s->inference, s->rounded.network, kernels, threads, error);
    if (status == VIT_OK)
        *out = s;
    else
        vit_session_free(s);
    return status;
}

void vit_session_free(vit_session *s) {
    if (!s) return;
    vit_inference_free(s->inference);
    vit_rounded_free(&s->rounded);
    vit_free(s->features);
    vit_free(s);
}

/* ---- prepared pictures ---- */

typedef struct prepared {
    const vit_session *session;
    const uint8_t *images;
} prepared;

static vit_status normalise(float *images, size_t first, size_t count, void *context,
                            vit_error *error) {
    (void)error;
    const prepared *p = context;
    const vit_config *c = &p->session->model->file.config;
    const size_t pixels = c->height * c->width, bytes = pixels * c->channels;
    const uint8_t *pixel = p->images + first * bytes;
    for (size_t i = 0; i < count * pixels; i++, pixel += c->channels)
        for (size_t channel = 0; channel < c->channels; channel++)
            *images++ = p->session->table[channel][pixel[channel]];
    return VIT_OK;
}

/* count > 0 */
static vit_status run_prepared(vit_session *s, const uint8_t *images, size_t count, float *logits,
                               float *features, vit_error *error) {
    const size_t width = vit_config_features(&s->model->file.config);
    const vit_fpmode host = vit_fpmode_enter();
    prepared p = {s, images};
    const vit_status status =
        vit_inference_run(s->inference, logits, features, normalise, &p, count, error);
    vit_fpmode_leave(host);
    s->answered = status == VIT_OK;
    s->warning = NULL;
    if (s->answered) memcpy(s->features, features + (count - 1) * width, width * sizeof *features);
    return status;
}

vit_status vit_classify_prepared(vit_session *s, const uint8_t *images, size_t count, float *logits,
                                 vit_error *error) {
    const size_t width = vit_config_features(&s->model->file.config);
    if (count == 0) return VIT_OK;
    float *features = vit_alloc(count, width * sizeof *features);
    if (!features) return vit_fail_memory(error, "features", count * width * sizeof *features);
    const vit_status status = run_prepared(s, images, count, logits, features, error);
    vit_free(features);
    return status;
}

const char *vit_session_warning(const vit_session *s) {
    return s->warning;
}

vit_status vit_session_features(const vit_session *s, float *features, vit_error *error) {
    if (!s->answered)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "the session has classified no picture yet");
    memcpy(features, s->features, vit_config_features(&s->model->file.config) * sizeof *features);
    return VIT_OK;
}

/* ---- pictures as people have them ---- */

/* Frees the image. */
static vit_status prepare(vit_image *ready, const vit_session *s, vit_image *image,
                          const char *name, vit_error *error) {
    const vit_config *c = &s->model->file.config;
    *ready = (vit_image){0};
    const vit_fpmode host = vit_fpmode_enter();
    const vit_status status = vit_preprocess(ready, image, &s->model->file.preprocessing, c->height,
                                             c->width, c->channels, error);
    vit_fpmode_leave(host);
    vit_image_free(image);
    return status == VIT_OK ? status : vit_fail_prefix(error, status, name);
}

/* Frees the image. */
static vit_status classify(vit_session *s, vit_image *image, const char *name, float *logits,
                           vit_error *error) {
    vit_image ready;
    vit_status status = prepare(&ready, s, image, name, error);
    if (status != VIT_OK) return status;
    status = vit_classify_prepared(s, ready.pixels, 1, logits, error);
    s->warning = ready.warning;
    vit_image_free(&ready);
    return status;
}

vit_status vit_classify_file(vit_session *s, const char *path, float *logits, vit_error *error) {
    vit_image image;
    const vit_status status = vit_image_load(&image, path, error);
    return status == VIT_OK ? classify(s, &image, path, logits, error) : status;
}

vit_status vit_classify_memory(vit_session *s, const void *bytes, size_t size, const char *name,
                               float *logits, vit_error *error) {
    vit_image image;
    const vit_status status = vit_image_decode(&image, bytes, size, name, error);
    return status == VIT_OK ? classify(s, &image, name, logits, error) : status;
}

vit_status vit_classify_pixels(vit_session *s, const uint8_t *pixels, size_t width, size_t height,
                               size_t channels, size_t stride, float *logits, vit_error *error) {
    vit_image image;
    const vit_status status =
        vit_image_from_pixels(&image, pixels, width, height, channels, stride, error);
    return status == VIT_OK ? classify(s, &image, "the picture", logits, error) : status;
}

vit_status vit_embed_file(vit_session *s, const char *path, float *features, vit_error *error) {
    const vit_picture picture = {.name = path};
    vit_answer answer;
    const size_t classes = s->model->file.config.classes;
    float *logits = vit_alloc(classes, sizeof *logits);
    if (!logits) return vit_fail_memory(error, "an answer", classes * sizeof *logits);
    vit_status status = vit_classify_many(s, &picture, 1, logits, features, &answer, error);
    vit_free(logits);
    if (status != VIT_OK || answer.error.status == VIT_OK) return status;
    if (error) *error = answer.error;
    return answer.error.status;
}

/* ---- many pictures ---- */

typedef struct many {
    const vit_session *session;
    const vit_picture *pictures;
    vit_answer *answers;
    uint8_t *pixels; /* [count][bytes] */
    size_t bytes;    /* of a prepared picture */
} many;

static void prepare_task(size_t index, int thread, void *context) {
    (void)thread;
    const many *m = context;
    const vit_picture *p = &m->pictures[index];
    vit_answer *a = &m->answers[index];
    vit_image image, ready = {0};
    *a = (vit_answer){0};
    vit_status status = p->bytes ? vit_image_decode(&image, p->bytes, p->size, p->name, &a->error)
                                 : vit_image_load(&image, p->name, &a->error);
    if (status == VIT_OK) status = prepare(&ready, m->session, &image, p->name, &a->error);
    a->error.status = status;
    if (status != VIT_OK) return;
    a->warning = ready.warning;
    memcpy(m->pixels + index * m->bytes, ready.pixels, m->bytes);
    vit_image_free(&ready);
}

/* The pictures that could be read, moved to the front; how many. */
static size_t gather(const many *m, size_t count) {
    size_t good = 0;
    for (size_t i = 0; i < count; i++) {
        if (m->answers[i].error.status != VIT_OK) continue;
        memmove(m->pixels + good * m->bytes, m->pixels + i * m->bytes, m->bytes);
        good++;
    }
    return good;
}

/* Moves the first `good` rows of values to where their pictures are; NaN elsewhere. */
static void scatter(float *values, size_t width, const vit_answer *answers, size_t count,
                    size_t good) {
    for (size_t i = count; i-- > 0;) {
        float *row = values + i * width;
        if (answers[i].error.status == VIT_OK)
            memmove(row, values + --good * width, width * sizeof *row);
        else
            for (size_t j = 0; j < width; j++) row[j] = NAN;
    }
}

static vit_status answer_many(vit_session *s, const many *m, size_t count, float *logits,
                              float *features, vit_error *error) {
    const vit_config *c = &s->model->file.config;
    vit_parallel(s->threads, count, prepare_task, (void *)m);
    const size_t good = gather(m, count);
    const vit_status status =
        good > 0 ? run_prepared(s, m->pixels, good, logits, features, error) : VIT_OK;
    if (status != VIT_OK) return status;
    scatter(logits, c->classes, m->answers, count, good);
    scatter(features, vit_config_features(c), m->answers, count, good);
    for (size_t i = 0; i < count; i++)
        if (m->answers[i].error.status == VIT_OK) s->warning = m->answers[i].warning;
    return VIT_OK;
}

vit_status vit_classify_many(vit_session *s, const vit_picture *pictures, size_t count,
                             float *logits, float *features, vit_answer *answers,
                             vit_error *error) {
    const vit_config *c = &s->model->file.config;
    const size_t width = vit_config_features(c) * sizeof(float);
    many m = {s, pictures, answers, NULL, c->height * c->width * c->channels};
    float *own = features ? NULL : vit_alloc(count, width);
    m.pixels = vit_alloc(count, m.bytes);
    const vit_status status =
        m.pixels && (features || own)
            ? answer_many(s, &m, count, logits, features ? features : own, error)
            : vit_fail_memory(error, "pictures", count * (m.bytes + width));
    vit_free(m.pixels);
    vit_free(own);
    return status;
}

/* ---- logits to answers ---- */

void vit_probabilities(const float *logits, size_t classes, float *probabilities) {
    const vit_fpmode host = vit_fpmode_enter();
    vit_softmax(probabilities, logits, classes);
    vit_fpmode_leave(host);
}

/* Whether a comes before b; NaN comes last. */
static bool before(const float *values, size_t a, size_t b) {
    const float x = values[a], y = values[b];
    if (x != x || y != y) return y != y && (x == x || a < b);
    return x > y || (x == y && a < b);
}

void vit_top_k(const float *values, size_t count, size_t k, size_t *indices) {
    for (size_t i = 0, held = 0; i < count && k > 0; i++) {
        size_t place = held < k ? held++ : k;
        while (place > 0 && before(values, i, indices[place - 1])) {
            if (place < k) indices[place] = indices[place - 1];
            place--;
        }
        if (place < k) indices[place] = i;
    }
}
