/* The angles of rotary positions that are not learned. */
#ifndef VIT_MODEL_ROPE_TABLE_H
#define VIT_MODEL_ROPE_TABLE_H

#include "vit/model/config.h"
#include "vit/ops/rope.h"

/* *out: [patches][2][d / 2], d being the width of a head, as vit_rope_turn takes it, freed by
 * vit_free; NULL where the config has no such positions. With q = d / 4, the patch's row r of H,
 * its column c of W, the base and the offset o of the config, the first q angles of a patch are t_r
 * base^(-i / q), i = 0 .. q - 1, and the others those of t_c, or the other way round. t is
 *   axial: r + o; with a reference grid of side S (r + o) / H S;
 *   centered (DINOv3): 2 pi (2 (r + o + 1/2) / H - 1), from one edge to the other.
 * Rounded as timm rounds: coordinates, frequencies and angles are float. Errors: MEMORY. */
vit_status vit_rope_new(float **out, const vit_config *config, vit_error *error);

/* base^(i / q), rounded as rope_rounded says: what the coordinate is divided by. */
float vit_rope_period(const vit_config *config, size_t i);

/* The grid of patches as vit_rope_mixed_forward takes it. */
vit_rope_grid vit_rope_grid_of(const vit_config *config);

#endif
