#include "vit/model/parts/head.h"
#include "vit/ops/unit.h"
#include <string.h>

/* Rows of the features: the samples, or where nothing is pooled their tokens. */
static size_t rows_of(const vit_config *c, size_t samples, size_t tokens) {
    return vit_pools[c->pool].tokens ? tokens : samples;
}

void vit_head_carve(vit_head_state *s, const vit_carving *k) {
    const vit_config *c = k->config;
    const size_t rows = rows_of(c, k->capacity, vit_carving_rows(k));
    switch (c->head) {
    case VIT_HEAD_NONE:
        if (vit_pools[c->pool].tokens) return;
        break;
    case VIT_HEAD_MLP:
    case VIT_HEAD_COSINE:
        s->hidden = vit_arena_floats(k->arena, rows * vit_config_head_inputs(c));
        s->active = vit_arena_floats(k->arena, rows * vit_config_head_inputs(c));
        break;
    case VIT_HEAD_TANH:
        s->hidden = vit_arena_floats(k->arena, rows * vit_config_features(c));
        s->active = vit_arena_floats(k->arena, rows * vit_config_features(c));
        break;
    case VIT_HEAD_LINEAR:
    case VIT_HEAD_PROJECTION:
    case VIT_HEAD_COUNT:
        break;
    }
    s->logits = vit_arena_floats(k->arena, rows * c->classes);
    if (vit_kept_trains(k->kept)) s->d_logits = vit_arena_floats(k->arena, rows * c->classes);
}

void vit_head_forward(const vit_call *call, const vit_head_state *s, const float *features) {
    const vit_config *c = call->config;
    const vit_linear *head = call->weights->head;
    const size_t rows = rows_of(c, call->batch, call->rows);
    switch (c->head) {
    case VIT_HEAD_NONE:
        if (s->logits) memcpy(s->logits, features, rows * c->classes * sizeof *features);
        break;
    case VIT_HEAD_LINEAR:
    case VIT_HEAD_PROJECTION:
        vit_linear_forward(call->exec, s->logits, features, &head[0], NULL, rows);
        break;
    case VIT_HEAD_MLP:
        vit_linear_forward(call->exec, s->hidden, features, &head[0], NULL, rows);
        vit_activation_forward(call->exec, VIT_GELU, s->active, s->hidden, rows * c->mlp);
        vit_linear_forward(call->exec, s->logits, s->active, &head[1], NULL, rows);
        break;
    case VIT_HEAD_TANH:
        vit_linear_forward(call->exec, s->hidden, features, &call->weights->pre_logits, NULL, rows);
        vit_tanh_forward(s->active, s->hidden, rows * vit_config_features(c));
        vit_linear_forward(call->exec, s->logits, s->active, &head[0], NULL, rows);
        break;
    case VIT_HEAD_COSINE:
        if (c->projection > 0)
            vit_linear_forward(call->exec, s->hidden, features, &head[0], NULL, rows);
        else
            memcpy(s->hidden, features, rows * vit_config_features(c) * sizeof *features);
        vit_unit_forward(s->active, s->hidden, rows, vit_config_head_inputs(c));
        vit_linear_forward(call->exec, s->logits, s->active, &head[1], NULL, rows);
        break;
    case VIT_HEAD_COUNT:
        break;
    }
}

void vit_head_backward(const vit_call *call, const vit_backward *back, const vit_head_state *s,
                       const vit_gradients *g, const float *features) {
    const vit_config *c = call->config;
    const vit_linear *head = call->weights->head;
    const size_t rows = rows_of(c, call->batch, call->rows);
    float *d_features = back->d_branch, *d_hidden = back->d_wide;
    switch (c->head) {
    case VIT_HEAD_NONE: /* without logits, the decoder has left d_features there */
        if (s->logits) memcpy(d_features, s->d_logits, rows * c->classes * sizeof *d_features);
        break;
    case VIT_HEAD_LINEAR:
    case VIT_HEAD_PROJECTION:
        vit_linear_backward(call->exec, d_features, &g->head[0], s->d_logits, features, &head[0],
                            rows);
        break;
    case VIT_HEAD_MLP:
        vit_linear_backward(call->exec, d_hidden, &g->head[1], s->d_logits, s->active, &head[1],
                            rows);
        vit_activation_backward(call->exec, VIT_GELU, d_hidden, NULL, d_hidden, s->hidden,
                                rows * c->mlp);
        vit_linear_backward(call->exec, d_features, &g->head[0], d_hidden, features, &head[0],
                            rows);
        break;
    case VIT_HEAD_TANH:
        vit_linear_backward(call->exec, d_hidden, &g->head[0], s->d_logits, s->active, &head[0],
                            rows);
        vit_tanh_backward(d_hidden, d_hidden, s->active, rows * vit_config_features(c));
        vit_linear_backward(call->exec, d_features, &g->pre_logits, d_hidden, features,
                            &call->weights->pre_logits, rows);
        break;
    case VIT_HEAD_COSINE:
        d_hidden = c->projection > 0 ? d_hidden : d_features;
        vit_linear_backward(call->exec, d_hidden, &g->head[1], s->d_logits, s->active, &head[1],
                            rows);
        vit_unit_backward(d_hidden, s->active, s->hidden, rows, vit_config_head_inputs(c));
        if (c->projection > 0)
            vit_linear_backward(call->exec, d_features, &g->head[0], d_hidden, features, &head[0],
                                rows);
        break;
    case VIT_HEAD_COUNT:
        break;
    }
}
