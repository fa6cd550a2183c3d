/* Maps drawn as pictures. pixels: [height][width][channels] of the config. png->data is freed by
 * vit_free. Errors: ARGUMENT for maps that are not over the patch grid; MEMORY. */
#ifndef VIT_EXPLAIN_DRAW_H
#define VIT_EXPLAIN_DRAW_H

#include "vit/base/sys.h"
#include "vit/maps.h"
#include "vit/model/config.h"

/* The PNG that vit_map_png promises. */
vit_status vit_draw_maps(vit_bytes *png, const vit_config *config, const uint8_t *pixels,
                         const vit_map *maps, size_t count, vit_error *error);

/* The picture alone, each pixel repeated so often that its longer side is at least `side`. */
vit_status vit_draw_picture(vit_bytes *png, const vit_config *config, const uint8_t *pixels,
                            size_t side, vit_error *error);

#endif
