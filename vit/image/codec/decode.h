/* Picture files -> pixels: PNG and JPEG, as Pillow decodes them, to the bit.
 *
 * Every size in a file is checked once, here, before a pixel is decoded; after that the code trusts
 * it. All functions may be called from any thread.
 */
#ifndef VIT_IMAGE_CODEC_DECODE_H
#define VIT_IMAGE_CODEC_DECODE_H

#include "vit/image/image.h"

/* Decodes a picture with the channels it has (16-bit samples become 8 by >> 8, palettes become
 * RGB or RGBA) as its pixels lie; the orientation is noted, not applied. EXIF data that make no
 * sense are ignored: they are advice, and the pixels are there without them. `name` stands for the
 * file in messages. Errors: FORMAT for corrupt or truncated files (bytes after the end of the
 * picture are tolerated), UNSUPPORTED for other formats and for JPEG of other depths than 8 bits,
 * MEMORY.
 *
 * JPEG with four components (CMYK, YCCK) becomes RGB as by Pillow's convert("RGB"). A JPEG from
 * whose data a part of the picture is missing is corrupt, also where a decoder would fill the gap.
 * Of an arithmetic-coded one without restart markers that cannot be told: any data are a picture.
 */
vit_status vit_image_decode(vit_image *out, const void *bytes, size_t size, const char *name,
                            vit_error *error);

/* Checks a picture's file as vit_image_decode does before it decodes, and says its size (before any
 * rotation that the file asks for): all of a PNG but its pixels, the header of a JPEG. Same errors.
 */
vit_status vit_image_measure(size_t *width, size_t *height, const void *bytes, size_t size,
                             const char *name, vit_error *error);

/* Reads and decodes a file; "-" is standard input. */
vit_status vit_image_load(vit_image *out, const char *path, vit_error *error);

#endif
