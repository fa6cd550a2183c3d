/* Writing PNG. */
#ifndef VIT_IMAGE_CODEC_PNG_WRITE_H
#define VIT_IMAGE_CODEC_PNG_WRITE_H

#include "vit/base/sys.h"

/* *out = a PNG of pixels [height][width][channels] with 1 (grey), 2 (grey and alpha), 3 (RGB) or 4
 * (RGBA) channels; out->data is freed by vit_free. The bytes depend on the pixels and on the
 * version of zlib only. ARGUMENT for other channels and for no pixels, UNSUPPORTED for more than 1
 * GiB. May be called from any thread. */
vit_status vit_png_write(vit_bytes *out, const uint8_t *pixels, size_t width, size_t height,
                         size_t channels, vit_error *error);

#endif
