/* Precisions of matrix products: a row each. To add one: its value in vit/vit.h, its name and row
 * in precision.c, its kernels in the tables of the instruction sets that have it
 * (vit/kernels/kernels.h). Nothing else asks which precision it is. */
#ifndef VIT_OPS_PRECISION_H
#define VIT_OPS_PRECISION_H

#include "vit/base/error.h"
#include "vit/kernels/kernels.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct vit_precision_row {
    vit_precision value;
    size_t numbers; /* of an operand in a word of 32 bits */
    bool converts;  /* operands are converted as they are packed; else they are floats, which a
                       product can also read where they are */
    bool scales;    /* integers with scales (vit/ops/int8.h) */
    bool trains;    /* it has gradients */
    bool tiles;     /* AMX has it, and is asked for */
    bool orders;    /* sums are rounded in the order of a vit_bf16 */
    /* where the linear layers of the blocks have this precision: those outside the blocks, and
     * attention's products */
    vit_precision outside, attention;
    vit_cpu least; /* the first instruction set that has it, for the sentence below */
} vit_precision_row;

extern const vit_precision_row vit_precisions[];

/* "any", "pairs", "tiles", in the order of vit_bf16, and NULL. */
extern const char *const vit_bf16_names[];

/* "f32", "bf16", "int8", in the order of the enum, and NULL. */
extern const char *const vit_precision_names[];

/* The words that k numbers take. */
static inline size_t vit_words(vit_precision precision, size_t k) {
    const size_t numbers = vit_precisions[precision].numbers;
    return (k + numbers - 1) / numbers;
}

/* The most words that k numbers take in a precision that converts its operands. */
size_t vit_converted_words(size_t k);

/* k rounded up to whole words, in every precision that converts its operands. */
size_t vit_whole_words(size_t k);

/* The kernels for products in this precision and, of bfloat16, in this arithmetic, of at most that
 * instruction set. VIT_ERROR_ARGUMENT as vit_precision_check, and if there is no such arithmetic.
 */
vit_status vit_precision_choose(const vit_kernels **out, vit_cpu highest, vit_precision precision,
                                vit_bf16 bf16, vit_error *error);

/* Why products in this precision are not by AMX although the processor names it and `highest`
 * allows it; else NULL. */
const char *vit_precision_lacks_tiles(vit_cpu highest, vit_precision precision);

/* Whether these kernels' products of numbers that are converted take longer than their products of
 * floats, as is measured now; false for other precisions. */
bool vit_precision_slower(vit_precision precision, const vit_kernels *kernels);

/* VIT_ERROR_ARGUMENT if there is no such precision, or if the kernels do not have it. */
vit_status vit_precision_check(vit_precision precision, const vit_kernels *kernels,
                               vit_error *error);

#endif
