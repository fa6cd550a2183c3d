/* PNG and JPEG, for decode.c; source.h has the other formats. `name` is what messages call a file;
 * its bytes are borrowed.
 *
 * JPEG: libjpeg-turbo decodes; jpeg.c sets its limits and refuses files that it would repair.
 * PNG: stb_image decodes. It ignores checksums and trusts the size that a file claims, so
 * png_check.c checks the file first, zlib takes the place of stb_image's decompressor, since it
 * checks the pixels' checksum and stops where they end (stb.c), and stb_image may allocate a
 * limited amount only.
 */
#ifndef VIT_IMAGE_CODEC_CODECS_H
#define VIT_IMAGE_CODEC_CODECS_H

#include "vit/image/image.h"

/* The orientation in EXIF data (from the TIFF header on), 1 to 8; VIT_ORIENTATION_UNKNOWN: there is
 * one, but it is none of these; 0: there is none. */
enum { VIT_ORIENTATION_UNKNOWN = 9 };
unsigned vit_exif_orientation(const uint8_t *tiff, size_t size);

/* The same in an XMP packet: a digit, of which 1 to 8 are orientations; 0: there is none. */
unsigned vit_xmp_orientation(const uint8_t *text, size_t size);

/* Whether the bytes begin as EXIF data in a JPEG do; *tiff, *size: those behind that. */
bool vit_exif_find(const uint8_t **tiff, size_t *size, const uint8_t *bytes, size_t count);

/* Bytes of a PNG chunk other than its data: length, type, CRC. */
enum { VIT_PNG_FRAME = 12 };

/* A number in a PNG, which is big-endian. */
static inline uint32_t vit_png_number(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Whether the file begins like a PNG. */
bool vit_png_recognise(const uint8_t *bytes, size_t size);

typedef enum vit_png_color {
    VIT_PNG_GREY = 0,
    VIT_PNG_RGB = 2,
    VIT_PNG_PALETTE = 3,
    VIT_PNG_GREY_ALPHA = 4,
    VIT_PNG_RGB_ALPHA = 6,
} vit_png_color;

/* A PNG file that was checked; the pointers are into its bytes. */
typedef struct vit_png {
    size_t width, height;
    unsigned depth; /* bits per sample */
    vit_png_color color;
    size_t samples; /* per pixel, in the data: 1 to 4 */
    bool interlaced;
    const uint8_t *palette; /* [palette_count] RGB */
    size_t palette_count;
    const uint8_t *transparency; /* the tRNS chunk; NULL: none */
    size_t transparency_size;
    const uint8_t *data;  /* the first IDAT chunk; the others follow it */
    size_t data_size;     /* of all IDAT chunks together */
    size_t size;          /* of the file, up to the end of its IEND chunk */
    size_t inflated;      /* bytes of the data when decompressed: filter types and samples */
    unsigned orientation; /* of these: in the eXIf chunk, in a text of EXIF data, in one of XMP */
    unsigned text_orientation, xmp_orientation;
} vit_png;

/* Checks all chunks up to IEND: sizes, checksums, order, header, palette. Errors: FORMAT,
 * UNSUPPORTED. */
vit_status vit_png_check(vit_png *out, const uint8_t *bytes, size_t size, const char *name,
                         vit_error *error);

/* Reads the orientation in the data of a text chunk of this type (tEXt, zTXt, iTXt), if it has one.
 * Text that is damaged or longer than a megabyte is passed over. Errors: MEMORY. */
vit_status vit_png_read_text(vit_png *png, const char type[4], const uint8_t *data, size_t size,
                             const char *name, vit_error *error);

/* Decodes the pixels of a file that was checked, whose bytes these are; as vit_image_decode. */
vit_status vit_png_decode(vit_image *out, const vit_png *png, const uint8_t *bytes,
                          const char *name, vit_error *error);

/* Whether the file begins like a JPEG. */
bool vit_jpeg_recognise(const uint8_t *bytes, size_t size);

/* A JPEG that is read row by row. `bytes` must stay until it is closed. */
typedef struct vit_jpeg vit_jpeg;

/* Reads up to the first scan: *header is the picture without pixels. *out is NULL on failure. */
vit_status vit_jpeg_open(vit_jpeg **out, vit_image *header, const uint8_t *bytes, size_t size,
                         const char *name, vit_error *error);

/* As vit_image_narrow. */
vit_status vit_jpeg_narrow(vit_jpeg *jpeg, size_t *left, size_t *width, vit_error *error);

/* rows = the next `count` rows, which must exist. Only after the last row it is
 * known that the picture is complete. After an error it can only be closed. */
vit_status vit_jpeg_rows(vit_jpeg *jpeg, uint8_t *rows, size_t count, vit_error *error);
void vit_jpeg_close(vit_jpeg *jpeg); /* takes NULL */

/* A file that was checked, for stb_image. */
typedef struct vit_stb_file {
    const uint8_t *bytes;
    size_t size;
    size_t channels; /* of the picture; 0: those that the file has */
    size_t budget;   /* bytes that stb_image may allocate altogether */
    size_t inflated; /* of a PNG: bytes of its data when decompressed */
} vit_stb_file;

/* Decodes it. Errors: FORMAT, MEMORY. */
vit_status vit_stb_decode(vit_image *out, const vit_stb_file *file, const char *name,
                          vit_error *error);

#endif
