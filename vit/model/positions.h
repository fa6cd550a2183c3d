/* Positions that are not learned: tables computed in double and rounded once, neither parameters
 * nor in the model file. The vector of a position p over `dim` features holds, for w_i =
 * 10000^(-2i / dim), sin(p w_i) and cos(p w_i). */
#ifndef VIT_MODEL_POSITIONS_H
#define VIT_MODEL_POSITIONS_H

#include "vit/model/config.h"

/* *out: [vit_config_positions][dim], freed by vit_free; NULL where the config's positions are
 * learned. sinusoidal (Vaswani et al., section 3.5): features 2i and 2i + 1 are sin(t w_i) and
 * cos(t w_i) of token t; the class token is token 0. sincos2d (He et al.: Masked Autoencoders, with
 * the row first): dim / 2 features for the row and dim / 2 for the column of a patch, of each the
 * sines before the cosines; those of the class token, ..., registers are 0. */
vit_status vit_positions_new(float **out, const vit_config *config, vit_error *error);

#endif
