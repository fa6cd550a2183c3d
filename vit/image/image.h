/* Pictures as pixels: converting, turning, resizing and cropping. codec/decode.h reads them from
 * files, digit/digit.h and prepare/preprocess.h prepare them for a network.
 *
 * Pixels have 8 bits per channel, rows top to bottom, no padding: [height][width][channels]. All
 * functions may be called from any thread. Unless it says otherwise, a function that makes an image
 * overwrites *out, which the caller frees with vit_image_free; on failure there is nothing to free.
 */
#ifndef VIT_IMAGE_IMAGE_H
#define VIT_IMAGE_IMAGE_H

#include "vit/base/error.h"
#include "vit/kernels/kernels.h"

/* Larger pictures and files are refused: 100 megapixels, 65,535 pixels a side; 256 MiB. */
#define VIT_IMAGE_MAX_PIXELS ((size_t)100000000)
#define VIT_IMAGE_MAX_SIDE ((size_t)65535)
#define VIT_IMAGE_MAX_FILE ((size_t)256 << 20)

typedef struct vit_image {
    uint8_t *pixels; /* [height][width][channels], owned; freed by vit_image_free */
    float *floats;   /* the same before they were rounded, owned: of a picture that was resized in
                        floating point, and cropped after that; else NULL */
    size_t width, height;
    size_t channels;      /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA */
    unsigned orientation; /* by the file's EXIF data, 1 to 8; 0: unknown */
    const char *warning;  /* for the user, about the preparation: a constant, or NULL */
} vit_image;

/* Frees the pixels and zeroes the image. */
void vit_image_free(vit_image *image);

/* ---- convert.c ---- */

/* An image of a copy of the pixels, whose rows are `stride` bytes apart. */
vit_status vit_image_from_pixels(vit_image *out, const uint8_t *pixels, size_t width, size_t height,
                                 size_t channels, size_t stride, vit_error *error);

/* To grey (1 channel) or RGB (3): alpha is dropped, grey is repeated, and RGB becomes grey as by
 * Pillow's convert("L"): (19595 R + 38470 G + 7471 B + 2^15) >> 16. */
vit_status vit_image_convert(vit_image *out, const vit_image *in, size_t channels,
                             vit_error *error);

/* Rotates and mirrors the picture upright as its orientation (EXIF tag 0x0112) says; a copy for
 * 0, 1 and invalid ones. */
vit_status vit_image_orient(vit_image *out, const vit_image *in, vit_error *error);

/* Composites a picture with alpha onto a background of one color: (alpha c + (255 - alpha)
 * background) / 255, rounded to nearest (there are no ties). RGBA becomes RGB, grey with alpha
 * becomes grey, on the grey of the background. Without alpha: a copy. */
vit_status vit_image_composite(vit_image *out, const vit_image *in, const uint8_t background[3],
                               vit_error *error);

/* The part of `in` of this size that begins at (left, top), which may be outside: pixels that are
 * not in the picture are background[channel] (for 1 or 3 channels), or 0 if background is NULL. */
vit_status vit_image_crop(vit_image *out, const vit_image *in, ptrdiff_t left, ptrdiff_t top,
                          size_t width, size_t height, const uint8_t background[3],
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

/* The library whose fixed-point arithmetic is followed. Both round to 8 bits and clip after each of
 * the two passes, of which one resamples along the rows (changes the width), one along the columns.
 */
typedef enum vit_arithmetic {
    VIT_ARITHMETIC_PILLOW, /* weights of 22 bits; first along the columns if in->height - height >
                              max(0, 2 (in->width - width)), as in Pillow 13, else along the rows */
    VIT_ARITHMETIC_TORCH,  /* weights of 15 bits and sign, scaled so that the largest fits; first
                              along the rows, as in torch.nn.functional.interpolate on uint8 with
                              antialias=True */
    VIT_ARITHMETIC_FLOAT,  /* no rounding between the passes, nor after them: as in that function on
                              float32, bilinear or bicubic */
    VIT_ARITHMETIC_COUNT,
} vit_arithmetic;

extern const char *const vit_filter_names[];     /* "nearest", "box", ..., NULL */
extern const char *const vit_arithmetic_names[]; /* "pillow", "torch", "float", NULL */

/* *filter = the filter of this name; false: there is none. */
bool vit_filter_parse(const char *name, vit_filter *filter);

/* Resizes a picture of 1 or 3 channels to width x height as Pillow's Image.resize((width, height),
 * filter) does: separable, antialiased when it gets smaller. `kernels`, here and below: those to
 * use, or NULL for the best of this processor; all give the same pixels. ARGUMENT for other
 * channels and for sizes of 0 or beyond the limits above. */
vit_status vit_image_resize(vit_image *out, const vit_image *in, size_t width, size_t height,
                            vit_filter filter, const vit_kernels *kernels, vit_error *error);

/* The same in this arithmetic. */
vit_status vit_image_resize_as(vit_image *out, const vit_image *in, size_t width, size_t height,
                               vit_filter filter, vit_arithmetic arithmetic,
                               const vit_kernels *kernels, vit_error *error);

/* The same in VIT_ARITHMETIC_FLOAT, for vit_image_resize_as, which has made the image: out->floats
 * has the result, out->pixels what it is rounded to. ARGUMENT also for other filters than bilinear
 * and bicubic; the caller frees the image then. */
vit_status vit_image_resize_float(vit_image *out, const vit_image *in, vit_filter filter,
                                  vit_error *error);

/* A part of a picture. */
typedef struct vit_window {
    size_t left, top, width, height;
} vit_window;

/* A picture that is read row by row, top to bottom. `read` gives the next `count` rows. `narrow`
 * may be called once before it, if only columns *left to *left + *width - 1 are needed: rows then
 * have these, or more of them on either side, and *left and *width are set to what rows have. After
 * an error neither is called again. */
typedef struct vit_image_rows {
    size_t width, height, channels;
    vit_status (*narrow)(void *context, size_t *left, size_t *width, vit_error *error);
    vit_status (*read)(void *context, uint8_t *rows, size_t count, vit_error *error);
    void *context;
} vit_image_rows;

/* A window of the picture that vit_image_resize_as would make of these rows at width x height. All
 * rows are read; if the picture gets narrower, they are never all in memory. Errors: those of
 * vit_image_resize_as and of `read`. */
vit_status vit_image_resize_rows(vit_image *out, const vit_image_rows *in, size_t width,
                                 size_t height, const vit_window *window, vit_filter filter,
                                 vit_arithmetic arithmetic, const vit_kernels *kernels,
                                 vit_error *error);

#endif
