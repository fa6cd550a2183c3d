#include "vit/model/parts/stem.h"
#include "vit/base/size.h"
#include "vit/ops/conv.h"
#include "vit/ops/pool.h"
#include <string.h>

/* ---- the linear stem ---- */

/* In inference, norms overwrite their input. */
static void linear_carve(vit_stem_state *s, const vit_carving *k) {
    const vit_config *c = k->config;
    const size_t pixels = k->capacity * c->height * c->width * c->channels;
    const size_t patches = k->capacity * vit_config_patches(c), tokens = patches * c->dim;
    s->patches = vit_arena_floats(k->arena, pixels);
    s->raw_patches = s->patches;
    s->embedded = vit_arena_floats(k->arena, tokens);
    if (vit_kepts[k->kept].tokens || (c->patch_norm && vit_kept_trains(k->kept)))
        s->d_inputs = vit_arena_floats(k->arena, pixels);
    if (!vit_config_norms_embedding(c)) return;
    for (size_t i = 0; i < 2; i++) s->stats[i] = vit_carve_stats(k->arena, patches);
    if (!vit_kept_trains(k->kept)) return;
    if (c->patch_norm) s->raw_patches = vit_arena_floats(k->arena, pixels);
    s->raw_embedded = vit_arena_floats(k->arena, tokens);
    s->d_patches = vit_arena_floats(k->arena, vit_max(tokens, pixels));
}

static void linear_forward(const vit_call *call, const vit_stem_state *s) {
    const vit_config *c = call->config;
    const vit_weights *w = call->weights;
    const vit_patch_shape patch = vit_config_patch_shape(c);
    const size_t rows = call->batch * vit_config_patches(c);
    const size_t pixels = c->height * c->width * c->channels;
    for (size_t b = 0; b < call->batch; b++)
        vit_patch_extract(s->raw_patches + b * pixels, s->images + b * pixels, &patch);
    float *raw = s->raw_embedded ? s->raw_embedded : s->embedded;
    if (c->patch_norm)
        vit_layernorm_forward(call->exec, s->patches, &s->stats[0], s->raw_patches,
                              &w->patch_norms[0], rows);
    vit_linear_forward(call->exec, raw, s->patches, &w->patch_embed, NULL, rows);
    if (vit_config_norms_embedding(c))
        vit_layernorm_forward(call->exec, s->embedded, &s->stats[1], raw, &w->patch_norms[1], rows);
}

/* Through the norm of embedded patches, where there is one: the gradient of the linear layer. */
static const float *embed_norm_backward(const vit_call *call, const vit_stem_state *s,
                                        const vit_gradients *g, const float *d_embedded,
                                        size_t rows) {
    float *d_raw = s->d_patches;
    if (!vit_config_norms_embedding(call->config)) return d_embedded;
    memset(d_raw, 0, rows * call->config->dim * sizeof *d_raw);
    vit_layernorm_backward(call->exec, d_raw, &g->patch_norms[1], d_embedded, s->raw_embedded,
                           &s->stats[1], &call->weights->patch_norms[1], rows);
    return d_raw;
}

/* s->d_patches = the gradient of the patches before their norm, given s->d_inputs, that after it.
 */
static void patch_norm_backward(const vit_call *call, const vit_stem_state *s,
                                const vit_gradients *g, size_t rows) {
    const vit_weights *w = call->weights;
    memset(s->d_patches, 0, rows * w->patch_embed.in * sizeof *s->d_patches);
    vit_layernorm_backward(call->exec, s->d_patches, &g->patch_norms[0], s->d_inputs,
                           s->raw_patches, &s->stats[0], &w->patch_norms[0], rows);
}

static void linear_backward(const vit_call *call, const vit_stem_state *s, const vit_gradients *g,
                            const float *d_embedded) {
    const vit_config *c = call->config;
    const vit_patch_shape patch = vit_config_patch_shape(c);
    const size_t rows = call->batch * vit_config_patches(c);
    const size_t pixels = c->height * c->width * c->channels;
    const float *d_raw = embed_norm_backward(call, s, g, d_embedded, rows);
    vit_linear_backward(call->exec, s->d_inputs, &g->patch_embed, d_raw, s->patches,
                        &call->weights->patch_embed, rows);
    if (c->patch_norm) patch_norm_backward(call, s, g, rows);
    const float *d_patches = c->patch_norm ? s->d_patches : s->d_inputs;
    for (size_t b = 0; b < call->batch && s->d_images; b++)
        vit_patch_join(s->d_images + b * pixels, d_patches + b * pixels, &patch);
}

/* ---- convolutions of both kinds ---- */

/* Input and kind of convolution i. */
static vit_conv_shape conv_shape(const vit_config *c, size_t i, size_t batch, vit_conv_kind kind) {
    const size_t channels = i == 0 ? c->channels : vit_config_conv_width(c, i - 1);
    return (vit_conv_shape){batch, c->height >> i, c->width >> i, channels, kind};
}

/* Floats of a batch after convolution i. */
static size_t conv_output(const vit_config *c, size_t i, size_t batch, vit_conv_kind kind) {
    const vit_conv_shape shape = conv_shape(c, i, batch, kind);
    return batch * vit_conv_pixels(&shape) * vit_config_conv_width(c, i);
}

static size_t most_columns(const vit_carving *k, vit_conv_kind kind) {
    size_t most = 0;
    for (size_t i = 0; i < vit_config_convs(k->config); i++) {
        const vit_conv_shape shape = conv_shape(k->config, i, k->capacity, kind);
        most = vit_max(most, vit_conv_columns(&shape));
    }
    return most;
}

static void conv_forward(const vit_call *c, const vit_stem_state *s, size_t i, vit_conv_kind kind) {
    const vit_conv_shape shape = conv_shape(c->config, i, c->batch, kind);
    vit_conv_forward(c->exec, s->convs[i].hidden, i > 0 ? s->convs[i - 1].active : s->images,
                     &c->weights->convs[i], &shape, s->columns);
}

/* d_input = its gradient, of the first convolution s->d_images, given d_output. */
static void conv_backward(const vit_call *c, const vit_stem_state *s, const vit_gradients *g,
                          size_t i, float *d_input, const float *d_output, vit_conv_kind kind) {
    const vit_conv_shape shape = conv_shape(c->config, i, c->batch, kind);
    vit_conv_backward(c->exec, i > 0 ? d_input : s->d_images, &g->convs[i], d_output,
                      i > 0 ? s->convs[i - 1].active : s->images, &c->weights->convs[i], &shape,
                      s->columns, s->d_columns);
}

/* ---- the convolutional stem ---- */

static void convs_carve(vit_stem_state *s, const vit_carving *k) {
    const vit_config *c = k->config;
    const size_t convs = vit_config_convs(c), columns = most_columns(k, VIT_CONV_STEM);
    const bool training = vit_kept_trains(k->kept);
    for (size_t i = 0; i < convs; i++) {
        const size_t output = conv_output(c, i, k->capacity, VIT_CONV_STEM);
        s->convs[i].hidden = vit_arena_floats(k->arena, output);
        s->convs[i].active = training ? vit_arena_floats(k->arena, output) : s->convs[i].hidden;
        if (training && i < 2) s->d_convs[i] = vit_arena_floats(k->arena, output);
    }
    s->patches = s->convs[convs - 1].active;
    s->embedded = vit_arena_floats(k->arena, k->capacity * vit_config_patches(c) * c->dim);
    s->columns = vit_arena_floats(k->arena, columns);
    if (training) s->d_columns = vit_arena_floats(k->arena, columns);
}

static void convs_forward(const vit_call *call, const vit_stem_state *s) {
    const vit_config *c = call->config;
    for (size_t i = 0; i < vit_config_convs(c); i++) {
        conv_forward(call, s, i, VIT_CONV_STEM);
        vit_activation_forward(call->exec, VIT_GELU, s->convs[i].active, s->convs[i].hidden,
                               conv_output(c, i, call->batch, VIT_CONV_STEM));
    }
    vit_linear_forward(call->exec, s->embedded, s->patches, &call->weights->patch_embed, NULL,
                       call->batch * vit_config_patches(c));
}

static void convs_backward(const vit_call *call, const vit_stem_state *s, const vit_gradients *g,
                           const float *d_embedded) {
    const vit_config *c = call->config;
    const size_t convs = vit_config_convs(c);
    vit_linear_backward(call->exec, s->d_convs[(convs - 1) % 2], &g->patch_embed, d_embedded,
                        s->patches, &call->weights->patch_embed,
                        call->batch * vit_config_patches(c));
    for (size_t i = convs; i-- > 0;) {
        float *d_output = s->d_convs[i % 2], *d_input = s->d_convs[(i + 1) % 2];
        vit_activation_backward(call->exec, VIT_GELU, d_output, NULL, d_output, s->convs[i].hidden,
                                conv_output(c, i, call->batch, VIT_CONV_STEM));
        conv_backward(call, s, g, i, d_input, d_output, VIT_CONV_STEM);
    }
}

/* ---- the tokenizer ---- */

/* Input of the max pooling after convolution i, whose output is a quarter of it. */
static vit_max_shape max_shape(const vit_config *c, size_t i, size_t batch) {
    return (vit_max_shape){batch, c->height >> i, c->width >> i, vit_config_conv_width(c, i)};
}

/* The outputs of convolutions before max pooling are not kept: they share one array. */
static void tokenizer_carve(vit_stem_state *s, const vit_carving *k) {
    const vit_config *c = k->config;
    const size_t columns = most_columns(k, VIT_CONV_TOKENIZER);
    const bool training = vit_kept_trains(k->kept);
    size_t most = 0;
    for (size_t i = 0; i < vit_config_convs(c); i++)
        most = vit_max(most, conv_output(c, i, k->capacity, VIT_CONV_TOKENIZER));
    s->columns = vit_arena_floats(k->arena, columns);
    float *hidden = vit_arena_floats(k->arena, most);
    for (size_t i = 0; i < vit_config_convs(c); i++) {
        const size_t output = conv_output(c, i, k->capacity, VIT_CONV_TOKENIZER) / 4;
        s->convs[i].hidden = hidden;
        s->convs[i].active = vit_arena_floats(k->arena, output);
        s->convs[i].largest = training ? vit_arena_take(k->arena, output) : NULL;
        s->patches = s->embedded = s->convs[i].active;
    }
    if (!training) return;
    s->d_columns = vit_arena_floats(k->arena, columns);
    s->d_convs[0] = vit_arena_floats(k->arena, most);
    s->d_convs[1] = vit_arena_floats(k->arena, most / 4);
}

static void tokenizer_forward(const vit_call *call, const vit_stem_state *s) {
    for (size_t i = 0; i < vit_config_convs(call->config); i++) {
        const vit_max_shape max = max_shape(call->config, i, call->batch);
        const vit_conv_state *conv = &s->convs[i];
        conv_forward(call, s, i, VIT_CONV_TOKENIZER);
        vit_max_forward(call->exec, conv->active, conv->largest, conv->hidden, &max);
    }
}

static void tokenizer_backward(const vit_call *call, const vit_stem_state *s,
                               const vit_gradients *g, const float *d_active) {
    float *d_hidden = s->d_convs[0], *d_input = s->d_convs[1];
    for (size_t i = vit_config_convs(call->config); i-- > 0; d_active = d_input) {
        const vit_max_shape max = max_shape(call->config, i, call->batch);
        vit_max_backward(call->exec, d_hidden, d_active, s->convs[i].largest, &max);
        conv_backward(call, s, g, i, d_input, d_hidden, VIT_CONV_TOKENIZER);
    }
}

/* ---- all of them ---- */

/* NULL: texts, whose stem is token_embedding.c, and what has none. */
static const struct {
    void (*carve)(vit_stem_state *s, const vit_carving *k);
    void (*forward)(const vit_call *call, const vit_stem_state *s);
    void (*backward)(const vit_call *call, const vit_stem_state *s, const vit_gradients *g,
                     const float *d_embedded);
} stems[] = {
    [VIT_STEM_LINEAR] = {linear_carve, linear_forward, linear_backward},
    [VIT_STEM_CONV] = {convs_carve, convs_forward, convs_backward},
    [VIT_STEM_CCT] = {tokenizer_carve, tokenizer_forward, tokenizer_backward},
    [VIT_STEM_TOKENS] = {NULL, NULL, NULL},
    [VIT_STEM_NONE] = {NULL, NULL, NULL},
};
VIT_CHECK_ROWS(stems, VIT_STEM_COUNT);

void vit_stem_carve(vit_stem_state *s, const vit_carving *k) {
    const vit_config *c = k->config;
    if (stems[c->stem].carve) stems[c->stem].carve(s, k);
    if (vit_kepts[k->kept].tokens)
        s->d_images = vit_arena_floats(k->arena, k->capacity * c->height * c->width * c->channels);
}

void vit_stem_forward(const vit_call *c, vit_stem_state *s, const float *images) {
    s->images = images;
    if (stems[c->config->stem].forward) stems[c->config->stem].forward(c, s);
}

void vit_stem_backward(const vit_call *c, const vit_stem_state *s, const vit_gradients *g,
                       const float *d_embedded) {
    if (stems[c->config->stem].backward) stems[c->config->stem].backward(c, s, g, d_embedded);
}
