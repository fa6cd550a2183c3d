/* A product in progress, shared by gemm.c and its parts pack.c and sweep.c. k is counted in words
 * of 32 bits: floats, or what the precision converts them to, which is always packed. */
#ifndef VIT_OPS_GEMM_PRODUCT_H
#define VIT_OPS_GEMM_PRODUCT_H

#include "vit/base/size.h"
#include "vit/ops/gemm/plan.h"

/* Indices first .. end - 1. */
typedef struct vit_range {
    size_t first, end;
} vit_range;

typedef struct vit_gemm_product {
    const vit_exec *exec;
    const vit_product_kernels *inner; /* of exec's precision */
    vit_gemm_plan plan;
    float *c;
    size_t c_row, n, k; /* k in numbers, not words */
    size_t panel;       /* vit_panel() */
    vit_operand_a a;
    vit_operand_b b;
    vit_epilogue epilogue;
    vit_range blocks; /* of each task, computed by this call of vit_parallel */
} vit_gemm_product;

/* One step of a task: the tiles of a band times a block, which is words k0 .. k0 + words - 1 of
 * some panels. */
typedef struct vit_gemm_stage {
    size_t band;
    vit_range tiles;
    size_t block, k0, words;
    vit_range panels;
} vit_gemm_stage;

/* A task: every block of its panels times every one of its bands. */
typedef struct vit_gemm_task {
    vit_range bands, panels;
    vit_gemm_stage now, next;            /* next has no tiles if `now` is the last stage */
    float *packed_a, *next_a, *packed_b; /* in the thread's room; next_a for the next stage */
} vit_gemm_task;

/* Words k0 .. k0 + words - 1 of a panel of B. */
typedef struct vit_panel_part {
    size_t panel, k0, words;
} vit_panel_part;

static inline size_t vit_length(vit_range r) {
    return r.end - r.first;
}

/* Share `index` of `shares` parts of about the same length. */
static inline vit_range vit_share_of(vit_range r, size_t index, size_t shares) {
    return (vit_range){r.first + vit_length(r) * index / shares,
                       r.first + vit_length(r) * (index + 1) / shares};
}

/* The row of C that the tile begins with. */
static inline size_t vit_first_row(const vit_gemm_product *p, size_t tile) {
    return vit_min(tile * p->plan.height + vit_min(tile, p->plan.higher), p->plan.rows);
}

/* How many numbers words k0 .. k0 + words - 1 hold: the last word of k may have fewer. */
static inline size_t vit_numbers_in(const vit_gemm_product *p, size_t k0, size_t words) {
    return vit_min(words * p->plan.numbers, p->k - k0 * p->plan.numbers);
}

static inline bool vit_is_transposed(const vit_gemm_product *p) {
    return p->a.row == 1;
}

/* A row of A where it is stored, from the stage's first k on. */
static inline const float *vit_row_of_a(const vit_gemm_product *p, const vit_gemm_stage *s,
                                        size_t row) {
    return p->a.data + row * p->a.row + s->k0 * p->plan.numbers * p->a.col;
}

/* The rows of B, as stored, that make up `words` words of k. */
static inline size_t vit_rows_of_b(const vit_gemm_product *p, size_t words) {
    return p->b.packed ? vit_stored_words(p->b.stored, words) : words * p->plan.numbers;
}

/* At least this many words of k, more than none, whose part of B begins and ends with a word. */
static inline size_t vit_share_of_b(const vit_gemm_product *p, size_t words) {
    const size_t whole = vit_stored_words(p->b.stored, 2) == 1 ? 2 : 1;
    return vit_max(whole, vit_ceil_div(words, whole) * whole);
}

/* Where this part of B is stored. */
static inline const float *vit_first_of_b(const vit_gemm_product *p, vit_panel_part b) {
    return p->b.data + b.panel * p->b.panel + vit_rows_of_b(p, b.k0) * p->b.row;
}

/* Where a panel of B is packed: if B stays, each panel of the block has its place, else two places
 * are used in turn. */
static inline float *vit_packed_panel(const vit_gemm_product *p, const vit_gemm_task *t,
                                      size_t panel) {
    const size_t i = panel - t->now.panels.first;
    return t->packed_b + (p->plan.b_stays ? i : i % 2) * p->plan.depth * p->panel;
}

/* ---- pack.c ---- */

/* Packs all of the stage's A. */
void vit_pack_a(const vit_gemm_product *p, float *to, const vit_gemm_stage *s);

/* Packs some rows of the stage's A, counted from its first; A is not transposed. */
void vit_pack_rows_of_a(const vit_gemm_product *p, float *to, const vit_gemm_stage *s,
                        vit_range rows);

/* Packs a part of a panel of B; no words: does nothing. Of halves, k0 is even. */
void vit_pack_b(const vit_gemm_product *p, float *to, vit_panel_part b);

/* ---- sweep.c ---- */

/* Computes the stage t->now where A stays, and packs B a panel ahead. */
void vit_sweep_under_a(const vit_gemm_product *p, const vit_gemm_task *t);

/* Computes the stage t->now where B stays, packs A for t->next and exchanges packed_a and next_a.
 */
void vit_sweep_under_b(const vit_gemm_product *p, vit_gemm_task *t);

#endif
