/* The network: patches -> linear embedding -> tokens -> encoder blocks -> head -> logits, and back.
 *
 * A state holds the activations of up to `capacity` pictures. In training every block has its own,
 * kept for the backward pass; in inference all blocks share one. Weights are only read, so many
 * states may use one network at once, each on its own thread.
 *
 * R = batch * tokens rows, D = dim, M = mlp width, N = patches, T = tokens: N + 1 with a class
 * token.
 */
#ifndef VIT_MODEL_NETWORK_H
#define VIT_MODEL_NETWORK_H

#include "vit/base/arena.h"
#include "vit/model/parameters.h"
#include "vit/ops/attention.h"

/* One encoder block. Pre-norm (Dosovitskiy et al., eq. 2 and 3):
 *     z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z'.
 * Post-norm (Vaswani et al., section 3.1):
 *     h = LN(z + MSA(z)); z_next = LN(h + MLP(h)). */
typedef struct vit_block_state {
    float *z;              /* [R][D] the block's input */
    vit_norm_state stats1; /* [R] each */
    float *norm1;          /* [R][D] LN(z); post-norm: h */
    float *qkv;            /* [R][3][heads][D / heads] */
    float *p;              /* [batch][heads][T][padded T] attention weights; NULL: not kept */
    float *o;              /* [R][D] heads side by side */
    /* [batch][D] each, of the last block where only class tokens are read: their z, their x that
     * the queries come from, and the queries. What follows the queries then has one row per
     * picture. */
    float *first_z, *first_x, *first_q;
    float *mid; /* [R][D] z'; post-norm: z + MSA(z) */
    vit_norm_state stats2;
    float *norm2;  /* [R][D] LN(z'), pre-norm */
    float *sum;    /* [R][D] h + MLP(h), post-norm */
    float *hidden; /* [R][M] before the activation */
    float *active; /* [R][M] after */
} vit_block_state;

typedef struct vit_conv_state {
    float *hidden, *active; /* [batch][pixels][width] before and after GELU */
} vit_conv_state;

typedef struct vit_state {
    size_t capacity, batch; /* pictures there is room for; of the last forward pass */
    const float *images;    /* of the last forward pass, the caller's */
    float *patches;         /* [batch][N][P^2 C], or [batch][N][D] after the convolutions */
    vit_conv_state convs[VIT_MOST_CONVS];
    float *columns;  /* of the largest convolution, conv.h */
    float *embedded; /* [batch][N][D] */
    vit_block_state *blocks;
    float *z;                         /* [R][D] output of the last block, mean pooling */
    float *pooled;                    /* [batch][D] its class tokens, or the mean of its tokens */
    vit_norm_state stats;             /* [batch] */
    float *features;                  /* [batch][D] after the final norm: what the head sees */
    float *head_hidden, *head_active; /* [batch][M], MLP head */
    float *logits;                    /* [batch][classes] */
    float *scratch;                   /* attention: [threads][...] */
    /* Drop path (Huang et al.: Deep Networks with Stochastic Depth), set by the caller before the
     * forward pass: what MSA and MLP of each picture are multiplied by, [depth][2][batch]; NULL:
     * 1. */
    const float *keep;
    /* training: */
    float *d_logits;           /* [batch][classes], set by the caller before the backward pass */
    float *d_z;                /* [R][D] */
    float *d_narrow;           /* [R][D] */
    float *d_branch;           /* [R][D] */
    float *d_conv, *d_columns; /* of the largest convolution */
    float *d_wide;             /* [R][max(3 D, M)] */
} vit_state;

typedef struct vit_network {
    vit_config config;
    vit_weights weights;
} vit_network;

/* Carves a state from an arena; with a counting arena (arena.h) it only measures. threads: of the
 * exec that will be used. */
void vit_state_carve(vit_state *out, vit_arena *arena, const vit_config *config, size_t capacity,
                     int threads, bool training);

/* images: [batch][height][width][channels], normalised, to be kept until after the backward pass;
 * batch <= capacity. Fills state->features
 * and state->logits. */
void vit_network_forward(const vit_network *network, const vit_exec *exec, vit_state *state,
                         const float *images, size_t batch);

/* gradients += those of the last forward pass, given state->d_logits. */
void vit_network_backward(const vit_network *network, const vit_exec *exec, vit_state *state,
                          const vit_gradients *gradients);

/* ---- stem.c: pictures -> state->embedded ---- */

void vit_stem_carve(vit_state *s, vit_arena *arena, const vit_config *c, bool training);

void vit_stem_forward(const vit_network *n, const vit_exec *exec, vit_state *s,
                      const float *images);

/* d_embedded: [batch][N][D] */
void vit_stem_backward(const vit_network *n, const vit_exec *exec, vit_state *s,
                       const vit_gradients *g, const float *d_embedded);

/* ---- block.c ---- */

typedef struct vit_block_call {
    const vit_exec *exec;
    const vit_config *config;
    const vit_block_weights *weights;
    size_t batch;
    size_t outputs;    /* tokens of a picture whose output is wanted: all of them, or the first */
    const float *keep; /* [2][batch] of this block, or NULL */
    float *scratch;    /* of attention */
} vit_block_call;

/* z_next: [batch][outputs][D], may be state->z. */
void vit_block_forward(const vit_block_call *call, float *z_next, vit_block_state *state);

/* On entry s->d_z is the gradient of the block's output, [batch][outputs][D], on return that of its
 * input. */
void vit_block_backward(const vit_block_call *call, vit_state *s, const vit_block_state *state,
                        const vit_block_gradients *g);

#endif
