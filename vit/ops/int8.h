/* Linear layers in integers of 8 bits (docs/design.md, "Canonical arithmetic").
 *
 * A row w of W, the weights of one output, becomes integers and a scale: s = max |w| / 127, w / s
 * rounded to nearest, ties to even; a scale below FLT_MIN becomes 0, and the integers with it. So
 * does a row x of activations, when it comes. Then
 *
 *   y = float(sum of integer products) * scale of x * scale of w + bias ...
 *
 * A packed layer is an array of 32-bit words: the integers in quads, as panels
 * (vit/ops/gemm/gemm.h), then a scale for each output, then for each -128 times the sum of its
 * integers, for kernels that add 128 to x. Outputs past the last up to a whole panel are 0.
 */
#ifndef VIT_OPS_INT8_H
#define VIT_OPS_INT8_H

#include "vit/ops/linear.h"

/* Words of a packed layer. in: at most 2^17, so that sums of 127 * 128 * in fit 32 bits. */
size_t vit_int8_words(size_t out, size_t in);

/* Of a packed layer: the scales, and what chains start from where 128 is added; [out] each. */
const float *vit_int8_scales(const float *packed, size_t out, size_t in);
const int32_t *vit_int8_starts(const float *packed, size_t out, size_t in);

/* Packs w: [out][in]. scales: [out], those of integers from -128 to 127 that w was made of, so that
 * it becomes these again, whatever the rule above says; a negative one, or NULL for all: by that
 * rule. Uses one thread. */
void vit_int8_pack(float *packed, const float *w, const float *scales, size_t out, size_t in);

/* The same of the integers themselves, as a file has them, and their scales; those of a scale of 0
 * become 0. */
void vit_int8_pack_integers(float *packed, const int8_t *w, const float *scales, size_t out,
                            size_t in);

/* The same for a W^T that vit_pack_transposed has packed in f32, and back: panels = the W^T of
 * integers times scales, rounded. */
void vit_int8_pack_panels(float *packed, const float *panels, size_t out, size_t in);
void vit_int8_unpack_panels(float *panels, const float *packed, size_t out, size_t in);

/* w: [out][in] = integers times scales, rounded. */
void vit_int8_unpack(float *w, const float *packed, size_t out, size_t in);

/* integers: [out][in] of w: [out][in], for a file, and scales: [out], where they are negative. */
void vit_int8_round(int8_t *integers, float *scales, const float *w, size_t out, size_t in);

/* y = x W^T and the epilogue e, for a layer that is packed so; as vit_linear_forward, which calls
 * it. */
void vit_int8_forward(const vit_exec *exec, float *y, const float *x, const vit_linear *w,
                      const vit_epilogue *e, size_t rows);

#endif
