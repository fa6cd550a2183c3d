/* What every part of a network is given: the memory that it carves, and the gradients on their way
 * back. A part is a file: its state, and its functions to carve, to go forward and to go backward.
 *
 * Sizes in the comments: R rows, the tokens of all samples (batch * T, or of texts the sum of their
 * lengths); D = dim; A = heads * head_dim, which is D unless the config has a head_dim; M = width
 * of the MLP; N patches; T tokens, the patches and the class token, ... before them; F = features
 * that the head sees, D or 2 D. d_x is the gradient of the loss with respect to x.
 *
 * Functions that carve take memory from an arena; the arena owns it, and nothing else is to be
 * freed. A state stays valid as long as its arena; one thread uses it at a time. */
#ifndef VIT_MODEL_PARTS_PART_H
#define VIT_MODEL_PARTS_PART_H

#include "vit/base/arena.h"
#include "vit/model/parameters.h"

/* Which activations a state keeps for the backward pass. Gradients are the same to the bit. */
typedef enum vit_kept {
    VIT_KEPT_NOTHING, /* inference */
    VIT_KEPT_INPUTS, /* each block's input z; the rest is computed again (Chen et al.: Training Deep
                        Nets with Sublinear Memory Cost) */
    VIT_KEPT_ALL,    /* everything that a matrix product makes */
    VIT_KEPT_TOKENS, /* for maps (vit/explain): as INPUTS; besides, the last block computes every
                        token, read or not, the attention weights p of the block that is being
                        computed are there, and there is memory for the pictures' gradient */
    VIT_KEPT_COUNT,
} vit_kept;

/* What else is known of each, by the enum's value. */
typedef struct vit_kept_row {
    bool trains;       /* there is a backward pass */
    bool inputs_alone; /* what blocks but the last have computed is gone then */
    bool tokens; /* every token and its attention weights are there; it ends at the pictures */
} vit_kept_row;

extern const vit_kept_row vit_kepts[];

static inline bool vit_kept_trains(vit_kept kept) {
    return vit_kepts[kept].trains;
}

/* What the memory of a part depends on. */
typedef struct vit_carving {
    vit_arena *arena;
    const vit_config *config;
    size_t capacity;       /* samples, at most */
    size_t outputs;        /* tokens of a sample that a block computes: T or 1 */
    size_t encoder_tokens; /* of one sample, at most, that cross-attention reads */
    vit_kept kept;
} vit_carving;

/* Rows of the largest batch, and of its output where a block does not compute all tokens. */
static inline size_t vit_carving_rows(const vit_carving *k) {
    return k->capacity * vit_config_tokens(k->config);
}
static inline size_t vit_carving_rows_out(const vit_carving *k) {
    return k->capacity * k->outputs;
}

/* Mean and 1 / sigma of `rows` rows. */
static inline vit_norm_state vit_carve_stats(vit_arena *arena, size_t rows) {
    float *mean = vit_arena_floats(arena, rows), *rstd = vit_arena_floats(arena, rows);
    return (vit_norm_state){mean, rstd};
}

/* What a part outside the blocks is called with; a block's is in block_call.h. All is borrowed. */
typedef struct vit_call {
    const vit_exec *exec;
    const vit_config *config;
    const vit_weights *weights;
    size_t batch, rows; /* samples; R */
    float *scratch;     /* of attention: [threads][vit_attention_scratch] */
} vit_call;

/* The backward pass: the gradient that goes from part to part, and scratch memory for each in turn.
 */
typedef struct vit_backward {
    float *d_z;      /* [R][D] */
    float *d_narrow; /* [R][max(D, A)] */
    float *d_branch; /* [R][max(D, A)] */
    float *d_wide;   /* [R][max(3 A, M or 2 M, 2 D, projection)] */
} vit_backward;

#endif
