/* The stem of a stack that reads texts: ids -> tokens, X = E + PE. The rows of the samples follow
 * one another, as many as a sample has tokens; there is no padding. A part of network.c. */
#include "vit/model/network.h"
#include "vit/ops/embed.h"
#include <math.h>

void vit_text_carve(vit_state *s, vit_arena *arena, const vit_config *c) {
    const size_t rows = s->capacity * vit_config_tokens(c);
    s->ids = vit_arena_take(arena, rows * sizeof *s->ids);
    s->places = vit_arena_take(arena, rows * sizeof *s->places);
    s->spans = vit_arena_take(arena, s->capacity * sizeof *s->spans);
    s->cross_spans = vit_arena_take(arena, s->capacity * sizeof *s->cross_spans);
}

uint32_t vit_text_place(const vit_config *c, size_t id, size_t place) {
    const bool is_padding = c->padding && id + 1 == c->position_offset;
    return (uint32_t)(is_padding ? id : place + c->position_offset);
}

static void add_token(vit_state *s, const vit_config *c, size_t id, size_t place) {
    s->ids[s->rows] = (uint32_t)id;
    s->places[s->rows++] = vit_text_place(c, id, place);
}

void vit_text_rows(vit_state *s, const vit_config *c) {
    s->rows = 0;
    for (size_t b = 0; b < s->batch; b++) {
        const vit_ids *text = &s->texts[b];
        const size_t first = s->rows;
        if (c->causal) add_token(s, c, c->start, 0);
        for (size_t i = 0; i < text->count; i++) add_token(s, c, text->ids[i], s->rows - first);
        s->spans[b] = (vit_attention_span){first, s->rows - first, first, s->rows - first};
    }
}

static vit_lookup_shape lookup_shape(const vit_config *c, const vit_state *s) {
    const double scale = c->scale_embedding ? sqrt((double)c->dim) : 1;
    return (vit_lookup_shape){s->ids, s->places, s->rows, c->dim, (float)scale};
}

void vit_text_forward(const vit_network *n, const vit_exec *exec, vit_state *s) {
    const vit_lookup_shape shape = lookup_shape(&n->config, s);
    vit_lookup_forward(exec, s->tokens, n->weights.embedding, n->weights.positions, &shape);
}

void vit_text_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                       const vit_gradients *g, float *d_tokens) {
    const vit_lookup_shape shape = lookup_shape(&n->config, s);
    vit_lookup_backward(exec, g->embedding, g->positions, d_tokens, &shape);
}
