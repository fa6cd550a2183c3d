#include "vit/base/size.h"
#include "vit/ops/gemm/gemm.h"

/* The columns from j on, as many as a tile has, and rows from i on. One run computes a tile of
 * `rows` rows of each product or, if there is one product only, `tiles` such tiles of it. */
static void multiply_rows(const vit_exec *exec, const vit_tiles *products, size_t i, size_t j,
                          size_t rows, size_t tiles) {
    vit_tiles run = *products;
    run.rows = rows;
    run.columns = vit_min(vit_tile_of(exec)->cols, products->columns - j);
    run.c += i * run.c_row + j;
    run.a += i * run.a_row;
    run.b += j;
    vit_epilogue_move(&run.epilogue, i, j);
    if (products->count == 1) {
        run.count = tiles;
        run.down = rows;
        run.right = 0;
        run.a_step = rows * run.a_row;
        run.b_step = 0;
    }
    vit_products_of(exec)->gemm_tiles(&run);
}

void vit_gemm_small(const vit_exec *exec, const vit_tiles *products) {
    const vit_tile_size *tile = vit_tile_of(exec);
    const size_t m = products->rows, tiles = vit_ceil_div(m, tile->rows);
    if (m == 0) return;
    if (vit_products_of(exec)->gemm_small) {
        vit_products_of(exec)->gemm_small(products);
        return;
    }
    const size_t height = m / tiles, higher = m % tiles;
    for (size_t j = 0; j < products->columns; j += tile->cols) {
        for (size_t t = 0, i = 0, at_once; t < tiles; t += at_once) {
            const size_t rows = height + (t < higher);
            at_once = products->count > 1 ? 1 : t < higher ? higher : tiles - higher;
            multiply_rows(exec, products, i, j, rows, at_once);
            i += at_once * rows;
        }
    }
}
