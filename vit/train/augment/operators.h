/* The operators of RandAugment and TrivialAugment, on bytes. Pixels equal torchvision's on Pillow
 * images, with nearest-pixel sampling and black outside. */
#ifndef VIT_TRAIN_AUGMENT_OPERATORS_H
#define VIT_TRAIN_AUGMENT_OPERATORS_H

#include "vit/train/augment/augment.h"
#include <stddef.h>

typedef enum vit_operator {
    VIT_OPERATOR_IDENTITY,
    VIT_OPERATOR_SHEAR_X,     /* rows move left by `value` times their distance from the top */
    VIT_OPERATOR_SHEAR_Y,     /* columns move up by `value` times their distance from the left */
    VIT_OPERATOR_TRANSLATE_X, /* `value` pixels to the right, truncated to whole ones */
    VIT_OPERATOR_TRANSLATE_Y, /* down */
    VIT_OPERATOR_ROTATE,      /* `value` degrees counterclockwise */
    VIT_OPERATOR_BRIGHTNESS,  /* Pillow's ImageEnhance with the factor 1 + value, as the next 3 */
    VIT_OPERATOR_COLOR,
    VIT_OPERATOR_CONTRAST,
    VIT_OPERATOR_SHARPNESS,
    VIT_OPERATOR_POSTERIZE,    /* keeps the upper `value` bits */
    VIT_OPERATOR_SOLARIZE,     /* inverts bytes that are at least `value` */
    VIT_OPERATOR_AUTOCONTRAST, /* this and the next take no value */
    VIT_OPERATOR_EQUALIZE,
    VIT_OPERATORS,
} vit_operator;

/* out = op(in), [height][width][channels] both; they must not overlap. */
void vit_operator_apply(uint8_t *out, const uint8_t *in, const vit_picture_shape *s,
                        vit_operator op, double value);

typedef enum vit_policy {
    VIT_POLICY_NONE,
    VIT_POLICY_RAND_AUGMENT,    /* Cubuk et al.: two operators of magnitude 9 of 0 to 30 */
    VIT_POLICY_TRIVIAL_AUGMENT, /* Mueller, Hutter: one operator of any magnitude, in wide ranges */
    VIT_POLICY_COUNT,
} vit_policy;

/* Applies operators that are drawn as the policy says. pixels, scratch: [height][width][channels].
 */
void vit_policy_apply(uint8_t *pixels, uint8_t *scratch, const vit_picture_shape *s,
                      vit_policy policy, vit_random *r);

/* torchvision's ColorJitter without hue: brightness, contrast and colour in random order, each by a
 * random factor of 1 - amount to 1 + amount. */
void vit_jitter_apply(uint8_t *pixels, uint8_t *scratch, const vit_picture_shape *s, double amount,
                      vit_random *r);

/* The value, without its sign, that the policy gives this operator at magnitude 0 to 30. */
double vit_policy_value(const vit_picture_shape *s, vit_policy policy, vit_operator op,
                        int magnitude);

#endif
