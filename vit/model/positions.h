/* Positions: the tables of those that are not learned, and learned ones for another size of
 * picture. */
#ifndef VIT_MODEL_POSITIONS_H
#define VIT_MODEL_POSITIONS_H

#include "vit/model/config.h"

/* ---- positions that are not learned ---- */

/* *out: [vit_config_positions][dim], freed by vit_free; NULL where the config's positions are
 * learned. Computed in double and rounded once; they are no parameters and in no model file. With
 * w_i = 10000^(-2i / dim):
 *   sinusoidal (Vaswani et al., section 3.5): features 2i and 2i + 1 of token t are sin(t w_i) and
 *     cos(t w_i); the class token is token 0.
 *   sinusoidal_halves: of token t first all sines, then all cosines, of t 10000^(-i / (dim / 2 -
 * 1)). sincos2d (He et al.: Masked Autoencoders, but the row first): the first dim / 2 features of
 * a patch are of its row, the others of its column, of each the sines first; the tokens before the
 * patches have zeros. Errors: MEMORY. */
vit_status vit_positions_new(float **out, const vit_config *config, vit_error *error);

/* ---- learned positions for another size of picture ---- */

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
