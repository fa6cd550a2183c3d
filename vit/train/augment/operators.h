/* The operators of RandAugment and TrivialAugment on bytes, in the pixels of torchvision on Pillow
 * images, nearest pixels, black outside. */
#ifndef VIT_TRAIN_AUGMENT_OPERATORS_H
#define VIT_TRAIN_AUGMENT_OPERATORS_H

#include "vit/base/random.h"
#include <stddef.h>

typedef enum vit_operator {
    VIT_OPERATOR_IDENTITY,
    VIT_OPERATOR_SHEAR_X, /* the value: of a row's distance from the top, to the left */
    VIT_OPERATOR_SHEAR_Y,
    VIT_OPERATOR_TRANSLATE_X, /* pixels to the right, cut to whole ones */
    VIT_OPERATOR_TRANSLATE_Y,
    VIT_OPERATOR_ROTATE,     /* degrees, counterclockwise */
    VIT_OPERATOR_BRIGHTNESS, /* these four: so much more than 1 is the factor of ImageEnhance */
    VIT_OPERATOR_COLOR,
    VIT_OPERATOR_CONTRAST,
    VIT_OPERATOR_SHARPNESS,
    VIT_OPERATOR_POSTERIZE, /* bits that are kept */
    VIT_OPERATOR_SOLARIZE,  /* bytes from so many on are inverted */
    VIT_OPERATOR_AUTOCONTRAST,
    VIT_OPERATOR_EQUALIZE,
    VIT_OPERATORS,
} vit_operator;

typedef struct vit_bytes_shape {
    size_t height, width, channels; /* 1 or 3 */
} vit_bytes_shape;

/* out = operator of in, [height][width][channels] both, not the same. */
void vit_operator_apply(uint8_t *out, const uint8_t *in, const vit_bytes_shape *s, vit_operator op,
                        double value);

typedef enum vit_policy {
    VIT_POLICY_NONE,
    VIT_POLICY_RAND_AUGMENT,    /* Cubuk et al.: two operators of magnitude 9 of 0 to 30 */
    VIT_POLICY_TRIVIAL_AUGMENT, /* Mueller, Hutter: one operator of any magnitude, in wide ranges */
    VIT_POLICY_COUNT,
} vit_policy;

/* pixels become those of the policy's operators, drawn from *r; scratch: as pixels. Both are as
 * large as *s says. */
void vit_policy_apply(uint8_t *pixels, uint8_t *scratch, const vit_bytes_shape *s,
                      vit_policy policy, vit_random *r);

/* torchvision's ColorJitter without hue: brightness, contrast and colour, in an order that is
 * drawn, each by a factor of 1 - amount to 1 + amount. */
void vit_jitter_apply(uint8_t *pixels, uint8_t *scratch, const vit_bytes_shape *s, double amount,
                      vit_random *r);

/* The value of an operator of a policy at magnitude 0 to 30, without its sign. */
double vit_policy_value(const vit_bytes_shape *s, vit_policy policy, vit_operator op,
                        int magnitude);

#endif
