/* The network: patches -> linear embedding -> tokens -> encoder blocks -> head -> logits, and back.
 *
 * A state holds the activations of up to `capacity` pictures. In training every block has its own,
 * kept for the backward pass; in inference all blocks share one. Weights are only read, so many
 * states may use one network at once, each on its own thread.
 *
 * R = batch * tokens rows, D = dim, M = mlp width, N = patches, T = N + 1.
 */
#ifndef VIT_MODEL_NETWORK_H
#define VIT_MODEL_NETWORK_H

#include "vit/base/arena.h"
#include "vit/model/parameters.h"
#include "vit/ops/attention.h"

/* One encoder block, pre-norm (Dosovitskiy et al., eq. 2 and 3):
 * z' = MSA(LN(z)) + z; z_next = MLP(LN(z')) + z'. */
typedef struct vit_block_state {
    float *z;              /* [R][D] the block's input */
    vit_norm_state stats1; /* [R] each */
    float *norm1;          /* [R][D] LN(z) */
    float *qkv;            /* [R][3][heads][D / heads] */
    float *p;              /* [batch][heads][T][padded T] attention weights; NULL in inference */
    float *o;              /* [R][D] heads side by side */
    float *mid;            /* [R][D] z' */
    vit_norm_state stats2;
    float *norm2;  /* [R][D] LN(z') */
    float *hidden; /* [R][M] before GELU */
    float *active; /* [R][M] after */
} vit_block_state;

typedef struct vit_state {
    size_t capacity, batch; /* pictures there is room for; of the last forward pass */
    float *patches;         /* [batch][N][P^2 C] */
    float *embedded;        /* [batch][N][D] */
    vit_block_state *blocks;
    float *z;                         /* [R][D] output of the last block */
    float *class_state;               /* [batch][D] its class tokens */
    vit_norm_state stats;             /* [batch] */
    float *features;                  /* [batch][D] after the final norm: what the head sees */
    float *head_hidden, *head_active; /* [batch][M], MLP head */
    float *logits;                    /* [batch][classes] */
    float *scratch;                   /* attention: [threads][...] */
    /* training: */
    float *d_logits; /* [batch][classes], set by the caller before the backward pass */
    float *d_z;      /* [R][D] */
    float *d_narrow; /* [R][D] */
    float *d_wide;   /* [R][max(3 D, M)] */
} vit_state;

typedef struct vit_network {
    vit_config config;
    vit_weights weights;
} vit_network;

/* Carves a state from an arena; with a counting arena (arena.h) it only measures. threads: of the
 * exec that will be used. */
void vit_state_carve(vit_state *out, vit_arena *arena, const vit_config *config, size_t capacity,
                     int threads, bool training);

/* images: [batch][height][width][channels], normalised; batch <= capacity. Fills state->features
 * and state->logits. */
void vit_network_forward(const vit_network *network, const vit_exec *exec, vit_state *state,
                         const float *images, size_t batch);

/* gradients += those of the last forward pass, given state->d_logits. */
void vit_network_backward(const vit_network *network, const vit_exec *exec, vit_state *state,
                          const vit_gradients *gradients);

/* ---- block.c ---- */

/* z_next: [R][D], may be state->z. */
void vit_block_forward(const vit_exec *exec, float *z_next, vit_block_state *state,
                       const vit_block_weights *w, const vit_config *config, size_t batch,
                       float *scratch);

/* On entry s->d_z is the gradient of the block's output, on return that of its input. */
void vit_block_backward(const vit_exec *exec, vit_state *s, const vit_block_state *state,
                        const vit_block_weights *w, const vit_block_gradients *g,
                        const vit_config *config);

#endif
