/* A network that one looks into: one picture goes forward, and a class's logit backward, block by
 * block, and after each block the caller sees what ordinary answers do not keep. The logits are
 * those of an ordinary answer, to the bit.
 *
 * Only one layer's attention weights are in memory at a time. T tokens, D = dim.
 */
#ifndef VIT_EXPLAIN_EXPLAINER_H
#define VIT_EXPLAIN_EXPLAINER_H

#include "vit/model/network.h"

typedef struct vit_explainer {
    const vit_network *network; /* borrowed */
    double temperature;         /* of the probabilities that are told; maps are of the logits */
    int threads;
    vit_exec exec;
    vit_arena arena;
    vit_state state;
    float *d_p;      /* [heads][T][padded T] */
    float *d_map_p;  /* [heads][padded T], map pooling */
    float *d_norm;   /* [T][D] */
    float *unpacked; /* the weights of a block, or of what lies around the blocks, for dx = dy W */
    size_t unpacked_size;
} vit_explainer;

/* In f32. */
vit_status vit_explainer_new(vit_explainer **out, const vit_network *network,
                             const vit_kernels *kernels, int threads, vit_error *error);
void vit_explainer_free(vit_explainer *explainer);

/* What a block shows while it is at work; pointers live for the call. */
typedef struct vit_seen {
    size_t layer;
    const float *p; /* [heads][T][padded T] attention weights: rows sum to 1 */
    float *z;       /* forward: [T][D] what the block puts out */
    /* backward: */
    const float *d_p;           /* as p: the gradient of the class's logit */
    const float *norm, *d_norm; /* [T][D] what its first norm puts out, and its gradient */
} vit_seen;
typedef void vit_look(const vit_seen *seen, void *context);

/* image: [height][width][channels], normalised, to be kept until after the backward pass. Fills
 * state.logits. look NULL: nobody does. FORMAT where the answer is none, as vit_check_answer says.
 */
vit_status vit_explainer_forward(vit_explainer *explainer, const float *image, vit_look *look,
                                 void *context, vit_error *error);

/* The gradient of logit `index` of the picture that went forward, one after another: through the
 * head, whose state.d_pooled, d_map_p and state.d_z then stand; from the last block to the first;
 * and to the picture, state.d_images. */
void vit_explainer_backward_head(vit_explainer *explainer, size_t index);
void vit_explainer_backward_blocks(vit_explainer *explainer, vit_look *look, void *context);
void vit_explainer_backward_picture(vit_explainer *explainer);

/* logits: [classes], of the tokens z, [T][D], as if they came from the last block. */
void vit_explainer_head(vit_explainer *explainer, float *logits, float *z);

#endif
