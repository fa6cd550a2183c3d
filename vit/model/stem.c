/* From pictures to x_p E, the embedded patches: the linear stem (patches, one linear layer), the
 * convolutional one (3x3 convolutions of stride 2 with GELU, one linear layer), or the tokenizer of
 * compact transformers (3x3 convolutions of stride 1, each with ReLU and max pooling).
 * A part of network.c. */
#include "vit/base/size.h"
#include "vit/model/network.h"
#include "vit/ops/conv.h"
#include "vit/ops/pool.h"
#include <string.h>

/* Input and kind of convolution i. */
static vit_conv_shape conv_shape(const vit_config *c, size_t i, size_t batch) {
    const size_t channels = i == 0 ? c->channels : vit_config_conv_width(c, i - 1);
    return (vit_conv_shape){batch, c->height >> i, c->width >> i, channels,
                            c->stem == VIT_STEM_CCT ? VIT_CONV_TOKENIZER : VIT_CONV_STEM};
}

/* Floats of a batch after convolution i. */
static size_t conv_output(const vit_config *c, size_t i, size_t batch) {
    const vit_conv_shape shape = conv_shape(c, i, batch);
    return batch * vit_conv_pixels(&shape) * vit_config_conv_width(c, i);
}

/* Input of the max pooling after convolution i, whose output is a quarter of it. */
static vit_max_shape max_shape(const vit_config *c, size_t i, size_t batch) {
    return (vit_max_shape){batch, c->height >> i, c->width >> i, vit_config_conv_width(c, i)};
}

/* In inference, patch norms overwrite their input. */
static void carve_linear(vit_state *s, vit_arena *arena, const vit_config *c, bool training) {
    const size_t pixels = s->capacity * c->height * c->width * c->channels;
    const size_t patches = s->capacity * vit_config_patches(c), tokens = patches * c->dim;
    s->patches = vit_arena_floats(arena, pixels);
    s->raw_patches = s->patches;
    if (s->kept == VIT_KEPT_TOKENS && !c->patch_norm) s->d_inputs = vit_arena_floats(arena, pixels);
    if (!c->patch_norm) return;
    for (size_t i = 0; i < 2; i++) s->patch_stats[i] = vit_carve_stats(arena, patches);
    if (!training) return;
    s->raw_patches = vit_arena_floats(arena, pixels);
    s->raw_embedded = vit_arena_floats(arena, tokens);
    s->d_patches = vit_arena_floats(arena, tokens > pixels ? tokens : pixels);
    s->d_inputs = vit_arena_floats(arena, pixels);
}

/* The outputs of convolutions before max pooling are not kept: they share one array. */
static void carve_tokenizer(vit_state *s, vit_arena *arena, const vit_config *c, bool training) {
    size_t columns = 0, most = 0, pooled = 0;
    for (size_t i = 0; i < vit_config_convs(c); i++) {
        const vit_conv_shape shape = conv_shape(c, i, s->capacity);
        columns = vit_max(columns, vit_conv_columns(&shape));
        most = vit_max(most, conv_output(c, i, s->capacity));
    }
    s->columns = vit_arena_floats(arena, columns);
    float *hidden = vit_arena_floats(arena, most);
    for (size_t i = 0; i < vit_config_convs(c); i++) {
        const size_t output = conv_output(c, i, s->capacity) / 4;
        s->convs[i].hidden = hidden;
        s->convs[i].active = vit_arena_floats(arena, output);
        s->convs[i].place = training ? vit_arena_take(arena, output) : NULL;
        pooled = vit_max(pooled, output);
        s->patches = s->convs[i].active;
    }
    if (!training) return;
    s->d_columns = vit_arena_floats(arena, columns);
    s->d_convs[0] = vit_arena_floats(arena, most);
    s->d_convs[1] = vit_arena_floats(arena, pooled);
}

void vit_stem_carve(vit_state *s, vit_arena *arena, const vit_config *c, bool training) {
    const size_t convs = vit_config_convs(c);
    size_t columns = 0;
    if (c->stem == VIT_STEM_CCT) {
        carve_tokenizer(s, arena, c, training);
        return;
    }
    if (convs == 0) {
        carve_linear(s, arena, c, training);
        return;
    }
    for (size_t i = 0; i < convs; i++) {
        const vit_conv_shape shape = conv_shape(c, i, s->capacity);
        const size_t output = conv_output(c, i, s->capacity), here = vit_conv_columns(&shape);
        s->convs[i].hidden = vit_arena_floats(arena, output);
        s->convs[i].active = training ? vit_arena_floats(arena, output) : s->convs[i].hidden;
        columns = columns > here ? columns : here;
    }
    s->patches = s->convs[convs - 1].active;
    s->columns = vit_arena_floats(arena, columns);
    if (!training) return;
    s->d_columns = vit_arena_floats(arena, columns);
    s->d_convs[0] = vit_arena_floats(arena, conv_output(c, 0, s->capacity));
    if (convs > 1) s->d_convs[1] = vit_arena_floats(arena, conv_output(c, 1, s->capacity));
}

/* s->embedded = x_p E, between the patch norms where there are any. */
static void embed_patches(const vit_network *n, const vit_exec *exec, vit_state *s, size_t rows) {
    const vit_weights *w = &n->weights;
    if (!n->config.patch_norm) {
        vit_linear_forward(exec, s->embedded, s->patches, &w->patch_embed, NULL, rows);
        return;
    }
    float *raw = s->raw_embedded ? s->raw_embedded : s->embedded;
    vit_layernorm_forward(exec, s->patches, &s->patch_stats[0], s->raw_patches, &w->patch_norms[0],
                          rows);
    vit_linear_forward(exec, raw, s->patches, &w->patch_embed, NULL, rows);
    vit_layernorm_forward(exec, s->embedded, &s->patch_stats[1], raw, &w->patch_norms[1], rows);
}

void vit_stem_forward(const vit_network *n, const vit_exec *exec, vit_state *s,
                      const float *images) {
    const vit_config *c = &n->config;
    const vit_patch_shape patch = vit_config_patch_shape(c);
    const size_t convs = vit_config_convs(c), pixels = c->height * c->width * c->channels;
    s->images = images;
    for (size_t b = 0; b < s->batch && convs == 0; b++)
        vit_patch_extract(s->raw_patches + b * pixels, images + b * pixels, &patch);
    for (size_t i = 0; i < convs; i++) {
        const vit_conv_shape shape = conv_shape(c, i, s->batch);
        const vit_conv_state *conv = &s->convs[i];
        vit_conv_forward(exec, conv->hidden, images, &n->weights.convs[i], &shape, s->columns);
        images = conv->active;
        if (c->stem == VIT_STEM_CCT) {
            const vit_max_shape max = max_shape(c, i, s->batch);
            vit_max_forward(exec, conv->active, conv->place, conv->hidden, &max);
        } else {
            vit_activation_forward(exec, VIT_GELU, conv->active, conv->hidden,
                                   conv_output(c, i, s->batch));
        }
    }
    if (c->stem == VIT_STEM_CCT) return; /* the last active are s->embedded already */
    embed_patches(n, exec, s, s->batch * vit_config_patches(c));
}

/* The backward pass of embed_patches with patch norms: s->d_patches = d_x_p. */
static void normed_patches_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                                    const vit_gradients *g, const float *d_embedded, size_t rows) {
    const vit_config *c = &n->config;
    const size_t inputs = n->weights.patch_embed.in;
    float *d_raw = s->d_patches;
    memset(d_raw, 0, rows * c->dim * sizeof *d_raw);
    vit_layernorm_backward(exec, d_raw, &g->patch_norms[1], d_embedded, s->raw_embedded,
                           &s->patch_stats[1], &n->weights.patch_norms[1], rows);
    vit_linear_backward(exec, s->d_inputs, &g->patch_embed, d_raw, s->patches,
                        &n->weights.patch_embed, rows);
    memset(s->d_patches, 0, rows * inputs * sizeof *s->d_patches);
    vit_layernorm_backward(exec, s->d_patches, &g->patch_norms[0], s->d_inputs, s->raw_patches,
                           &s->patch_stats[0], &n->weights.patch_norms[0], rows);
}

/* s->d_images, where it is wanted, from the gradient of the patches. */
static void images_backward(const vit_config *c, const vit_state *s, const float *d_patches) {
    const vit_patch_shape patch = vit_config_patch_shape(c);
    const size_t pixels = c->height * c->width * c->channels;
    for (size_t b = 0; b < s->batch && s->d_images; b++)
        vit_patch_join(s->d_images + b * pixels, d_patches + b * pixels, &patch);
}

static void tokenizer_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                               const vit_gradients *g, const float *d_active) {
    const vit_config *c = &n->config;
    float *d_hidden = s->d_convs[0], *d_input = s->d_convs[1];
    for (size_t i = vit_config_convs(c); i-- > 0; d_active = d_input) {
        const vit_conv_shape shape = conv_shape(c, i, s->batch);
        const vit_max_shape max = max_shape(c, i, s->batch);
        vit_max_backward(exec, d_hidden, d_active, s->convs[i].place, &max);
        vit_conv_backward(exec, i > 0 ? d_input : s->d_images, &g->convs[i], d_hidden,
                          i > 0 ? s->convs[i - 1].active : s->images, &n->weights.convs[i], &shape,
                          s->columns, s->d_columns);
    }
}

void vit_stem_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                       const vit_gradients *g, const float *d_embedded) {
    const vit_config *c = &n->config;
    if (c->stem == VIT_STEM_CCT) {
        tokenizer_backward(n, exec, s, g, d_embedded);
        return;
    }
    const size_t convs = vit_config_convs(c), rows = s->batch * vit_config_patches(c);
    if (c->patch_norm) {
        normed_patches_backward(n, exec, s, g, d_embedded, rows);
        images_backward(c, s, s->d_patches);
        return;
    }
    vit_linear_backward(exec,
                        convs > 0     ? s->d_convs[(convs - 1) % 2]
                        : s->d_images ? s->d_inputs
                                      : NULL,
                        &g->patch_embed, d_embedded, s->patches, &n->weights.patch_embed, rows);
    if (convs == 0) images_backward(c, s, s->d_inputs);
    for (size_t i = convs; i-- > 0;) {
        const vit_conv_shape shape = conv_shape(c, i, s->batch);
        float *d_output = s->d_convs[i % 2], *d_input = s->d_convs[(i + 1) % 2];
        vit_activation_backward(exec, VIT_GELU, d_output, NULL, d_output, s->convs[i].hidden,
                                conv_output(c, i, s->batch));
        vit_conv_backward(exec, i > 0 ? d_input : s->d_images, &g->convs[i], d_output,
                          i > 0 ? s->convs[i - 1].active : s->images, &n->weights.convs[i], &shape,
                          s->columns, s->d_columns);
    }
}
