/* Picture files -> pixels, with the same pixels as Pillow, to the bit: PNG, JPEG, BMP, GIF (the
 * first picture), PBM, PGM, PPM, TGA; WebP, TIFF, HEIC and AVIF where their libraries are built in,
 * the last two with libheif's pixels. What a file is, is told by its content.
 *
 * Every size in a file is checked once, before a pixel is decoded; the code after that relies on
 * it. All functions may be called from any thread.
 */
#ifndef VIT_IMAGE_CODEC_DECODE_H
#define VIT_IMAGE_CODEC_DECODE_H

#include "vit/base/sys.h"
#include "vit/image/image.h"

/* Decodes a picture, with the channels that it has: 16-bit samples become 8-bit ones by >> 8,
 * palettes become RGB or RGBA. out->orientation is set, but the pixels are not rotated, except
 * those of TIFF, HEIC and AVIF, which are upright as Pillow and libheif give them; invalid EXIF
 * data are ignored. Messages call the file `name`. Errors: FORMAT for corrupt or truncated files
 * (bytes after the last of the picture are not looked at), UNSUPPORTED for other formats and for
 * JPEG with other than 8 bits per sample, MEMORY.
 *
 * JPEG with four components (CMYK, YCCK) becomes RGB as by Pillow's convert("RGB"). If data for a
 * part of the picture are missing, the JPEG is corrupt, even if the decoder could fill the gap.
 * Only in an arithmetic-coded JPEG without restart markers damage cannot be detected, as any data
 * decode to a picture. */
vit_status vit_image_decode(vit_image *out, const void *bytes, size_t size, const char *name,
                            vit_error *error);

/* The same in steps, for callers that look at the size first, or do not need all rows at once. */
typedef struct vit_image_file {
    vit_image image;       /* width and height; no pixels before vit_image_read */
    struct vit_jpeg *jpeg; /* of these three one is not NULL */
    struct vit_png *png;
    const struct vit_format *format; /* another one */
    const uint8_t *bytes;
    size_t size;
    const char *name;
} vit_image_file;

/* Checks the file without decoding pixels: a PNG except for its pixels, of others the header.
 * `bytes` and `name` must stay until vit_image_close, which is called unless this fails. */
vit_status vit_image_open(vit_image_file *out, const void *bytes, size_t size, const char *name,
                          vit_error *error);

/* Called before the first row of a JPEG is read, if only columns *left to *left + *width - 1 are
 * needed. Rows will have these columns, or more on either side; *left and *width are set to what
 * they have. */
vit_status vit_image_narrow(const vit_image_file *file, size_t *left, size_t *width,
                            vit_error *error);

/* rows = the next `count` rows of a JPEG, each of which is read once. Only after the last row is it
 * known that the file is complete. */
vit_status vit_image_read_rows(vit_image_file *file, uint8_t *rows, size_t count, vit_error *error);
vit_status vit_image_read(vit_image_file *file, vit_error *error); /* all, into file->image */
void vit_image_close(vit_image_file *file);

/* Whether a name ends as those of pictures do; what a file is, its content tells. */
bool vit_ends_as_picture(const char *name);

/* Checks a file without decoding pixels (a PNG except for its pixels, of others the header) and
 * gives its size, before the rotation that its orientation asks for. Errors as vit_image_decode. */
vit_status vit_image_measure(size_t *width, size_t *height, const void *bytes, size_t size,
                             const char *name, vit_error *error);

/* Reads all bytes of a picture file; "-" is standard input. *name = what messages call it. The
 * caller frees bytes->data with vit_free. */
vit_status vit_image_read_file(vit_bytes *bytes, const char **name, const char *path,
                               vit_error *error);

/* Reads and decodes a file. Errors as vit_image_decode, and IO. */
vit_status vit_image_load(vit_image *out, const char *path, vit_error *error);

#endif
