/* The list of operations a model carries: pictures as people have them -> the network's input. */
#ifndef VIT_IMAGE_PREPARE_PREPROCESS_H
#define VIT_IMAGE_PREPARE_PREPROCESS_H

#include "vit/image/image.h"

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
    VIT_FIT_COUNT,
} vit_fit;

/* Where a CENTER_CROP of c pixels begins on a side of s: (s - c) / 2, rounded. */
typedef enum vit_rounding {
    VIT_ROUNDING_EVEN,  /* to the nearest, halves to even; where s < c, towards zero: torchvision
                           and timm */
    VIT_ROUNDING_ZERO,  /* towards zero: Hugging Face's processors on torchvision */
    VIT_ROUNDING_FLOOR, /* down: Hugging Face's processors on Pillow, big_vision */
    VIT_ROUNDING_COUNT,
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

/* Decodes a picture and prepares it: the pixels and errors (with its name) of vit_image_load or
 * vit_image_decode, and vit_preprocess. A JPEG that is made smaller before all else, as photographs
 * are, is resized row by row as it is decoded: that takes less time, and it is never in memory. */
vit_status vit_preprocess_file(vit_image *out, const char *path, const vit_preprocessing *p,
                               size_t height, size_t width, size_t channels,
                               const vit_kernels *kernels, vit_error *error);
vit_status vit_preprocess_bytes(vit_image *out, const void *bytes, size_t size, const char *name,
                                const vit_preprocessing *p, size_t height, size_t width,
                                size_t channels, const vit_kernels *kernels, vit_error *error);

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
