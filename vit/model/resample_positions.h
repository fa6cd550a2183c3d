/* Learned positions for another size of picture. */
#ifndef VIT_MODEL_RESAMPLE_POSITIONS_H
#define VIT_MODEL_RESAMPLE_POSITIONS_H

#include "vit/model/config.h"

/* How the library that a model comes from resamples the grid of positions, row by row and column by
 * column. Cubic is Keys' convolution, with a = -1/2 where antialiased and -3/4 where not, as in
 * torch; antialiased: the kernel is stretched when the grid shrinks. The outer edges of both grids
 * coincide; with "corners" the centres of their corner cells do. */
typedef enum vit_position_rule {
    VIT_POSITIONS_OF_TIMM,         /* cubic, antialiased; also for our own models and for Hugging
                                      Face's DINOv2 with registers */
    VIT_POSITIONS_OF_TIMM_NPZ,     /* linear: what timm does with Google's files */
    VIT_POSITIONS_OF_HUGGING_FACE, /* cubic */
    VIT_POSITIONS_OF_TORCHVISION,  /* cubic, corners */
    VIT_POSITIONS_OF_GOOGLE,       /* linear, corners: vit_jax and big_vision */
    VIT_POSITIONS_OF_NAFLEX, /* linear, antialiased: timm's NaFlexVit of SigLIP 2; and where it
                                keeps the shape, to a square, of which the first rows and
                                columns are taken: */
    VIT_POSITIONS_OF_NAFLEX_CUBIC,   /* cubic, antialiased */
    VIT_POSITIONS_OF_NAFLEX_LINEAR,  /* linear */
    VIT_POSITIONS_OF_NAFLEX_CORNERS, /* linear, corners */
    VIT_POSITIONS_OF_COUNT,
} vit_position_rule;

typedef struct vit_grid {
    size_t height, width; /* patches */
} vit_grid;

/* out: [prefix + to.height * to.width][dim], in: [prefix + from.height * from.width][dim]. The
 * first `prefix` rows, of class token and the like, are copied; where the grids are equal, all are.
 * Sums are in double. Errors: MEMORY. */
vit_status vit_positions_resample(float *out, const float *in, size_t prefix, size_t dim,
                                  vit_grid to, vit_grid from, vit_position_rule rule,
                                  vit_error *error);

#endif
