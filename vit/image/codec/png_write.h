/* Pictures as PNG. */
#ifndef VIT_IMAGE_CODEC_PNG_WRITE_H
#define VIT_IMAGE_CODEC_PNG_WRITE_H

#include "vit/base/sys.h"

/* out->data, freed by vit_free: the PNG of pixels [height][width][channels], of 1 (grey), 2 (grey
 * and alpha), 3 (RGB) or 4 (RGBA) channels. Same pixels and same zlib, same bytes. UNSUPPORTED for
 * pictures of more than 1 GiB, ARGUMENT for other channels and for none. May be called from any
 * thread. */
vit_status vit_png_write(vit_bytes *out, const uint8_t *pixels, size_t width, size_t height,
                         size_t channels, vit_error *error);

#endif
