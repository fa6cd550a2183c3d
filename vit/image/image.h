/* Pictures: bytes -> pixels.
 *
 * Pixels are 8 bits a channel, rows top to bottom, no padding: pixels [height][width][channels].
 * Every size in a file is checked once, here, before the decoder sees a byte; after that the code
 * trusts it. All functions may be called from any thread.
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

/* ---- decode.c: PNG and JPEG ---- */

/* Decodes a picture with the channels it has (16-bit samples become 8 by >> 8, palettes become
 * RGB or RGBA) as its pixels lie; the orientation is noted, not applied. EXIF data that make no
 * sense are ignored: they are advice, and the pixels are there without them. `name` stands for the
 * file in messages. Errors: FORMAT for corrupt or truncated files (bytes after the end of the
 * picture are tolerated), UNSUPPORTED for other formats and for JPEG with four components, MEMORY.
 */
vit_status vit_image_decode(vit_image *out, const void *bytes, size_t size, const char *name,
                            vit_error *error);

/* Checks a picture's file as vit_image_decode does before it decodes, and says its size (before any
 * rotation that the file asks for). Same errors. */
vit_status vit_image_measure(size_t *width, size_t *height, const void *bytes, size_t size,
                             const char *name, vit_error *error);

/* Reads and decodes a file; "-" is standard input. */
vit_status vit_image_load(vit_image *out, const char *path, vit_error *error);

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
} vit_filter;

/* Whose fixed-point arithmetic is followed. Both round to 8 bits and clip after each pass. */
typedef enum vit_arithmetic {
    VIT_ARITHMETIC_PILLOW, /* weights of 22 bits; the columns first where that leaves fewer rows:
                              when in->height - height > max(0, 2 (in->width - width)), as Pillow
                              13 does, otherwise the rows first */
    VIT_ARITHMETIC_TORCH,  /* weights of 15 bits and sign, as many as the largest fills; the rows
                              first: torch.nn.functional.interpolate(antialias=True) on uint8 */
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

/* The part of `in` that begins at (left, top), which may lie outside: what is not covered is 0, or
 * background[channel] (1 or 3 channels). */
vit_status vit_image_crop(vit_image *out, const vit_image *in, ptrdiff_t left, ptrdiff_t top,
                          size_t width, size_t height, vit_error *error);
vit_status vit_image_crop_on(vit_image *out, const vit_image *in, ptrdiff_t left, ptrdiff_t top,
                             size_t width, size_t height, const uint8_t background[3],
                             vit_error *error);

/* ---- digit.c: a photographed or drawn digit as MNIST's makers would have prepared it ---- */

enum { VIT_DIGIT_SIZE = 28 };

/* The digit on a picture, of any size, white on black, 28 x 28, grey: found on its background,
 * freed of shadows, ruled lines and specks, fitted into 20 x 20 with its shape kept, strokes of
 * MNIST's width and brightness, the centre of mass in the centre. A picture that is so already is
 * copied. One without ink is resized, and out->warning says so. Alpha is dropped. docs/formats.md
 * has the steps. */
vit_status vit_image_digit(vit_image *out, const vit_image *in, const vit_kernels *kernels,
                           vit_error *error);

/* ---- preprocess.c: the list of operations a model carries ---- */

/* Each with its JSON object; docs/formats.md explains the keys. */
typedef enum vit_operation_kind {
    VIT_OP_GREY,        /* {"op": "grey"}  to one channel */
    VIT_OP_RGB,         /* {"op": "rgb"}   to three */
    VIT_OP_RESIZE,      /* {"op": "resize", "height": H, "width": W, "filter": F} or
                           {"op": "resize", "shorter": S, "filter": F}; "fit", "arithmetic",
                           "crop_share" */
    VIT_OP_CENTER_CROP, /* {"op": "center_crop", "height": H, "width": W}; "rounding",
                           "background" */
    VIT_OP_ORIENT,      /* {"op": "orient"}: vit_image_orient */
    VIT_OP_COMPOSITE,   /* {"op": "composite", "background": [R, G, B]}: vit_image_composite */
    VIT_OP_DIGIT,       /* {"op": "digit"}: vit_image_digit */
    VIT_OP_NORMALIZE,   /* {"op": "normalize", "mean": [...], "std": [...]}, last, always;
                           "rescale", "fused" */
} vit_operation_kind;

/* What a RESIZE to height x width makes of a picture of h x w. */
typedef enum vit_fit {
    VIT_FIT_STRETCH, /* height x width */
    VIT_FIT_COVER,   /* both sides divided by min(h / height, w / width), rounded to the nearest,
                        halves to even: the smallest that covers height x width */
    VIT_FIT_CONTAIN, /* the same with max: the largest within height x width */
} vit_fit;

/* Where a CENTER_CROP of c pixels begins on a side of s: (s - c) / 2, rounded. */
typedef enum vit_rounding {
    VIT_ROUNDING_EVEN,  /* to the nearest, halves to even; where s < c, towards zero: torchvision
                           and timm */
    VIT_ROUNDING_ZERO,  /* towards zero: Hugging Face's processors on torchvision */
    VIT_ROUNDING_FLOOR, /* down: Hugging Face's processors on Pillow, big_vision */
} vit_rounding;

typedef struct vit_operation {
    vit_operation_kind kind;
    size_t height, width; /* RESIZE, CENTER_CROP */
    size_t shorter;       /* RESIZE: the shorter side becomes this, the longer one int(shorter *
                             longer side / shorter side); 0: height, width and fit count */
    vit_fit fit;
    vit_filter filter;
    vit_arithmetic arithmetic;
    double crop_share;     /* RESIZE: the crop after it has this share of a side; 0: not said */
    vit_rounding rounding; /* CENTER_CROP */
    uint8_t background[3]; /* COMPOSITE; CENTER_CROP: what lies outside of the picture */
    float mean[3], std[3]; /* NORMALIZE, of what `rescale` gives */
    double rescale;        /* NORMALIZE: the factor; 0: pixel / 255 in float */
    bool fused;            /* NORMALIZE: mean and std are divided by `rescale` instead */
} vit_operation;

#define VIT_MAX_OPERATIONS 16
typedef struct vit_preprocessing {
    vit_operation operations[VIT_MAX_OPERATIONS];
    size_t count;
} vit_preprocessing;

/* JSON text <-> list. Unknown operations and keys are refused with the nearest known one. `name`
 * stands for where the text came from. vit_preprocessing_write returns a string freed by vit_free,
 * NULL when there is no memory; reading it back gives the same list. */
vit_status vit_preprocessing_read(vit_preprocessing *out, const char *json, const char *name,
                                  vit_error *error);
char *vit_preprocessing_write(const vit_preprocessing *p);

/* Makes the list of a network whose input is height x width one for new_height x new_width: crops
 * and sizes grow with it, what is resized before a crop to floor(side / crop_share). ARGUMENT, and
 * *p unchanged, where that cannot be. */
vit_status vit_preprocessing_at(vit_preprocessing *p, size_t height, size_t width,
                                size_t new_height, size_t new_width, vit_error *error);

/* Runs the operations up to NORMALIZE: a picture as people have it -> prepared pixels of the
 * network's size (checked: MISMATCH otherwise). out->warning is that of an operation, or NULL. */
vit_status vit_preprocess(vit_image *out, const vit_image *in, const vit_preprocessing *p,
                          size_t height, size_t width, size_t channels, const vit_kernels *kernels,
                          vit_error *error);

/* table[c][v] is what the network gets for the level v of channel c; 1 or 3 channels. In float,
 * each operation rounded. Where `rescale` is 0: (v / 255 - mean) / std, as torchvision's ToTensor
 * and Normalize, and timm. Else (x - mean) / std with x = v * rescale in double, as Hugging Face's
 * on Pillow; but `fused`: (v - mean * r) / (std * r) with r = 1 / rescale, as Hugging Face's on
 * torchvision. */
void vit_normalize_table(float table[][256], const vit_preprocessing *p, size_t channels);

/* image: [pixels][channels], of as many bytes; table: [channels][256]. */
void vit_normalize(float *image, const uint8_t *bytes, size_t pixels, size_t channels,
                   const float *table);

#endif
