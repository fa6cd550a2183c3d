/* Sessions: pictures -> logits, features, and the last states of tokens. */
#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/base/parallel.h"
#include "vit/few_shot.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/ops/loss.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

vit_status vit_session_new(vit_session **out, const vit_model *model,
                           const vit_session_options *options, vit_error *error) {
    VIT_ENTRY;
    const vit_session_options best = {0}, *o = options ? options : &best;
    const vit_network *network;
    vit_exec exec;
    *out = NULL;
    vit_status status = vit_model_needs(model, false, error);
    if (status == VIT_OK)
        status = vit_model_exec(&exec, &network, model, o->cpu, o->threads, o->precision, o->bf16,
                                error);
    if (status != VIT_OK) return status;
    vit_session *s = vit_alloc(1, sizeof *s);
    if (!s) return vit_fail_memory(error, "a session", sizeof *s);
    s->model = model;
    s->network = network;
    s->kernels = exec.kernels;
    s->threads = exec.threads;
    s->features = vit_alloc(vit_config_embedding(&model->file.config), sizeof(float));
    vit_normalize_table(s->table, &model->file.preprocessing, model->file.config.channels);
    status = s->features
                 ? vit_inference_new(&s->inference, network, exec.kernels, exec.threads, error)
                 : vit_fail_memory(error, "a session", sizeof *s);
    if (status == VIT_OK)
        *out = s;
    else
        vit_session_free(s);
    return status;
}

void vit_session_free(vit_session *s) {
    if (!s) return;
    vit_inference_free(s->inference);
    vit_inference_free(s->tokens);
    vit_free(s->token_network);
    if (s->explainer) s->explainer_free(s->explainer);
    vit_free(s->features);
    vit_free(s);
}

/* ---- prepared pictures ---- */

/* The picture answered last, for vit_session_features and vit_session_warning. */
static void remember(vit_session *s, const float *features, const char *warning) {
    memcpy(s->features, features,
           vit_config_embedding(&s->model->file.config) * sizeof *s->features);
    s->warning = warning;
    s->answered = true;
}

/* What a source takes pictures from: bytes of prepared ones, or their normalised values. */
typedef struct given {
    const vit_session *session;
    const uint8_t *bytes;
    const float *values;
} given;

static vit_status given_source(float *images, size_t first, size_t count, void *context,
                               vit_error *error) {
    (void)error;
    const given *g = context;
    const vit_config *c = &g->session->model->file.config;
    const size_t pixels = c->height * c->width, at = first * pixels * c->channels;
    if (g->bytes)
        vit_normalize(images, g->bytes + at, count * pixels, c->channels, g->session->table[0]);
    else
        memcpy(images, g->values + at, count * pixels * c->channels * sizeof *images);
    return VIT_OK;
}

/* Answers `count` pictures from the source. features may be NULL. */
static vit_status embed(vit_session *s, vit_image_source *source, void *context, size_t count,
                        float *logits, float *features, vit_error *error) {
    const vit_config *c = &s->model->file.config;
    const size_t classes = c->classes, width = vit_config_embedding(c);
    if (count == 0) return VIT_OK;
    float *own = features ? NULL : vit_alloc(count, width * sizeof *own);
    if (!features && !own) return vit_fail_memory(error, "features", count * width * sizeof *own);
    float *rows = features ? features : own;
    vit_status status =
        vit_inference_run(s->inference, logits, rows, source, context, count, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        status = vit_check_answer(logits + i * classes, classes, rows + i * width, width, error);
        if (status == VIT_OK || count == 1) continue;
        char name[64];
        snprintf(name, sizeof name, "picture %zu of %zu", i + 1, count);
        vit_fail_prefix(error, status, name);
    }
    if (status == VIT_OK) remember(s, rows + (count - 1) * width, NULL);
    vit_free(own);
    return status;
}

vit_status vit_embed_prepared(vit_session *s, const uint8_t *images, size_t count, float *logits,
                              float *features, vit_error *error) {
    VIT_ENTRY;
    return embed(s, given_source, &(given){s, images, NULL}, count, logits, features, error);
}

vit_status vit_embed_normalized(vit_session *s, const float *images, size_t count, float *logits,
                                float *features, vit_error *error) {
    VIT_ENTRY;
    return embed(s, given_source, &(given){s, NULL, images}, count, logits, features, error);
}

vit_status vit_classify_prepared(vit_session *s, const uint8_t *images, size_t count, float *logits,
                                 vit_error *error) {
    VIT_ENTRY;
    return vit_embed_prepared(s, images, count, logits, NULL, error);
}

const char *vit_session_warning(const vit_session *s) {
    return s->warning;
}

vit_status vit_session_features(const vit_session *s, float *features, vit_error *error) {
    VIT_ENTRY;
    if (!s->answered)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "the session has classified no picture yet");
    memcpy(features, s->features, vit_config_embedding(&s->model->file.config) * sizeof *features);
    return VIT_OK;
}

/* ---- pictures that are not prepared yet ---- */

/* Several pictures at work. */
typedef struct many {
    const vit_session *session;
    const vit_picture *pictures;
    vit_answer *answers;
    vit_image *ready; /* [count] prepared pictures; pixels NULL: not yet, or that failed */
    bool all_ready;   /* they were all prepared before the forward pass */
} many;

static void prepare_task(size_t index, int thread, void *context) {
    (void)thread;
    const many *m = context;
    const vit_picture *p = &m->pictures[index];
    vit_answer *a = &m->answers[index];
    *a = (vit_answer){0};
    const vit_status status = vit_model_prepare(&m->ready[index], m->session->model,
                                                m->session->kernels, p, 0, &a->error);
    a->error.status = status;
    a->warning = status == VIT_OK ? m->ready[index].warning : NULL;
}

/* In place of a picture that could not be prepared the network gets zeros; its answer is not used.
 */
static vit_status picture_source(float *images, size_t first, size_t count, void *context,
                                 vit_error *error) {
    (void)error;
    const many *m = context;
    const vit_config *c = &m->session->model->file.config;
    const size_t values = c->height * c->width * c->channels;
    for (size_t i = first; i < first + count; i++, images += values) {
        if (!m->all_ready) prepare_task(i, 0, context);
        if (m->ready[i].pixels)
            vit_normalize_prepared(images, &m->ready[i], &m->session->model->file.preprocessing,
                                   m->session->table[0]);
        else
            memset(images, 0, values * sizeof *images);
        vit_image_free(&m->ready[i]);
    }
    return VIT_OK;
}

static vit_status answer_picture(vit_session *s, const vit_picture *p, float *logits,
                                 float *features, vit_error *error) {
    vit_answer answer;
    const vit_status status = vit_classify_many(s, p, 1, logits, features, &answer, error);
    if (status != VIT_OK || answer.error.status == VIT_OK) return status;
    if (error) *error = answer.error;
    return answer.error.status;
}

vit_status vit_classify_file(vit_session *s, const char *path, float *logits, vit_error *error) {
    VIT_ENTRY;
    return answer_picture(s, &(vit_picture){.name = path}, logits, NULL, error);
}

vit_status vit_embed_file(vit_session *s, const char *path, float *features, vit_error *error) {
    VIT_ENTRY;
    return answer_picture(s, &(vit_picture){.name = path}, NULL, features, error);
}

vit_status vit_classify_memory(vit_session *s, const void *bytes, size_t size, const char *name,
                               float *logits, vit_error *error) {
    VIT_ENTRY;
    const vit_picture picture = {
        .name = name, .bytes = bytes ? bytes : "", .size = bytes ? size : 0};
    return answer_picture(s, &picture, logits, NULL, error);
}

vit_status vit_prepare_values(const vit_session *s, const vit_picture *picture, size_t most_pixels,
                              uint8_t *pixels, float *values, const char **warning,
                              vit_error *error) {
    VIT_ENTRY;
    const vit_config *c = &s->model->file.config;
    vit_image ready;
    const vit_status status = vit_model_prepare(&ready, s->model, s->kernels, picture,
                                                picture->bytes ? most_pixels : 0, error);
    if (status != VIT_OK) return status;
    if (pixels) memcpy(pixels, ready.pixels, c->height * c->width * c->channels);
    if (values) vit_normalize_prepared(values, &ready, &s->model->file.preprocessing, s->table[0]);
    *warning = ready.warning;
    vit_image_free(&ready);
    return VIT_OK;
}

vit_status vit_prepare_memory(const vit_session *s, const void *bytes, size_t size,
                              const char *name, size_t most_pixels, uint8_t *out,
                              const char **warning, vit_error *error) {
    VIT_ENTRY;
    const vit_picture picture = {
        .name = name, .bytes = bytes ? bytes : "", .size = bytes ? size : 0};
    return vit_prepare_values(s, &picture, most_pixels, out, NULL, warning, error);
}

vit_status vit_classify_pixels(vit_session *s, const uint8_t *pixels, size_t width, size_t height,
                               size_t channels, size_t stride, float *logits, vit_error *error) {
    VIT_ENTRY;
    const vit_picture picture = {.name = "the picture",
                                 .pixels = pixels,
                                 .width = width,
                                 .height = height,
                                 .channels = channels,
                                 .stride = stride};
    if (!pixels) return vit_fail(error, VIT_ERROR_ARGUMENT, "pixels: the pointer is NULL");
    return answer_picture(s, &picture, logits, NULL, error);
}

/* ---- many pictures ---- */

static void fill_nan(float *values, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = NAN;
}

/* Each slice of the batch prepares its own pictures, so that some threads decode while others
 * compute. Fewer pictures than threads would leave threads idle; they are all prepared first. */
vit_status vit_classify_many(vit_session *s, const vit_picture *pictures, size_t count,
                             float *logits, float *features, vit_answer *answers,
                             vit_error *error) {
    VIT_ENTRY;
    const vit_config *c = &s->model->file.config;
    const size_t classes = c->classes, width = vit_config_embedding(c);
    float *own_features = features ? NULL : vit_alloc(count, width * sizeof *features);
    float *own_logits = logits ? NULL : vit_alloc(count, classes * sizeof *logits);
    float *rows = features ? features : own_features, *outputs = logits ? logits : own_logits;
    many m = {s, pictures, answers, vit_alloc(count, sizeof *m.ready), count < (size_t)s->threads};
    vit_status status = VIT_OK;
    if (!m.ready || !rows || !outputs)
        status = vit_fail_memory(error, "pictures",
                                 count * (sizeof *m.ready + (classes + width) * sizeof(float)));
    if (status == VIT_OK && m.all_ready) vit_parallel(s->threads, count, prepare_task, &m);
    if (status == VIT_OK)
        status = vit_inference_run(s->inference, outputs, rows, picture_source, &m, count, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        vit_answer *a = &answers[i];
        float *output = outputs + i * classes, *row = rows + i * width;
        if (a->error.status == VIT_OK &&
            vit_check_answer(output, classes, row, width, &a->error) != VIT_OK)
            vit_fail_prefix(&a->error, a->error.status, pictures[i].name);
        if (a->error.status == VIT_OK) {
            remember(s, row, a->warning);
            continue;
        }
        a->warning = NULL;
        fill_nan(output, classes);
        fill_nan(row, width);
    }
    for (size_t i = 0; m.ready && i < count; i++) vit_image_free(&m.ready[i]);
    vit_free(m.ready);
    vit_free(own_features);
    vit_free(own_logits);
    return status;
}

/* ---- the last states of all tokens, by the same network without pooling and head ---- */

/* The network whose features are all tokens. The final norm is of each of them, unless it is one of
 * their mean. */
static vit_network without_pooling(const vit_network *n) {
    vit_network all = *n;
    const vit_pool_row *pool = &vit_pools[n->config.pool];
    all.config.final_norm = n->config.final_norm && (!pool->choice || n->config.norm_before_pool);
    all.config.pool = VIT_POOL_TOKENS;
    all.config.head = VIT_HEAD_NONE;
    return all;
}

/* Makes what a session needs for the first call. */
static vit_status open_tokens(vit_session *s, vit_error *error) {
    if (s->tokens) return VIT_OK;
    s->token_network = vit_alloc(1, sizeof *s->token_network);
    if (!s->token_network) return vit_fail_memory(error, "a session", sizeof *s->token_network);
    *s->token_network = without_pooling(s->network);
    return vit_inference_new(&s->tokens, s->token_network, s->kernels, s->threads, error);
}

static void check_tokens(const many *m, float *tokens, size_t width, size_t count) {
    for (size_t i = 0; i < count; i++) {
        vit_answer *a = &m->answers[i];
        float *row = tokens + i * width;
        if (a->error.status == VIT_OK && vit_check_answer(NULL, 0, row, width, &a->error) != VIT_OK)
            vit_fail_prefix(&a->error, a->error.status, m->pictures[i].name);
        if (a->error.status != VIT_OK) fill_nan(row, width);
        if (a->error.status != VIT_OK) a->warning = NULL;
    }
}

vit_status vit_embed_tokens(vit_session *s, const vit_picture *pictures, size_t count,
                            float *tokens, vit_answer *answers, vit_error *error) {
    VIT_ENTRY;
    many m = {s, pictures, answers, vit_alloc(count, sizeof *m.ready), .all_ready = true};
    vit_status status = m.ready ? open_tokens(s, error)
                                : vit_fail_memory(error, "pictures", count * sizeof *m.ready);
    if (status == VIT_OK) vit_parallel(s->threads, count, prepare_task, &m);
    if (status == VIT_OK)
        status = vit_inference_run(s->tokens, NULL, tokens, picture_source, &m, count, error);
    if (status == VIT_OK)
        check_tokens(&m, tokens, vit_inference_width(&s->token_network->config), count);
    for (size_t i = 0; m.ready && i < count; i++) vit_image_free(&m.ready[i]);
    vit_free(m.ready);
    return status;
}

/* ---- logits to answers ---- */

void vit_probabilities(const float *logits, size_t classes, float *probabilities) {
    VIT_ENTRY;
    vit_softmax(probabilities, logits, classes);
}

void vit_model_probabilities(const vit_model *model, const float *logits, float *probabilities) {
    VIT_ENTRY;
    vit_model_scores(model, model->file.scoring, logits, probabilities);
}

void vit_model_scores(const vit_model *model, vit_scoring scoring, const float *logits,
                      float *scores) {
    VIT_ENTRY;
    vit_scores(scores, logits, model->file.config.classes, vit_model_temperature(model), scoring);
}
