#include "vit/model/parts/token_embedding.h"
#include "vit/ops/embed.h"
#include <math.h>

void vit_token_embedding_carve(vit_token_embedding_state *s, const vit_carving *k) {
    const size_t rows = vit_carving_rows(k);
    s->ids = vit_arena_take(k->arena, rows * sizeof *s->ids);
    s->positions = vit_arena_take(k->arena, rows * sizeof *s->positions);
    s->spans = vit_arena_take(k->arena, k->capacity * sizeof *s->spans);
    s->cross_spans = vit_arena_take(k->arena, k->capacity * sizeof *s->cross_spans);
}

uint32_t vit_token_embedding_position(const vit_config *c, size_t id, size_t n) {
    const bool is_padding = c->padding && id + 1 == c->position_offset;
    return (uint32_t)(is_padding ? id : n + c->position_offset);
}

size_t vit_token_embedding_rows(vit_token_embedding_state *s, const vit_config *c,
                                const vit_ids *texts, size_t batch) {
    size_t rows = 0;
    for (size_t b = 0; b < batch; b++) {
        const size_t first = rows, start = c->causal && !c->tower, count = start + texts[b].count;
        for (size_t n = 0; n < count; n++, rows++) {
            s->ids[rows] = n < start ? (uint32_t)c->start : texts[b].ids[n - start];
            s->positions[rows] = vit_token_embedding_position(c, s->ids[rows], n);
        }
        s->spans[b] = (vit_attention_span){first, count, first, count};
    }
    return rows;
}

static vit_lookup_shape lookup_shape(const vit_call *c, const vit_token_embedding_state *s) {
    const double scale = c->config->scale_embedding ? sqrt((double)c->config->dim) : 1;
    return (vit_lookup_shape){s->ids, s->positions, c->rows, c->config->dim, (float)scale};
}

void vit_token_embedding_forward(const vit_call *c, const vit_token_embedding_state *s,
                                 float *tokens) {
    const vit_lookup_shape shape = lookup_shape(c, s);
    vit_lookup_forward(c->exec, tokens, c->weights->embedding, c->weights->positions, &shape);
}

void vit_token_embedding_backward(const vit_call *c, const vit_token_embedding_state *s,
                                  const vit_gradients *g, float *d_tokens) {
    const vit_lookup_shape shape = lookup_shape(c, s);
    vit_lookup_backward(c->exec, g->embedding, g->positions, d_tokens, &shape);
}
