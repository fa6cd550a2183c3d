/* A picture file as the readers of formats see it, and the errors that they share. */
#ifndef VIT_IMAGE_CODEC_SOURCE_H
#define VIT_IMAGE_CODEC_SOURCE_H

#include "vit/formats/signature.h"
#include "vit/image/image.h"

typedef struct vit_source {
    const uint8_t *bytes; /* borrowed */
    size_t size;
    const char *name;   /* what messages call the file */
    const char *format; /* "BMP" */
    vit_error *error;
} vit_source;

/* Reads a file. *out, which is zeroed, = its width, height and orientation and, unless `header` is
 * set, its pixels, of which nothing is made up: what is missing or damaged is an error. Errors:
 * FORMAT, UNSUPPORTED, MEMORY; the caller frees what is in *out then, too. */
typedef vit_status vit_format_read(vit_image *out, const vit_source *source, bool header);

/* ---- formats.c: all formats but PNG and JPEG, told by their content ---- */

typedef struct vit_format {
    vit_signature begin; /* `what` is the name with an article */
    const char *name;
    bool (*recognise)(const uint8_t *bytes, size_t size); /* NULL: it begins so */
    vit_format_read *read;                                /* NULL: it is not built in */
    const char *library;                                  /* the one that it would need then */
} vit_format;

typedef struct vit_format_set {
    const vit_format *formats; /* [count], tried in this order */
    size_t count;
} vit_format_set;

extern const vit_format_set *const vit_format_sets[]; /* of the list `guests`; ended by NULL */

/* Whether the bytes, those that a file begins with, are text. */
bool vit_is_text(const uint8_t *bytes, size_t size);

/* The format of the file; NULL: it is none of them. */
const vit_format *vit_format_find(const uint8_t *bytes, size_t size);

/* What a file is that is not read, to follow "the file is"; NULL: nobody knows. */
const char *vit_format_name(const uint8_t *bytes, size_t size);

/* ---- bmp.c, gif.c, pnm.c, tga.c: by stb_image where it gives Pillow's pixels ---- */

/* stb_image decodes what the readers have checked, since it fills what is missing with zeros, and
 * refuses no index beyond a palette. The readers decode the variants that it does not read, or
 * reads otherwise than Pillow; each says which. tests/image/test_stb.c shows them. */
vit_format_read vit_bmp_read, vit_gif_read, vit_pnm_read, vit_tga_read;

/* Whether the file begins as a PBM, PGM or PPM. */
bool vit_pnm_recognise(const uint8_t *bytes, size_t size);

/* Whether the file is a Targa, which has no signature at its beginning: the signature at its end,
 * or a header of which every byte is possible. */
bool vit_tga_recognise(const uint8_t *bytes, size_t size);

/* Decodes a file that was checked, with these channels; out->width and height say what it must
 * have. Errors: FORMAT, MEMORY. (stb.c) */
vit_status vit_stb_read(vit_image *out, const vit_source *s, size_t channels);

/* ---- webp.c, tiff.c, heif.c: by libwebp, libtiff, libheif, where they are installed ---- */

vit_format_read vit_webp_read, vit_tiff_read, vit_heif_read;

/* ---- source.c ---- */

/* FORMAT: "NAME: corrupt BMP: what". */
vit_status vit_source_corrupt(const vit_source *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* UNSUPPORTED: "NAME: the BMP what". */
vit_status vit_source_refuse(const vit_source *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* FORMAT: it ends before its picture does. */
vit_status vit_source_truncated(const vit_source *s);

/* FORMAT for 0, UNSUPPORTED beyond the limits of pictures. Sizes that pass can be multiplied. */
vit_status vit_source_check_size(const vit_source *s, size_t width, size_t height);

/* The same for BMP, GIF, PNM and TGA, and FORMAT for more pixels than the file can hold, of which
 * LZW code has the most: so a few bytes cannot take the memory of a large picture. */
vit_status vit_source_check_pixels(const vit_source *s, size_t width, size_t height);

/* Little-endian numbers. */
static inline uint32_t vit_le16(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}
static inline uint32_t vit_le32(const uint8_t *p) {
    return vit_le16(p) | vit_le16(p + 2) << 16;
}

/* Red, green and blue of 5 bits each, blue lowest, as 8 bits, rounded down as by Pillow. */
static inline void vit_rgb_of_15_bits(uint8_t *rgb, uint32_t pixel) {
    for (int i = 0; i < 3; i++) rgb[i] = (uint8_t)((pixel >> (10 - 5 * i) & 31) * 255 / 31);
}

/* As Pillow's convert("RGB") of CMYK: amounts of ink, or with `inverted` of light, as Adobe's
 * programs write them in JPEG. */
void vit_cmyk_to_rgb(uint8_t *rgb, const uint8_t *cmyk, size_t pixels, bool inverted);

#endif
