/* Maps as pictures. */
#ifndef VIT_EXPLAIN_DRAW_H
#define VIT_EXPLAIN_DRAW_H

#include "vit/base/sys.h"
#include "vit/maps.h"
#include "vit/model/config.h"

/* The PNG of vit_map_png; pixels: [height][width][channels] of the config. */
vit_status vit_draw_maps(vit_bytes *png, const vit_config *config, const uint8_t *pixels,
                         const vit_map *maps, size_t count, vit_error *error);

/* The picture alone, enlarged by whole pixels so that no side is below `side`. */
vit_status vit_draw_picture(vit_bytes *png, const vit_config *config, const uint8_t *pixels,
                            size_t side, vit_error *error);

#endif
