/* What vit/zero_shot.h promises: texts -> features. */
#include "vit/api/embedder.h"
#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/base/size.h"
#include "vit/ops/unit.h"
#include "vit/text/tokenizer/tokenizer.h"
#include "vit/weights/text_encoder.h"
#include "vit/zero_shot.h"
#include <stdio.h>
#include <string.h>

struct vit_embedder {
    vit_text_encoder encoder;
    vit_network network;
    vit_inference *run;
};

static vit_status open_words(vit_embedder *w, vit_opened *opened, const vit_embedder_options *o,
                             vit_error *error) {
    const vit_kernels *kernels;
    int threads;
    vit_status status =
        vit_choose(&kernels, &threads, o->cpu, o->threads, o->precision, o->bf16, error);
    if (status != VIT_OK) return status;
    const vit_exec packs = {.kernels = kernels, .threads = threads, .precision = o->precision};
    const vit_wanted wanted = {.config = o->config, .emulate = o->emulate, .packs = &packs};
    status = vit_text_encoder_load(&w->encoder, opened, &wanted, error);
    if (status != VIT_OK) return status;
    const vit_model_file *f = &w->encoder.file;
    w->network.config = f->config;
    status =
        vit_weights_view(&w->network.weights, &f->config, &f->table, f->values, &f->packed, error);
    return status == VIT_OK ? vit_inference_new(&w->run, &w->network, kernels, threads, error)
                            : status;
}

vit_status vit_embedder_new(vit_embedder **out, vit_opened *opened,
                            const vit_embedder_options *options, vit_error *error) {
    vit_embedder *w = *out = vit_alloc(1, sizeof *w);
    if (!w) return vit_fail_memory(error, "a text encoder", sizeof *w);
    const vit_status status = open_words(w, opened, options, error);
    if (status == VIT_OK) return VIT_OK;
    vit_embedder_free(w);
    *out = NULL;
    return status;
}

vit_status vit_embedder_load(vit_embedder **out, const char *path,
                             const vit_embedder_options *options, vit_error *error) {
    VIT_ENTRY;
    const vit_embedder_options defaults = {0};
    vit_opened opened;
    *out = NULL;
    vit_status status = vit_opened_new(&opened, path, error);
    if (status == VIT_OK)
        status = vit_embedder_new(out, &opened, options ? options : &defaults, error);
    vit_opened_close(&opened);
    return status;
}

void vit_embedder_free(vit_embedder *w) {
    if (!w) return;
    vit_inference_free(w->run);
    vit_weights_free(&w->network.weights);
    vit_text_encoder_clear(&w->encoder);
    vit_free(w);
}

vit_embedder_info vit_embedder_describe(const vit_embedder *w) {
    VIT_ENTRY;
    const vit_model_file *f = &w->encoder.file;
    return (vit_embedder_info){.features = f->config.classes,
                               .length = f->config.length,
                               .vocabulary = f->config.vocabulary,
                               .parameters = f->table.parameters,
                               .scale = w->encoder.scale,
                               .bias = w->encoder.bias,
                               .scoring = w->encoder.scoring};
}

/* ---- texts -> features ---- */

/* The beginning of a text, for messages. */
static const char *start_of(char out[80], const char *text) {
    size_t n = strlen(text);
    if (n > 60) /* not within a character */
        for (n = 60; n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80; n--) continue;
    snprintf(out, 80, "\"%.*s%s\"", (int)n, text, text[n] ? "..." : "");
    return out;
}

static vit_status take_text(vit_text_ids *out, const vit_embedder *w, const char *text, bool cuts,
                            vit_error *error) {
    char start[80];
    bool cut = false;
    const vit_status status =
        vit_text_encoder_encode(out, &cut, &w->encoder, text, strlen(text), error);
    if (status != VIT_OK) return vit_fail_prefix(error, status, start_of(start, text));
    if (!cut || cuts) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s has more than the %zu tokens that the model reads: shorten it",
                    start_of(start, text), w->encoder.file.config.length);
}

static vit_status embed(vit_embedder *w, const char *const *texts, size_t count,
                        const vit_embed_texts_options *o, float *features, vit_error *error) {
    const size_t width = w->encoder.file.config.classes;
    vit_text_ids *ids = vit_alloc(vit_max(count, 1), sizeof *ids);
    vit_status status = ids ? VIT_OK : vit_fail_memory(error, "texts", count * sizeof *ids);
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = take_text(&ids[i], w, texts[i], o->cut, error);
    if (status == VIT_OK)
        status = vit_text_features(w->run, &w->encoder.file.config, features, ids, count, error);
    if (status == VIT_OK) status = vit_check_answer(features, count * width, NULL, 0, error);
    if (status == VIT_OK && o->unit) vit_unit_forward(features, features, count, width);
    for (size_t i = 0; ids && i < count; i++) vit_free((void *)(uintptr_t)ids[i].ids.ids);
    vit_free(ids);
    return status;
}

vit_status vit_embed_texts(vit_embedder *w, const char *const *texts, size_t count,
                           const vit_embed_texts_options *options, float *features,
                           vit_error *error) {
    VIT_ENTRY;
    const vit_embed_texts_options defaults = {0};
    return embed(w, texts, count, options ? options : &defaults, features, error);
}

size_t vit_embedder_tokens(const vit_embedder *w, const char *text) {
    VIT_ENTRY;
    vit_encoding e = {0};
    const vit_model_file *f = &w->encoder.file;
    vit_tokenizer_encode(&e, f->tokenizer, text, strlen(text), f->config.length, NULL);
    vit_free(e.ids);
    return e.count;
}
