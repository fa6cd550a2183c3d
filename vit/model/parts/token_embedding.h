/* The stem of a stack that reads texts: ids -> tokens, X = E + PE. The rows of the samples follow
 * one another, each as many as its text has tokens; there is no padding. */
#ifndef VIT_MODEL_PARTS_TOKEN_EMBEDDING_H
#define VIT_MODEL_PARTS_TOKEN_EMBEDDING_H

#include "vit/model/parts/part.h"
#include "vit/ops/attention.h"
#include "vit/text/vocabulary.h"

typedef struct vit_token_embedding_state {
    uint32_t *ids;       /* [R] a decoder's texts begin with START */
    uint32_t *positions; /* [R] rows of the table of positions */
    /* [batch] the rows of each text's queries and keys, in self-attention and in cross-attention;
     * NULL of a stack that reads pictures, where all samples have T tokens */
    vit_attention_span *spans, *cross_spans;
} vit_token_embedding_state;

void vit_token_embedding_carve(vit_token_embedding_state *s, const vit_carving *k);

/* Sets ids, positions and spans of texts: [batch], without START and END; returns R. */
size_t vit_token_embedding_rows(vit_token_embedding_state *s, const vit_config *c,
                                const vit_ids *texts, size_t batch);

/* The row of the table of positions for a text's token number `n`, counted from 0, whose id is
 * `id`. */
uint32_t vit_token_embedding_position(const vit_config *c, size_t id, size_t n);

/* tokens: [R][D] = embedding[id] + positions[position] */
void vit_token_embedding_forward(const vit_call *c, const vit_token_embedding_state *s,
                                 float *tokens);

/* Adds to the gradients of both tables, given d_tokens: [R][D], which is overwritten. */
void vit_token_embedding_backward(const vit_call *c, const vit_token_embedding_state *s,
                                  const vit_gradients *g, float *d_tokens);

#endif
