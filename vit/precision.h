/* The precision of matrix products. Included by vit/vit.h.
 *
 * AMX: before the first session or training in BF16 or INT8 on a processor that has it, Linux is
 * asked once whether this process may use it, for all of its threads. From then on the process can
 * have no alternate signal stacks of less than 12 KiB: sigaltstack gives ENOMEM. If a thread has
 * one before, or Linux refuses for another reason, or the instructions do not work, the next lower
 * instruction set is used. `cpu` "avx512bf16" in the options, or lower, never asks. A child of fork
 * has the permission, another program after exec asks again. */
#ifndef VIT_PRECISION_H
#define VIT_PRECISION_H

/* What both operands of a matrix product are rounded to. Everything else is float32. */
typedef enum vit_precision {
    VIT_PRECISION_F32,
    VIT_PRECISION_BF16, /* bfloat16, on processors with instructions for it (AVX512_BF16, AMX);
                           results depend on vit_bf16, but not on threads or batch */
    VIT_PRECISION_INT8, /* the blocks' linear layers in 8-bit integers; only for answers */
    VIT_PRECISION_COUNT,
} vit_precision;

/* In which order sums of BF16 are rounded (docs/design.md, "Canonical arithmetic"). */
typedef enum vit_bf16 {
    VIT_BF16_ANY,   /* TILES where the processor has AMX and the system allows it, else PAIRS */
    VIT_BF16_PAIRS, /* as VDPBF16PS: every processor with AVX512_BF16 has it */
    VIT_BF16_TILES, /* as TDPBF16PS, of AMX */
    VIT_BF16_COUNT,
} vit_bf16;

#endif
