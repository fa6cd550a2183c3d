/* How a matrix product is divided: a pure function of its shape, of the tile of the instruction
 * set, of the number of threads and of the second-level cache. The division changes no result: an
 * element is one chain over k, whose running value a block of k stores and the next one loads.
 *
 * The rows of C are divided into tiles (as high as the kernel's registers allow), its columns into
 * panels of vit_panel() columns, k into blocks. Consecutive tiles form bands, consecutive panels
 * form groups; a task is a run of consecutive bands times a group. One operand stays in the
 * second-level cache, the other is streamed past it:
 *
 *   A stays: a band of A, multiplied by B panel by panel; B is packed one panel ahead, if at all;
 *   B stays: a block of B, multiplied by A tile by tile; A is packed one band ahead, if at all. */
#ifndef VIT_OPS_GEMM_PLAN_H
#define VIT_OPS_GEMM_PLAN_H

#include "vit/ops/gemm/gemm.h"

/* A product C [m][n] = A [m][k] B [k][n]. */
typedef struct vit_gemm_shape {
    size_t m, n, k;
    size_t panel; /* vit_panel() */
    vit_precision precision;
    bool a_transposed; /* A is stored as [k][m], else as [m][k] */
    size_t a_row;      /* floats from row to row as stored */
    bool a_ready;      /* A was made for this product: never packed */
    bool b_packed;     /* else B is stored as [k][n] */
    bool b_made;       /* packed, but floats are made of it (vit_stored_is_made) */
    size_t b_row;      /* floats from row to row as stored; unused if packed */
} vit_gemm_shape;

/* k is counted in words of 32 bits (vit/ops/precision.h). */
typedef struct vit_gemm_plan {
    size_t numbers;        /* in a word */
    bool converts;         /* operands are converted as they are packed */
    size_t words;          /* of k */
    size_t tiles, panels;  /* of C */
    size_t rows;           /* of C */
    size_t height, higher; /* rows of a tile; the first `higher` tiles have one more; the last one
                              may have fewer (vit_tile_size.fixed) */
    bool b_stays;          /* else A stays */
    bool pack_a, pack_b;   /* into the thread's room; else it is read where it is */
    size_t depth;          /* words in a block of k; the last block may have fewer */
    size_t breadth;        /* panels in a block of B; all of them if A stays */
    size_t blocks_of_k;
    size_t bands;       /* of tiles */
    size_t runs;        /* of bands; runs x groups is the number of tasks */
    size_t groups;      /* of panels */
    size_t packed_row;  /* floats from row to row of packed A */
    size_t packed_tile; /* floats from tile to tile of packed A if it is transposed */
} vit_gemm_plan;

/* The plan for `threads` threads, each with a second-level cache of `cache` floats, of which at
 * most VIT_LARGEST_CACHE are used; m, n > 0. */
vit_gemm_plan vit_gemm_plan_of(const vit_gemm_shape *shape, const vit_tile_size *tile,
                               size_t threads, size_t cache);

#endif
