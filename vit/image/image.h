/* Pictures as pixels: converted, turned, resized, cut. codec/decode.h makes them from files,
 * digit/digit.h and prepare/preprocess.h make of them what a network takes.
 *
 * Pixels are 8 bits a channel, rows top to bottom, no padding: pixels [height][width][channels].
 * All functions may be called from any thread.
 */
#ifndef VIT_IMAGE_IMAGE_H
#define VIT_IMAGE_IMAGE_H

#include "vit/base/error.h"
#include "vit/kernels/kernels.h"

/* Larger pictures are refused: 100 megapixels, 65,535 a side; files of over 256 MiB. */
#define VIT_IMAGE_MAX_PIXELS ((size_t)100000000)
#define VIT_IMAGE_MAX_SIDE ((size_t)65535)
#define VIT_IMAGE_MAX_FILE ((size_t)256 << 20)

typedef struct vit_image {
    uint8_t *pixels; /* [height][width][channels], owned; freed by vit_image_free */
    size_t width, height;
    size_t channels;      /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA */
    unsigned orientation; /* of the file's EXIF: how the pixels lie, 1 to 8; 0: unknown */
    const char *warning;  /* what the user should know of a prepared picture, a constant; or NULL */
} vit_image;

void vit_image_free(vit_image *image); /* and zeroes it */

/* ---- convert.c ---- */

/* Copies pixels with `stride` bytes from row to row into an image. */
vit_status vit_image_from_pixels(vit_image *out, const uint8_t *pixels, size_t width, size_t height,
                                 size_t channels, size_t stride, vit_error *error);

/* To grey (1) or RGB (3): alpha is dropped; grey is repeated; RGB becomes grey as Pillow's
 * convert("L") does: (19595 R + 38470 G + 7471 B + 2^15) >> 16. */
vit_status vit_image_convert(vit_image *out, const vit_image *in, size_t channels,
                             vit_error *error);

/* Turns and mirrors the picture so that its top is at the top, as its orientation (EXIF tag
 * 0x0112) says; 0, 1 and unknown ones: a copy. */
vit_status vit_image_orient(vit_image *out, const vit_image *in, vit_error *error);

/* Puts a picture with alpha on a background of one color: (alpha c + (255 - alpha) background) /
 * 255, rounded to the nearest (there are no halves). RGBA becomes RGB; grey and alpha becomes grey,
 * on the background's grey. Without alpha: a copy. */
vit_status vit_image_composite(vit_image *out, const vit_image *in, const uint8_t background[3],
                               vit_error *error);

/* ---- resize.c: Pillow's resampler, to the bit ---- */

typedef enum vit_filter {
    VIT_FILTER_NEAREST,
    VIT_FILTER_BOX,
    VIT_FILTER_BILINEAR,
    VIT_FILTER_BICUBIC,
    VIT_FILTER_LANCZOS,
    VIT_FILTER_HAMMING,
    VIT_FILTER_COUNT,
} vit_filter;

/* Whose fixed-point arithmetic is followed. Both round to 8 bits and clip after each pass. */
typedef enum vit_arithmetic {
    VIT_ARITHMETIC_PILLOW, /* weights of 22 bits; the columns first where that leaves fewer rows:
                              when in->height - height > max(0, 2 (in->width - width)), as Pillow
                              13 does, otherwise the rows first */
    VIT_ARITHMETIC_TORCH,  /* weights of 15 bits and sign, as many as the largest fills; the rows
                              first: torch.nn.functional.interpolate(antialias=True) on uint8 */
    VIT_ARITHMETIC_COUNT,
} vit_arithmetic;

extern const char *const vit_filter_names[];     /* "nearest", "box", ..., NULL */
extern const char *const vit_arithmetic_names[]; /* "pillow", "torch", NULL */
bool vit_filter_parse(const char *name, vit_filter *filter);

/* Resamples 1 or 3 channels to width x height: separable, antialiased when shrinking, as Pillow's
 * Image.resize((width, height), filter) does. `kernels`, here and below: those to use, NULL: the
 * best here; they change no pixel. Sizes of 0 and beyond the limits above are ARGUMENT errors. */
vit_status vit_image_resize(vit_image *out, const vit_image *in, size_t width, size_t height,
                            vit_filter filter, const vit_kernels *kernels, vit_error *error);
vit_status vit_image_resize_as(vit_image *out, const vit_image *in, size_t width, size_t height,
                               vit_filter filter, vit_arithmetic arithmetic,
                               const vit_kernels *kernels, vit_error *error);

/* Part of a picture. */
typedef struct vit_window {
    size_t left, top, width, height;
} vit_window;

/* A picture whose rows come one after the other, top to bottom. `read` gives the next `count`;
 * after an error nothing is called again. Where `narrow` was called before, once, rows are columns
 * *left to *left + *width - 1 alone, or more of them on either side, which it then says. */
typedef struct vit_image_rows {
    size_t width, height, channels;
    vit_status (*narrow)(void *context, size_t *left, size_t *width, vit_error *error);
    vit_status (*read)(void *context, uint8_t *rows, size_t count, vit_error *error);
    void *context;
} vit_image_rows;

/* A window of what vit_image_resize_as makes of such a picture at width x height. All rows are
 * read; where the picture gets narrower they are never in memory together. Errors: also those of
 * `read`. */
vit_status vit_image_resize_rows(vit_image *out, const vit_image_rows *in, size_t width,
                                 size_t height, const vit_window *window, vit_filter filter,
                                 vit_arithmetic arithmetic, const vit_kernels *kernels,
                                 vit_error *error);

/* The part of `in` that begins at (left, top), which may lie outside: what is not covered is 0, or
 * background[channel] (1 or 3 channels). */
vit_status vit_image_crop(vit_image *out, const vit_image *in, ptrdiff_t left, ptrdiff_t top,
                          size_t width, size_t height, vit_error *error);
vit_status vit_image_crop_on(vit_image *out, const vit_image *in, ptrdiff_t left, ptrdiff_t top,
                             size_t width, size_t height, const uint8_t background[3],
                             vit_error *error);

#endif
