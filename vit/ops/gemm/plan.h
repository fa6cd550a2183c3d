/* How a matrix product is cut up: a pure function of its shape, of the instruction set's tile and
 * of the number of threads, for the caches that gemm.h names. Cutting changes no result: an element
 * is one chain over k, which a block of k stores and the next one loads again.
 *
 * C is cut into tiles of rows (as high as the kernel's registers allow) and panels of VIT_PANEL
 * columns, k into blocks. Tiles make bands, panels make groups; a task is a run of bands times a
 * group. One operand stays in the second-level cache while the other passes by:
 *
 *   A stays: a band of it, under which B comes panel by panel, packed a panel ahead;
 *   B stays: a block of it, under which A comes tile by tile, packed a band ahead or as it lies. */
#ifndef VIT_OPS_GEMM_PLAN_H
#define VIT_OPS_GEMM_PLAN_H

#include "vit/ops/gemm/gemm.h"

/* C: [m][n], chains of k numbers. */
typedef struct vit_gemm_shape {
    size_t m, n, k;
    vit_precision precision;
    bool a_transposed; /* A lies in memory as [k][m], else as [m][k] */
    size_t a_row;      /* floats from row to row, as it lies */
    bool b_packed;     /* else it lies as [k][n] */
    size_t b_row;      /* floats from row to row; not asked where it is packed */
    bool in_place;     /* the residual is C */
} vit_gemm_shape;

/* Words are 32 bits: a float, or a pair of bfloat16. */
typedef struct vit_gemm_plan {
    size_t numbers;        /* of a word: 1 or 2 */
    size_t words;          /* that k takes */
    size_t tiles, panels;  /* of C */
    size_t height, higher; /* rows of a tile; the first `higher` tiles have one more */
    bool b_stays;          /* else A does */
    bool pack_a, pack_b;   /* into the thread's room; else read where it lies */
    size_t depth;          /* words of a block of k; the last may have fewer */
    size_t breadth;        /* panels of a block of B that stays; else all of them */
    size_t blocks_of_k;
    size_t bands, runs, groups; /* of tiles, of bands, of panels; runs x groups are the tasks */
    size_t packed_row;          /* floats from row to row of packed A */
    size_t packed_tile;         /* floats from tile to tile of packed A where it is transposed */
} vit_gemm_plan;

/* m, n > 0. */
vit_gemm_plan vit_gemm_plan_of(const vit_gemm_shape *shape, const vit_tile_size *tile,
                               size_t threads);

/* Whether B's blocks go one after the other through all tasks, so that the threads are at the same
 * block: runs of pairs are short, and whoever takes one over from another thread finds the block in
 * its cache. */
static inline bool vit_gemm_block_by_block(const vit_gemm_plan *p) {
    return p->b_stays && p->numbers > 1;
}

#endif
