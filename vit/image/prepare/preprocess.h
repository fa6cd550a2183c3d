/* The list of operations that is stored in a model: from pictures as people have them to the input
 * of the network. */
#ifndef VIT_IMAGE_PREPARE_PREPROCESS_H
#define VIT_IMAGE_PREPARE_PREPROCESS_H

#include "vit/image/codec/decode.h"
#include "vit/image/image.h"

/* The operations and their JSON objects; docs/formats.md explains the keys. After ";" there are
 * optional ones. */
typedef enum vit_operation_kind {
    VIT_OP_GREY,        /* {"op": "grey"}: to one channel */
    VIT_OP_RGB,         /* {"op": "rgb"}: to three channels */
    VIT_OP_RESIZE,      /* {"op": "resize", "height": H, "width": W, "filter": F} or
                           {"op": "resize", "shorter": S, "filter": F}; "fit", "arithmetic",
                           "crop_share" */
    VIT_OP_CENTER_CROP, /* {"op": "center_crop", "height": H, "width": W}; "rounding",
                           "background" */
    VIT_OP_CROP,        /* {"op": "crop", "height": H, "width": W}: the upper left part */
    VIT_OP_ORIENT,      /* {"op": "orient"}: vit_image_orient */
    VIT_OP_COMPOSITE,   /* {"op": "composite", "background": [R, G, B]}: vit_image_composite */
    VIT_OP_DIGIT,       /* {"op": "digit"}: vit_image_digit */
    VIT_OP_NORMALIZE,   /* {"op": "normalize", "mean": [...], "std": [...]}, always the last;
                           "rescale", "fused" */
} vit_operation_kind;

/* The size that a RESIZE to height x width gives a picture of h x w. */
typedef enum vit_fit {
    VIT_FIT_STRETCH, /* height x width */
    VIT_FIT_COVER,   /* the smallest that covers height x width: both sides divided by
                        min(h / height, w / width), rounded to nearest, ties to even */
    VIT_FIT_CONTAIN, /* the largest within height x width: the same with max */
    VIT_FIT_COUNT,
} vit_fit;

/* Where a CENTER_CROP of c pixels begins on a side of s pixels: (s - c) / 2, rounded. */
typedef enum vit_rounding {
    VIT_ROUNDING_EVEN,  /* to nearest, ties to even; towards zero if s < c: torchvision and timm */
    VIT_ROUNDING_ZERO,  /* towards zero: Hugging Face's processors on torchvision */
    VIT_ROUNDING_FLOOR, /* down: Hugging Face's processors on Pillow, big_vision */
    VIT_ROUNDING_COUNT,
} vit_rounding;

typedef struct vit_operation {
    vit_operation_kind kind;
    size_t height, width; /* RESIZE, CENTER_CROP, CROP */
    size_t shorter;       /* RESIZE: the shorter side becomes this, the longer one int(shorter *
                             longer side / shorter side); 0: height, width and fit are used */
    vit_fit fit;
    vit_filter filter;
    vit_arithmetic arithmetic;
    double crop_share;     /* RESIZE: the share of a side that the crop after it keeps, which
                              vit_preprocessing_at needs; 0: unknown */
    vit_rounding rounding; /* CENTER_CROP */
    uint8_t background[3]; /* COMPOSITE; CENTER_CROP: the color outside of the picture */
    float mean[3], std[3]; /* NORMALIZE: of pixels after the rescaling */
    double rescale;        /* NORMALIZE: pixels are multiplied by it; 0: divided by 255 in float */
    bool fused;            /* NORMALIZE: mean and std are divided by `rescale` instead */
} vit_operation;

#define VIT_MAX_OPERATIONS 16
typedef struct vit_preprocessing {
    vit_operation operations[VIT_MAX_OPERATIONS];
    size_t count;
} vit_preprocessing;

/* Reads a list from JSON text. FORMAT for unknown operations and keys; the message names the
 * nearest known one, and calls the text `name`. */
vit_status vit_preprocessing_read(vit_preprocessing *out, const char *json, const char *name,
                                  vit_error *error);

/* The list as JSON text, from which vit_preprocessing_read makes the same list. Freed by vit_free;
 * NULL if there is no memory. */
char *vit_preprocessing_write(const vit_preprocessing *p);

/* Whether pictures that it prepares have floats: it resizes them in VIT_ARITHMETIC_FLOAT. */
bool vit_preprocessing_has_floats(const vit_preprocessing *p);

/* Changes the list of a network with an input of height x width into one for new_height x
 * new_width: crops and sizes are scaled, except that a resize with a crop_share becomes floor(side
 * / crop_share). ARGUMENT, and *p unchanged, if that is impossible. */
vit_status vit_preprocessing_at(vit_preprocessing *p, size_t height, size_t width,
                                size_t new_height, size_t new_width, vit_error *error);

/* Makes the list turn pictures (vit_image_orient), before all else unless it does already, or not.
 * ARGUMENT, and *p unchanged, if it has no room. */
vit_status vit_preprocessing_turn(vit_preprocessing *p, bool turns, vit_error *error);

/* Applies the operations before NORMALIZE. MISMATCH unless the result has this size, which is that
 * of the network's input. out->warning is that of an operation, or NULL. */
vit_status vit_preprocess(vit_image *out, const vit_image *in, const vit_preprocessing *p,
                          size_t height, size_t width, size_t channels, const vit_kernels *kernels,
                          vit_error *error);

/* The same for a file in memory, as vit_image_decode: the same pixels, and errors that name it. A
 * JPEG that is made smaller first, as photographs usually are, is resized row by row while it is
 * decoded, which takes less time and never needs all of it in memory. */
vit_status vit_preprocess_bytes(vit_image *out, const void *bytes, size_t size, const char *name,
                                const vit_preprocessing *p, size_t height, size_t width,
                                size_t channels, const vit_kernels *kernels, vit_error *error);

/* The same for a file that vit_image_open has opened; the caller closes it. */
vit_status vit_preprocess_opened(vit_image *out, vit_image_file *file, const vit_preprocessing *p,
                                 size_t height, size_t width, size_t channels,
                                 const vit_kernels *kernels, vit_error *error);

/* table[c][v] = what NORMALIZE makes of the level v of channel c; 1 or 3 channels. Computed in
 * float, each operation rounded:
 *   - if `rescale` is 0, (v / 255 - mean) / std, as torchvision's ToTensor and Normalize, and timm;
 *   - else (x - mean) / std with x = v * rescale in double, as Hugging Face's processors on Pillow;
 *   - if `fused`, (v - mean * r) / (std * r) with r = 1 / rescale, as those on torchvision. */
void vit_normalize_table(float table[][256], const vit_preprocessing *p, size_t channels);

/* What NORMALIZE makes of a prepared picture: of its floats if it has them, unfused, else of its
 * bytes. image: [height][width][channels]; table: as vit_normalize_table makes it. */
void vit_normalize_prepared(float *image, const vit_image *ready, const vit_preprocessing *p,
                            const float *table);

/* image[i][c] = table[c][bytes[i][c]]. image, bytes: [pixels][channels]; table: [channels][256]. */
void vit_normalize(float *image, const uint8_t *bytes, size_t pixels, size_t channels,
                   const float *table);

#endif
