/* Positions that are not learned. */
#ifndef VIT_MODEL_FIXED_POSITIONS_H
#define VIT_MODEL_FIXED_POSITIONS_H

#include "vit/model/config.h"

/* *out: [vit_config_positions][dim], freed by vit_free; NULL where the config's positions are not
 * fixed. Computed in double and rounded once; they are no parameters and in no model file. With
 * w_i = 10000^(-2i / dim):
 *   sinusoidal (Vaswani et al., section 3.5): features 2i and 2i + 1 of token t are sin(t w_i) and
 *     cos(t w_i); the class token is token 0.
 *   sinusoidal_halves: of token t first all sines, then all cosines, of t 10000^(-i / (dim / 2 -
 * 1)). sincos2d (He et al.: Masked Autoencoders, but the row first): the first dim / 2 features of
 * a patch are of its row, the others of its column, of each the sines first; the tokens before the
 * patches have zeros. Errors: MEMORY. */
vit_status vit_positions_new(float **out, const vit_config *config, vit_error *error);

#endif
