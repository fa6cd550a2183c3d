/* From pictures to x_p E, the embedded patches: the linear stem (patches, one linear layer) or the
 * convolutional one (3x3 convolutions of stride 2 with GELU, one linear layer). */
#include "vit/model/network.h"
#include "vit/ops/conv.h"

/* Input of convolution i. */
static vit_conv_shape conv_shape(const vit_config *c, size_t i, size_t batch) {
    const size_t channels = i == 0 ? c->channels : vit_config_conv_width(c, i - 1);
    return (vit_conv_shape){batch, c->height >> i, c->width >> i, channels};
}

/* Floats of a batch after convolution i. */
static size_t conv_output(const vit_config *c, size_t i, size_t batch) {
    const vit_conv_shape shape = conv_shape(c, i, batch);
    return batch * vit_conv_pixels(&shape) * vit_config_conv_width(c, i);
}

void vit_stem_carve(vit_state *s, vit_arena *arena, const vit_config *c, bool training) {
    const size_t convs = vit_config_convs(c);
    size_t columns = 0;
    if (convs == 0) {
        s->patches = vit_arena_floats(arena, s->capacity * c->height * c->width * c->channels);
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
    s->d_conv = vit_arena_floats(arena, conv_output(c, 0, s->capacity)); /* the largest */
}

void vit_stem_forward(const vit_network *n, const vit_exec *exec, vit_state *s,
                      const float *images) {
    const vit_config *c = &n->config;
    const vit_patch_shape patch = vit_config_patch_shape(c);
    const size_t convs = vit_config_convs(c), pixels = c->height * c->width * c->channels;
    s->images = images;
    for (size_t b = 0; b < s->batch && convs == 0; b++)
        vit_patch_extract(s->patches + b * pixels, images + b * pixels, &patch);
    for (size_t i = 0; i < convs; i++) {
        const vit_conv_shape shape = conv_shape(c, i, s->batch);
        const vit_conv_state *conv = &s->convs[i];
        vit_conv_forward(exec, conv->hidden, images, &n->weights.convs[i], &shape, s->columns);
        vit_activation_forward(exec, VIT_GELU, conv->active, conv->hidden,
                               conv_output(c, i, s->batch));
        images = conv->active;
    }
    vit_linear_forward(exec, s->embedded, s->patches, &n->weights.patch_embed, NULL,
                       s->batch * vit_config_patches(c));
}

void vit_stem_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                       const vit_gradients *g, const float *d_embedded) {
    const vit_config *c = &n->config;
    const size_t convs = vit_config_convs(c);
    vit_linear_backward(exec, convs > 0 ? s->d_conv : NULL, &g->patch_embed, d_embedded, s->patches,
                        &n->weights.patch_embed, s->batch * vit_config_patches(c));
    for (size_t i = convs; i-- > 0;) {
        const vit_conv_shape shape = conv_shape(c, i, s->batch);
        vit_activation_backward(exec, VIT_GELU, s->d_conv, s->d_conv, s->convs[i].hidden,
                                conv_output(c, i, s->batch));
        vit_conv_backward(exec, i > 0 ? s->d_conv : NULL, &g->convs[i], s->d_conv,
                          i > 0 ? s->convs[i - 1].active : s->images, &n->weights.convs[i], &shape,
                          s->columns, s->d_columns);
    }
}
