/* The stem: pictures -> x_p E, the embedded patches. One file for all of them: the linear stem
 * (patches, one linear layer), the convolutional one (3x3 convolutions of stride 2 with GELU, one
 * linear layer), and the tokenizer of compact transformers (3x3 convolutions of stride 1, each with
 * ReLU and max pooling). The stem of texts is token_embedding.h. */
#ifndef VIT_MODEL_PARTS_STEM_H
#define VIT_MODEL_PARTS_STEM_H

#include "vit/model/parts/part.h"

/* The activations of a convolution. */
typedef struct vit_conv_state {
    float *hidden, *active; /* [batch][pixels][width] before and after GELU, or max pooling */
    uint8_t *largest;       /* as active: which input of max pooling was it; NULL in inference */
} vit_conv_state;

typedef struct vit_stem_state {
    const float *images; /* of the last forward pass, borrowed from the caller */
    float *patches; /* [batch][N][P^2 C] x_p; after convolutions [batch][N][D]; of a tokenizer they
                       are `embedded` */
    vit_conv_state convs[VIT_MOST_CONVS];
    float *columns;          /* of the largest convolution, vit/ops/conv.h */
    float *raw_patches;      /* patches before their norm; without one the same array */
    float *raw_embedded;     /* embedded before its norm, in training with patch norms */
    vit_norm_state stats[2]; /* [batch][N] each, of patch norms */
    float *embedded;         /* [batch][N][D] x_p E */
    /* For the backward pass: */
    float *d_images;   /* as images, of VIT_KEPT_TOKENS; else NULL */
    float *d_columns;  /* as columns */
    float *d_convs[2]; /* of a convolution's output and of its input; one becomes the other */
    float *d_patches;  /* [batch][N][max(P^2 C, D)], with patch norms */
    float *d_inputs;   /* [batch][N][P^2 C], with patch norms or d_images */
} vit_stem_state;

void vit_stem_carve(vit_stem_state *s, const vit_carving *k);

/* images: [batch][height][width][channels], normalised; fills s->embedded. */
void vit_stem_forward(const vit_call *c, vit_stem_state *s, const float *images);

/* Adds to g, given d_embedded: [batch][N][D]; fills s->d_images if it is there. */
void vit_stem_backward(const vit_call *c, const vit_stem_state *s, const vit_gradients *g,
                       const float *d_embedded);

#endif
