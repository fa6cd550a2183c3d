/* What a block, and each of its parts, is called with. Sizes as in part.h. */
#ifndef VIT_MODEL_PARTS_BLOCK_CALL_H
#define VIT_MODEL_PARTS_BLOCK_CALL_H

#include "vit/model/parts/part.h"
#include "vit/ops/attention.h"

/* The encoder's last states, m, which cross-attention reads. */
typedef struct vit_encoder_states {
    const float *values; /* [rows][their width]; NULL: keys and values are computed already */
    float *d_values;     /* as values: the backward pass adds to their gradient */
    size_t rows;
    const vit_attention_span *spans; /* [batch] the rows of each sample's queries, and of m */
} vit_encoder_states;

/* Keys and values of a text's earlier tokens, while it is written token by token. Each text has
 * memory for `length` tokens; the call's spans say how many are there, the new one included. */
typedef struct vit_block_cache {
    float *kv;     /* [texts][length][2][A] */
    size_t length; /* tokens, at most */
} vit_block_cache;

/* All is borrowed. */
typedef struct vit_block_call {
    const vit_exec *exec;
    const vit_config *config;
    const vit_block_weights *weights;
    size_t batch;
    size_t rows;       /* R */
    size_t outputs;    /* tokens of a picture that are wanted: all of them, or the first */
    const float *keep; /* [2][batch] drop path of this block's MSA and MLP, or NULL */
    float *scratch;    /* of attention: [threads][vit_attention_scratch] */
    const vit_attention_span *spans;   /* [batch] of self-attention; NULL: all have T tokens */
    const vit_encoder_states *encoder; /* NULL: there is no cross-attention */
    const vit_block_cache *cache;      /* NULL: all tokens are computed at once */
    /* For maps, or NULL; filled by the backward pass: the gradient of the state's p, and that of
     * the first norm's output, [R][D], which itself is left in the state's norm. */
    float *d_p, *d_norm1;
} vit_block_call;

/* Rows of the block's input. */
static inline size_t vit_rows_in(const vit_block_call *c) {
    return c->rows;
}

/* Rows of its output: as many, or one per picture where only first tokens are wanted. */
static inline size_t vit_rows_out(const vit_block_call *c) {
    return c->outputs < vit_config_tokens(c->config) ? c->batch * c->outputs : c->rows;
}

/* Whether the attention weights p are kept for the backward pass. Those of more than 256 keys
 * are computed again: they would be most of the memory, and computing them is a fifth of
 * attention's arithmetic. */
static inline bool vit_keeps_weights(vit_kept kept, size_t keys) {
    return vit_kepts[kept].tokens || (vit_kepts[kept].trains && keys <= 256);
}

#endif
