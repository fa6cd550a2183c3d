/* A forward pass of one picture, and a backward pass from one class's logit, block by block: after
 * each block the caller is shown attention weights, states and gradients that ordinary answers do
 * not keep. The logits are to the bit those of an ordinary answer.
 *
 * Only one block's attention weights are in memory at a time. T tokens, D = dim, F features; dx is
 * the gradient of the logit with respect to x.
 */
#ifndef VIT_EXPLAIN_EXPLAINER_H
#define VIT_EXPLAIN_EXPLAINER_H

#include "vit/model/run/network.h"

typedef struct vit_explainer {
    const vit_network *network; /* borrowed */
    double temperature;         /* of the probabilities beside maps; maps are of the logits */
    vit_scoring scoring;        /* likewise */
    int threads;
    vit_exec exec;
    vit_arena arena;
    vit_state state;
    float *d_p;      /* [heads][T][padded T] */
    float *d_map_p;  /* [pool heads][padded T], of pooling by attention */
    float *d_norm;   /* [T][D] */
    float *unpacked; /* [unpacked_size] W of one block's layers, or of those outside the blocks, for
                        dx = dy W: a model keeps W^T alone */
    size_t unpacked_size;
} vit_explainer;

/* network: in f32, borrowed. Freed by vit_explainer_free, which takes NULL. Errors: MEMORY. */
vit_status vit_explainer_new(vit_explainer **out, const vit_network *network,
                             const vit_kernels *kernels, int threads, vit_error *error);
void vit_explainer_free(vit_explainer *explainer);

/* What is shown of a block when it is done; the arrays are valid during the call. */
typedef struct vit_seen {
    size_t layer;   /* number of the block, from 0 */
    const float *p; /* [heads][T][padded T] attention weights, softmax(Q K^T / sqrt(d)) */
    float *z;       /* [T][D] the block's output; of the forward pass alone */
    /* Of the backward pass alone: */
    const float *d_p;           /* as p: its gradient */
    const float *norm, *d_norm; /* [T][D] the output of the first norm, and its gradient */
} vit_seen;
typedef void vit_look(const vit_seen *seen, void *context);

/* image: [height][width][channels], normalised, borrowed until after the backward pass. Fills
 * state.head.logits. look: called after each block; or NULL. FORMAT for an answer that is NaN or
 * infinite.
 */
vit_status vit_explainer_forward(vit_explainer *explainer, const float *image, vit_look *look,
                                 void *context, vit_error *error);

/* The gradient of logit `index` for the last forward pass, in three steps: through the head, which
 * fills state.pool.d_pooled: [F], d_map_p and state.back.d_z: [T][D]; through the blocks, the last
 * first; and to the picture, state.stem.d_images: [height][width][channels]. */
void vit_explainer_backward_head(vit_explainer *explainer, size_t index);
void vit_explainer_backward_blocks(vit_explainer *explainer, vit_look *look, void *context);
void vit_explainer_backward_picture(vit_explainer *explainer);

/* logits: [classes], the head applied to z: [T][D] as if that were the last block's output. */
void vit_explainer_head(vit_explainer *explainer, float *logits, float *z);

#endif
