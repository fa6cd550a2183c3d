/* What vit/texts.h promises: pictures or texts, answered with texts. */
#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/base/size.h"
#include "vit/explain/text_page.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/model/run/generate.h"
#include "vit/text/tokenizer/tokenizer.h"
#include "vit/texts.h"
#include <math.h>
#include <string.h>

#define ROWS_AT_ONCE 1536 /* tokens of all samples that are answered at once */

struct vit_text_session {
    const vit_model *model;
    const vit_network *network;
    const vit_kernels *kernels;
    int threads;
    vit_generator *writer;
    size_t samples;      /* answered at once, at most */
    uint32_t number;     /* of the next text, for its random numbers */
    float *images;       /* [samples][height][width][channels], normalised */
    vit_ids *sources;    /* [samples] */
    uint32_t *ids;       /* [samples][length] of the sources */
    vit_generated *done; /* [samples] what was written */
    size_t *answer_of;   /* [samples] the number of each sample's answer */
    float table[3][256]; /* [channel][byte]: its normalised value */
};

/* ---- sessions ---- */

static vit_status allocate(vit_text_session *s, vit_error *error) {
    const vit_config *c = &s->model->file.config;
    const size_t pixels = c->height * c->width * c->channels;
    s->images = vit_alloc(s->samples, (pixels + 1) * sizeof(float));
    s->sources = vit_alloc(s->samples, sizeof *s->sources);
    s->ids = vit_alloc(s->samples, (c->length + 1) * sizeof *s->ids);
    s->done = vit_alloc(s->samples, sizeof *s->done);
    s->answer_of = vit_alloc(s->samples, sizeof *s->answer_of);
    if (s->images && s->sources && s->ids && s->done && s->answer_of) return VIT_OK;
    return vit_fail_memory(error, "a session", s->samples * pixels * sizeof(float));
}

/* Refuses what would change nothing. */
static vit_status check_options(const vit_text_options *o, const vit_generation *writing,
                                vit_error *error) {
    if (writing->beams == 1 && (o->length_penalty.given || o->early_stopping.given))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "length penalty and early stopping are for a beam search: leave them out, "
                        "or ask for 2 beams or more");
    if (!o->sample && (o->temperature > 0 || o->top_k > 0))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "temperature and top-k are for sampling: leave them out, or sample");
    return VIT_OK;
}

vit_status vit_text_session_new(vit_text_session **out, const vit_model *model,
                                const vit_text_options *options, vit_error *error) {
    VIT_ENTRY;
    const vit_text_options best = {0}, *o = options ? options : &best;
    const vit_config *c = &model->file.config;
    const vit_network *network;
    vit_exec exec;
    *out = NULL;
    vit_status status = vit_model_needs(model, true, error);
    if (status == VIT_OK)
        status = vit_model_exec(&exec, &network, model, o->cpu, o->threads, o->precision, o->bf16,
                                error);
    if (status != VIT_OK) return status;
    vit_text_session *s = vit_alloc(1, sizeof *s);
    if (!s) return vit_fail_memory(error, "a session", sizeof *s);
    s->model = model;
    s->network = network;
    s->kernels = exec.kernels;
    s->threads = exec.threads;
    s->samples = vit_max(1, ROWS_AT_ONCE / vit_max(1, vit_config_rows(c)));
    if (c->channels > 0) vit_normalize_table(s->table, &model->file.preprocessing, c->channels);
    const vit_generation writing = vit_model_writing(model, o);
    status = check_options(o, &writing, error);
    if (status == VIT_OK) status = allocate(s, error);
    if (status == VIT_OK)
        status = vit_generator_new(&s->writer, network, &writing, s->kernels, s->threads,
                                   s->samples, error);
    if (status == VIT_OK)
        *out = s;
    else
        vit_text_session_free(s);
    return status;
}

void vit_text_session_free(vit_text_session *s) {
    if (!s) return;
    vit_generator_free(s->writer);
    void *const all[] = {s->images, s->sources, s->ids, s->done, s->answer_of, s};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) vit_free(all[i]);
}

/* ---- answers ---- */

static char *decode(const vit_model *m, const uint32_t *ids, size_t count) {
    return m->file.tokenizer ? vit_tokenizer_decode(m->file.tokenizer, ids, count)
                             : vit_vocabulary_decode(&m->file.vocabulary, ids, count);
}

/* Copies what was written into the answer. */
static vit_status keep(vit_text_answer *a, const vit_model *m, const vit_generated *w,
                       vit_error *error) {
    const vit_tokenizer *t = m->file.tokenizer;
    a->text = decode(m, w->ids, w->count);
    a->ids = vit_alloc(w->count, sizeof *a->ids);
    if (!a->text || !a->ids) return vit_fail_memory(error, "a text", w->count * sizeof *a->ids);
    memcpy(a->ids, w->ids, w->count * sizeof *a->ids);
    /* the network of a published model may write ids that its tokenizer has no token for */
    for (size_t i = 0; i < w->count && !a->warning && t; i++)
        if (w->ids[i] >= t->count || !t->tokens[w->ids[i]].text)
            a->warning = "the tokenizer has no token for an id that was written: it may be of "
                         "another model";
    a->count = w->count;
    a->score = w->score;
    a->ended = w->ended;
    return VIT_OK;
}

/* Writes the texts of the first `ready` samples into their answers. */
static vit_status write_ready(vit_text_session *s, const vit_picture *pictures,
                              vit_text_answer *answers, size_t ready, vit_error *error) {
    vit_status status = VIT_OK;
    if (ready == 0) return VIT_OK;
    vit_generate(s->writer, s->done, s->images, s->sources, ready, s->number);
    s->number += (uint32_t)ready;
    for (size_t i = 0; i < ready && status == VIT_OK; i++) {
        vit_text_answer *a = &answers[s->answer_of[i]];
        if (!isnan(s->done[i].score)) {
            status = keep(a, s->model, &s->done[i], error);
            continue;
        }
        vit_fail_answer(&a->error, "");
        if (pictures) vit_fail_prefix(&a->error, a->error.status, pictures[s->answer_of[i]].name);
    }
    return status;
}

/* Puts a picture, or a text, at place `at` of the samples; its error is in the answer. */
static void take_picture(vit_text_session *s, vit_text_answer *a, const vit_picture *p, size_t at) {
    const vit_config *c = &s->model->file.config;
    const size_t pixels = c->height * c->width;
    vit_image ready = {0};
    const vit_status status = vit_model_prepare(&ready, s->model, s->kernels, p, 0, &a->error);
    a->error.status = status;
    if (status == VIT_OK)
        vit_normalize_prepared(s->images + at * pixels * c->channels, &ready,
                               &s->model->file.preprocessing, s->table[0]);
    a->warning = ready.warning;
    vit_image_free(&ready);
}

static void take_text(vit_text_session *s, vit_text_answer *a, const char *text, size_t at) {
    const vit_config *c = &s->model->file.config;
    uint32_t *ids = s->ids + at * c->length;
    size_t count = 0;
    if (vit_config_takes_texts(c)) {
        a->error.status = vit_vocabulary_encode(ids, &count, c->length,
                                                &s->model->file.source_vocabulary, text, &a->error);
        if (a->error.status == VIT_OK && count == 0)
            vit_fail(&a->error, VIT_ERROR_ARGUMENT,
                     "the text is empty: there is nothing to answer");
    }
    s->sources[at] = (vit_ids){ids, count};
}

/* Answers pictures or texts; for a language model both are NULL. */
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
        if (answers[i].error.status == VIT_OK) s->answer_of[ready++] = i;
        if (ready < s->samples && i + 1 < count) continue;
        status = write_ready(s, pictures, answers, ready, error);
        ready = 0;
    }
    if (status != VIT_OK) vit_text_answers_clear(answers, count);
    return status;
}

vit_status vit_read_pictures(vit_text_session *s, const vit_picture *pictures, size_t count,
                             vit_text_answer *answers, vit_error *error) {
    VIT_ENTRY;
    const vit_config *c = &s->model->file.config;
    if (!vit_config_takes_pictures(c))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        vit_config_takes_texts(c)
                            ? "the model reads texts, not pictures"
                            : "the model is a language model: it takes no input");
    return read_all(s, pictures, NULL, count, answers, error);
}

vit_status vit_read_texts(vit_text_session *s, const char *const *texts, size_t count,
                          vit_text_answer *answers, vit_error *error) {
    VIT_ENTRY;
    const vit_config *c = &s->model->file.config;
    if (vit_config_takes_pictures(c))
        return vit_fail(error, VIT_ERROR_MISMATCH, "the model reads pictures, not texts");
    if (vit_config_takes_texts(c) && !texts)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "the model reads texts, and none is given");
    return read_all(s, NULL, texts, count, answers, error);
}

void vit_text_answers_clear(vit_text_answer *answers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        vit_free(answers[i].text);
        vit_free(answers[i].ids);
        answers[i] = (vit_text_answer){0};
    }
}

/* ---- what it looked at ---- */

static void free_signs(char **signs, size_t count) {
    for (size_t i = 0; signs && i < count; i++) vit_free(signs[i]);
    vit_free(signs);
}

/* The sign that each id stands for, in the source's vocabulary or in that of what is written. */
static vit_status signs_of(char ***out, const vit_model *m, const vit_ids *ids, bool source,
                           vit_error *error) {
    char **signs = vit_alloc(ids->count, sizeof *signs);
    bool all = signs;
    for (size_t i = 0; i < ids->count && all; i++) {
        const uint32_t *id = &ids->ids[i];
        signs[i] =
            source ? vit_vocabulary_decode(&m->file.source_vocabulary, id, 1) : decode(m, id, 1);
        all = signs[i];
    }
    *out = signs;
    return all ? VIT_OK : vit_fail_memory(error, "the signs of a text", ids->count);
}

/* The page, or as png the picture, of call, to which it adds the signs. */
static vit_status make_page(vit_bytes *out, vit_token_page_call *call, const vit_model *m, bool png,
                            vit_error *error) {
    char **source = NULL, **written = NULL;
    vit_status status = signs_of(&source, m, &call->source, true, error);
    if (status == VIT_OK) status = signs_of(&written, m, &call->written, false, error);
    call->source_signs = (const char *const *)source;
    call->written_signs = (const char *const *)written;
    if (status == VIT_OK)
        status = png ? vit_token_png_make(out, call, error) : vit_token_page_make(out, call, error);
    free_signs(source, call->source.count);
    free_signs(written, call->written.count);
    return status;
}

vit_status vit_explain_text(vit_text_session *s, const vit_picture *picture, const char *text,
                            const vit_text_answer *answer, const char *title, bool png,
                            vit_buffer *out, vit_error *error) {
    VIT_ENTRY;
    const vit_config *c = &s->model->file.config;
    vit_text_answer input = {0}; /* for its error: of the picture or text */
    vit_image ready = {0};
    vit_bytes bytes = {0};
    *out = (vit_buffer){0};
    if (vit_config_takes_pictures(c) ? !picture : vit_config_takes_texts(c) && !text)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "what the model was given is missing");
    if (vit_config_takes_pictures(c)) {
        input.error.status =
            vit_model_prepare(&ready, s->model, s->kernels, picture, 0, &input.error);
        if (input.error.status == VIT_OK)
            vit_normalize_prepared(s->images, &ready, &s->model->file.preprocessing, s->table[0]);
    } else {
        take_text(s, &input, text, 0);
    }
    vit_status status = input.error.status;
    if (status == VIT_OK) {
        vit_token_page_call call = {.network = s->network,
                                    .kernels = s->kernels,
                                    .threads = s->threads,
                                    .title = title,
                                    .answer = answer->text,
                                    .pixels = ready.pixels,
                                    .image = s->images,
                                    .written = {answer->ids, answer->count},
                                    .ended = answer->ended};
        if (vit_config_takes_texts(c)) call.source = s->sources[0];
        status = make_page(&bytes, &call, s->model, png, error);
    } else if (error) {
        *error = input.error;
    }
    vit_image_free(&ready);
    *out = (vit_buffer){bytes.data, bytes.size};
    return status;
}
