/* Picture files -> pixels: PNG and JPEG, as Pillow decodes them, to the bit.
 *
 * Every size in a file is checked once, here, before a pixel is decoded; after that the code trusts
 * it. All functions may be called from any thread.
 */
#ifndef VIT_IMAGE_CODEC_DECODE_H
#define VIT_IMAGE_CODEC_DECODE_H

#include "vit/base/sys.h"
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

/* The same in steps, for those who need not have all rows at once. */
typedef struct vit_image_file {
    vit_image image;       /* of a JPEG without pixels, until vit_image_read */
    struct vit_jpeg *jpeg; /* NULL: image.pixels are there */
    const char *name;
} vit_image_file;

/* `bytes` and `name` stay until it is closed, which is to be done where this succeeds. */
vit_status vit_image_open(vit_image_file *out, const void *bytes, size_t size, const char *name,
                          vit_error *error);

/* Before the first row of a picture without pixels: of its rows only columns *left to *left +
 * *width - 1 are needed. They will have those, or more on either side, as *left and *width then
 * say. */
vit_status vit_image_narrow(const vit_image_file *file, size_t *left, size_t *width,
                            vit_error *error);

/* The next `count` rows of a picture without pixels, each once. Only with the last one is it known
 * that the file is whole. */
vit_status vit_image_read_rows(vit_image_file *file, uint8_t *rows, size_t count, vit_error *error);
vit_status vit_image_read(vit_image_file *file, vit_error *error); /* all, into file->image */
void vit_image_close(vit_image_file *file);

/* Checks a picture's file as vit_image_decode does before it decodes, and says its size (before any
 * rotation that the file asks for): all of a PNG but its pixels, the header of a JPEG. Same errors.
 */
vit_status vit_image_measure(size_t *width, size_t *height, const void *bytes, size_t size,
                             const char *name, vit_error *error);

/* Reads all of a picture's file; "-" is standard input. *name is what messages call it. bytes.data
 * is freed by vit_free. */
vit_status vit_image_read_file(vit_bytes *bytes, const char **name, const char *path,
                               vit_error *error);

/* Reads and decodes a file. */
vit_status vit_image_load(vit_image *out, const char *path, vit_error *error);

#endif
