/* Reading: pictures, or texts, answered with texts. */
#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/base/size.h"
#include "vit/image/codec/decode.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/model/write.h"
#include "vit/texts.h"
#include <string.h>

/* Tokens of the samples that are answered at once. */
#define ROWS_AT_ONCE 1536

struct vit_text_session {
    const vit_model *model;
    const vit_kernels *kernels;
    vit_text_writer *writer;
    size_t samples;    /* at once */
    uint32_t number;   /* of the next text, for its random numbers */
    float *images;     /* [samples][height][width][channels] */
    vit_ids *sources;  /* [samples] */
    uint32_t *ids;     /* [samples][length] of the sources */
    vit_written *done; /* [samples] */
    size_t *places;    /* [samples] their answers */
    float table[3][256];
};

/* ---- sessions ---- */

vit_status vit_model_needs(const vit_model *m, bool reads, vit_error *error) {
    if (vit_config_reads(&m->file.config) == reads) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    reads ? "the model names classes and writes no texts: it is one for "
                            "vit-classify"
                          : "the model writes texts and knows no classes: it is one for vit-read");
}

vit_text_info vit_text_describe(const vit_model *m) {
    const vit_config *c = &m->file.config;
    return (vit_text_info){vit_config_reads(c), vit_config_sees(c), c->stem == VIT_STEM_TOKENS};
}

static vit_early_stopping stopping_of(vit_stop stop) {
    switch (stop) {
    case VIT_STOP_USUAL:
        return VIT_STOP_LIKELY;
    case VIT_STOP_EARLY:
        return VIT_STOP_FIRST;
    case VIT_STOP_SURE:
        return VIT_STOP_NEVER;
    }
    return VIT_STOP_LIKELY;
}

static vit_writing writing_of(const vit_model *m, const vit_text_options *o) {
    vit_writing w =
        m->file.writing.beams > 0 ? m->file.writing : vit_writing_default(&m->file.config);
    if (o->beams > 0) w.beams = o->beams;
    if (o->length > 0) w.length = o->length;
    if (o->length_penalty_given) w.length_penalty = o->length_penalty;
    if (o->stop_given) w.early_stopping = stopping_of(o->stop);
    if (o->no_repeat_given) w.no_repeat = o->no_repeat;
    if (o->sample) w.beams = o->beams > 0 ? o->beams : 1;
    w.sample = o->sample;
    if (o->temperature > 0) w.temperature = o->temperature;
    w.top_k = o->top_k;
    w.seed = o->seed;
    return w;
}

static vit_status make_room(vit_text_session *s, vit_error *error) {
    const vit_config *c = &s->model->file.config;
    const size_t pixels = c->height * c->width * c->channels;
    s->images = vit_alloc(s->samples, (pixels + 1) * sizeof(float));
    s->sources = vit_alloc(s->samples, sizeof *s->sources);
    s->ids = vit_alloc(s->samples, (c->length + 1) * sizeof *s->ids);
    s->done = vit_alloc(s->samples, sizeof *s->done);
    s->places = vit_alloc(s->samples, sizeof *s->places);
    if (s->images && s->sources && s->ids && s->done && s->places) return VIT_OK;
    return vit_fail_memory(error, "a session", s->samples * pixels * sizeof(float));
}

vit_status vit_text_session_new(vit_text_session **out, const vit_model *model,
                                const vit_text_options *options, vit_error *error) {
    const vit_text_options best = {0}, *o = options ? options : &best;
    const vit_config *c = &model->file.config;
    const vit_kernels *kernels;
    const vit_network *network;
    int threads;
    *out = NULL;
    vit_status status = vit_model_needs(model, true, error);
    if (status == VIT_OK)
        status = vit_choose(&kernels, &threads, o->cpu, o->threads, o->precision, error);
    if (status != VIT_OK) return status;
    vit_text_session *s = vit_alloc(1, sizeof *s);
    if (!s) return vit_fail_memory(error, "a session", sizeof *s);
    s->model = model;
    s->kernels = kernels;
    s->samples = vit_max(1, ROWS_AT_ONCE / vit_max(1, vit_config_rows(c)));
    if (c->channels > 0) vit_normalize_table(s->table, &model->file.preprocessing, c->channels);
    const vit_exec exec = {.kernels = kernels, .threads = threads, .precision = o->precision};
    const vit_writing writing = writing_of(model, o);
    status = make_room(s, error);
    if (status == VIT_OK) status = vit_model_network(&network, model, &exec, error);
    if (status == VIT_OK)
        status =
            vit_text_writer_new(&s->writer, network, &writing, kernels, threads, s->samples, error);
    if (status == VIT_OK)
        *out = s;
    else
        vit_text_session_free(s);
    return status;
}

void vit_text_session_free(vit_text_session *s) {
    if (!s) return;
    vit_text_writer_free(s->writer);
    void *const all[] = {s->images, s->sources, s->ids, s->done, s->places, s};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) vit_free(all[i]);
}

/* ---- answers ---- */

static char *decode(const vit_model *m, const vit_written *w) {
    return m->file.tokenizer.count > 0
               ? vit_tokenizer_decode(&m->file.tokenizer, w->ids, w->count)
               : vit_vocabulary_decode(&m->file.vocabulary, w->ids, w->count);
}

static vit_status keep(vit_text_answer *a, const vit_model *m, const vit_written *w,
                       vit_error *error) {
    a->text = decode(m, w);
    a->ids = vit_alloc(w->count, sizeof *a->ids);
    if (!a->text || !a->ids) return vit_fail_memory(error, "a text", w->count * sizeof *a->ids);
    memcpy(a->ids, w->ids, w->count * sizeof *a->ids);
    a->count = w->count;
    a->score = w->score;
    a->ended = w->ended;
    return VIT_OK;
}

/* The `ready` samples, whose answers are at s->places. */
static vit_status write_ready(vit_text_session *s, vit_text_answer *answers, size_t ready,
                              vit_error *error) {
    vit_status status = VIT_OK;
    if (ready == 0) return VIT_OK;
    vit_write(s->writer, s->done, s->images, s->sources, ready, s->number);
    s->number += (uint32_t)ready;
    for (size_t i = 0; i < ready && status == VIT_OK; i++)
        status = keep(&answers[s->places[i]], s->model, &s->done[i], error);
    return status;
}

static void take_picture(vit_text_session *s, vit_text_answer *a, const vit_picture *p, size_t at) {
    const vit_config *c = &s->model->file.config;
    const size_t pixels = c->height * c->width;
    vit_image image, ready = {0};
    vit_status status = p->bytes ? vit_image_decode(&image, p->bytes, p->size, p->name, &a->error)
                                 : vit_image_load(&image, p->name, &a->error);
    if (status == VIT_OK) {
        status = vit_preprocess(&ready, &image, &s->model->file.preprocessing, c->height, c->width,
                                c->channels, s->kernels, &a->error);
        if (status != VIT_OK) vit_fail_prefix(&a->error, status, p->name);
        vit_image_free(&image);
    }
    a->error.status = status;
    if (status == VIT_OK)
        vit_normalize(s->images + at * pixels * c->channels, ready.pixels, pixels, c->channels,
                      s->table[0]);
    a->warning = ready.warning;
    vit_image_free(&ready);
}

static void take_text(vit_text_session *s, vit_text_answer *a, const char *text, size_t at) {
    const vit_config *c = &s->model->file.config;
    uint32_t *ids = s->ids + at * c->length;
    size_t count = 0;
    if (c->stem == VIT_STEM_TOKENS) {
        a->error.status = vit_vocabulary_encode(ids, &count, c->length,
                                                &s->model->file.source_vocabulary, text, &a->error);
        if (a->error.status == VIT_OK && count == 0)
            vit_fail(&a->error, VIT_ERROR_ARGUMENT,
                     "the text is empty: there is nothing to answer");
    }
    s->sources[at] = (vit_ids){ids, count};
}

/* pictures, or texts; of a language model neither is looked at */
static vit_status read_all(vit_text_session *s, const vit_picture *pictures,
                           const char *const *texts, size_t count, vit_text_answer *answers,
                           vit_error *error) {
    vit_status status = VIT_OK;
    size_t ready = 0;
    for (size_t i = 0; i < count; i++) answers[i] = (vit_text_answer){0};
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        if (pictures)
            take_picture(s, &answers[i], &pictures[i], ready);
        else
            take_text(s, &answers[i], texts ? texts[i] : "", ready);
        if (answers[i].error.status == VIT_OK) s->places[ready++] = i;
        if (ready < s->samples && i + 1 < count) continue;
        status = write_ready(s, answers, ready, error);
        ready = 0;
    }
    if (status != VIT_OK) vit_text_answers_clear(answers, count);
    return status;
}

vit_status vit_read_pictures(vit_text_session *s, const vit_picture *pictures, size_t count,
                             vit_text_answer *answers, vit_error *error) {
    const vit_stem stem = s->model->file.config.stem;
    if (stem == VIT_STEM_TOKENS || stem == VIT_STEM_NONE)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        stem == VIT_STEM_NONE ? "the model is a language model: it is given nothing"
                                              : "the model reads texts, not pictures");
    const vit_fpmode host = vit_fpmode_enter();
    const vit_status status = read_all(s, pictures, NULL, count, answers, error);
    vit_fpmode_leave(host);
    return status;
}

vit_status vit_read_texts(vit_text_session *s, const char *const *texts, size_t count,
                          vit_text_answer *answers, vit_error *error) {
    const vit_stem stem = s->model->file.config.stem;
    if (stem != VIT_STEM_TOKENS && stem != VIT_STEM_NONE)
        return vit_fail(error, VIT_ERROR_MISMATCH, "the model reads pictures, not texts");
    if (stem == VIT_STEM_TOKENS && !texts)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "the model reads texts, and none is given");
    const vit_fpmode host = vit_fpmode_enter();
    const vit_status status = read_all(s, NULL, texts, count, answers, error);
    vit_fpmode_leave(host);
    return status;
}

void vit_text_answers_clear(vit_text_answer *answers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        vit_free(answers[i].text);
        vit_free(answers[i].ids);
        answers[i] = (vit_text_answer){0};
    }
}
