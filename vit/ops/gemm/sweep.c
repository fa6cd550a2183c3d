/* The inner loops over the tiles and panels of a stage: if A stays, all tiles are multiplied by one
 * panel, then by the next; if B stays, one tile is multiplied by all panels, then the next. Tiles
 * of the same size form runs, one call of the kernel each: a processor looks only some hundreds of
 * instructions ahead, and should find multiply-adds there instead of bookkeeping. A run prefetches
 * what comes next, and a share of that is packed after the run. */
#include "vit/ops/gemm/product.h"

/* The most tiles in a run if a share of the next panel is packed after it. */
#define RUN_TILES 8

/* The first tiles under a block of floats that stays are computed panel by panel: the block is not
 * in the cache yet, and is prefetched panel by panel. */
#define FIRST_TILES 12

/* Sets what a run prefetches. The fields are written one by one, in place: a whole structure would
 * be assembled elsewhere in small stores and copied in vectors, and a vector load that covers
 * several recent stores waits until all earlier stores are done, those of the last tile among
 * them. */
static void look_at(vit_ahead *ahead, const float *from, size_t row, size_t rows, size_t step,
                    size_t tiles) {
    ahead->from = from;
    ahead->row = row;
    ahead->rows = rows;
    ahead->step = step;
    ahead->tiles = tiles;
}

/* The stage's A from this tile on, packed or where it is stored. */
static vit_operand_a a_of(const vit_gemm_product *p, const vit_gemm_task *t, size_t tile) {
    const vit_gemm_stage *s = &t->now;
    const size_t i = vit_first_row(p, tile), row = p->plan.packed_row;
    if (!p->plan.pack_a) return (vit_operand_a){vit_row_of_a(p, s, i), p->a.row, p->a.col};
    if (vit_is_transposed(p) && !p->inner->turn)
        return (vit_operand_a){t->packed_a + (tile - s->tiles.first) * p->plan.packed_tile, 1,
                               vit_tile_of(p->exec)->rows};
    return (vit_operand_a){t->packed_a + (i - vit_first_row(p, s->tiles.first)) * row, row, 1};
}

/* The product's own epilogue for the last block of k; for the others none, the chains continue. */
static vit_epilogue epilogue_of(const vit_gemm_product *p, const vit_gemm_stage *s) {
    vit_epilogue e = s->k0 + s->words == p->plan.words ? p->epilogue : vit_epilogue_none();
    e.start = p->epilogue.start;
    e.accumulate = p->epilogue.accumulate || s->k0 > 0;
    return e;
}

/* The fields that all runs of the stage have in common. */
static vit_tiles run_of(const vit_gemm_product *p, const vit_gemm_task *t) {
    const vit_operand_a a = a_of(p, t, t->now.tiles.first);
    return (vit_tiles){.k = t->now.words,
                       .c_row = p->c_row,
                       .a_row = a.row,
                       .a_col = a.col,
                       .b_row = p->plan.pack_b ? p->panel : p->b.row};
}

/* Makes the run `count` tiles, of which the first is this tile under this panel. */
static void place(vit_tiles *run, const vit_gemm_product *p, const vit_gemm_task *t, size_t tile,
                  size_t panel, size_t count) {
    const size_t i = vit_first_row(p, tile), j = panel * p->panel;
    run->count = count;
    run->rows = vit_first_row(p, tile + 1) - i;
    run->columns = vit_min(p->panel, p->n - j);
    run->c = p->c + i * p->c_row + j;
    run->a = a_of(p, t, tile).data;
    run->b = p->plan.pack_b ? vit_packed_panel(p, t, panel)
                            : vit_first_of_b(p, (vit_panel_part){panel, t->now.k0, t->now.words});
    run->epilogue = epilogue_of(p, &t->now);
    vit_epilogue_move(&run->epilogue, i, j);
}

/* Computes the run, in several parts if a tile of the kernel is narrower than a panel. */
static void compute_run(const vit_gemm_product *p, vit_tiles *run) {
    const size_t width = run->columns, tile_cols = vit_tile_of(p->exec)->cols;
    for (size_t j = 0; j < width; j += tile_cols) {
        run->columns = vit_min(tile_cols, width - j);
        p->inner->gemm_tiles(run);
        run->c += tile_cols;
        run->b += tile_cols;
        vit_epilogue_move(&run->epilogue, 0, tile_cols);
    }
}

/* ---- panel by panel ---- */

/* How many of the tiles, from the first on, have as many rows as the first. */
static size_t of_one_height(const vit_gemm_product *p, vit_range tiles) {
    const size_t whole = (p->plan.rows - p->plan.higher) / p->plan.height; /* of them are as high */
    const size_t end = tiles.first < p->plan.higher ? p->plan.higher
                       : tiles.first < whole        ? whole
                                                    : p->plan.tiles;
    return vit_min(tiles.end, end) - tiles.first;
}

/* During the coming tiles, prefetches a share of this part of B for each: some rows, which lie side
 * by side if B is packed, or of W's rows some columns. */
static void look_at_b(vit_ahead *ahead, const vit_gemm_product *p, vit_panel_part b, size_t share) {
    const float *from = vit_first_of_b(p, b);
    const size_t rows = vit_rows_of_b(p, vit_min(share, b.words));
    const size_t tiles = vit_ceil_div(b.words, share);
    if (p->b.row == p->panel)
        look_at(ahead, from, VIT_AHEAD, vit_ceil_div(rows * p->panel, VIT_AHEAD), rows * p->panel,
                tiles);
    else if (p->b.column == 1)
        look_at(ahead, from, p->b.row, rows, rows * p->b.row, tiles);
    else
        look_at(ahead, from, p->b.column, vit_min(p->panel, p->n - b.panel * p->panel), share,
                tiles);
}

/* Computes these tiles under a panel. During each tile the C of the tile below it is prefetched,
 * and a share of the next panel, which is packed after the run. */
static void sweep_panel(const vit_gemm_product *p, const vit_gemm_task *t, vit_tiles *run,
                        size_t panel, vit_range tiles) {
    const vit_gemm_plan *plan = &p->plan;
    const vit_gemm_stage *now = &t->now;
    const size_t share = vit_share_of_b(p, vit_ceil_div(now->words, vit_length(tiles)));
    size_t done = panel + 1 < now->panels.end ? 0 : now->words;
    while (vit_length(tiles) > 0) {
        const size_t count =
            vit_min(plan->pack_b ? RUN_TILES : plan->tiles, of_one_height(p, tiles));
        const vit_panel_part coming = {panel + 1, now->k0 + done,
                                       vit_min(count * share, now->words - done)};
        place(run, p, t, tiles.first, panel, count);
        run->down = run->rows;
        run->a_step = plan->pack_a && vit_is_transposed(p) && !p->inner->turn
                          ? plan->packed_tile
                          : run->rows * run->a_row;
        look_at(&run->ahead[0], run->c + run->rows * p->c_row, p->c_row, run->rows,
                run->rows * p->c_row, vit_min(count, vit_length(tiles) - 1));
        look_at_b(&run->ahead[1], p, coming, share);
        compute_run(p, run);
        if (plan->pack_b)
            vit_pack_b(p, vit_packed_panel(p, t, panel + 1) + done * p->panel, coming);
        done += coming.words;
        tiles.first += count;
    }
}

static void sweep_panels(const vit_gemm_product *p, const vit_gemm_task *t, vit_range tiles) {
    const vit_gemm_stage *now = &t->now;
    if (p->plan.pack_b)
        vit_pack_b(p, vit_packed_panel(p, t, now->panels.first),
                   (vit_panel_part){now->panels.first, now->k0, now->words});
    vit_tiles run = run_of(p, t);
    for (size_t j = now->panels.first; j < now->panels.end; j++) sweep_panel(p, t, &run, j, tiles);
}

void vit_sweep_under_a(const vit_gemm_product *p, const vit_gemm_task *t) {
    if (p->plan.pack_a) vit_pack_a(p, t->packed_a, &t->now);
    sweep_panels(p, t, t->now.tiles);
}

/* ---- tile by tile ---- */

/* During the tiles under these panels, prefetches their share of the next tile's A where it is
 * stored: some columns of its rows, or some rows of A transposed. */
static void look_at_a(vit_ahead *ahead, const vit_gemm_product *p, const vit_gemm_task *t,
                      size_t tile, vit_range panels) {
    const vit_range all = t->now.panels;
    const size_t i = vit_first_row(p, tile), rows = vit_first_row(p, tile + 1) - i;
    const size_t share = vit_max(1, vit_ceil_div(t->now.words, vit_length(all)));
    const size_t first = vit_min(share * (panels.first - all.first), t->now.words);
    const float *from = vit_row_of_a(p, &t->now, i) + first * p->a.col;
    const size_t tiles = vit_min(vit_length(panels), (t->now.words - first) / share);
    if (vit_is_transposed(p))
        look_at(ahead, from, p->a.col, share, share * p->a.col, tiles);
    else
        look_at(ahead, from, p->a.row, rows, share, tiles);
}

/* Prefetches the first of these rows of the next stage's A. */
static void look_at_rows(vit_ahead *ahead, const vit_gemm_product *p, const vit_gemm_task *t,
                         vit_range rows) {
    const vit_gemm_stage *s = &t->next;
    look_at(ahead, vit_row_of_a(p, s, vit_first_row(p, s->tiles.first) + rows.first), VIT_AHEAD,
            vit_ceil_div(vit_numbers_in(p, s->k0, s->words), VIT_AHEAD), 0, 1);
}

/* Computes a tile under all panels. Meanwhile the C that comes next is prefetched, and the A of the
 * next tile; or, if A is packed, the A of the next stage, of which a share is packed after each
 * run. The last panel is a run of its own, since it may be narrower, and since the C that comes
 * next is that of the next tile. */
static void sweep_tile(const vit_gemm_product *p, const vit_gemm_task *t, size_t tile) {
    const bool pack_a = p->plan.pack_a, last_tile = tile + 1 == t->now.tiles.end;
    const vit_range next = t->next.tiles, all = t->now.panels;
    const vit_range rows = {0,
                            pack_a ? vit_first_row(p, next.end) - vit_first_row(p, next.first) : 0};
    const size_t steps = vit_length(t->now.tiles) * vit_length(all);
    size_t done = (tile - t->now.tiles.first) * vit_length(all);
    vit_tiles run = run_of(p, t);
    run.right = p->panel;
    run.b_step = p->plan.pack_b ? p->plan.depth * p->panel : p->b.panel;
    for (vit_range panels = all; vit_length(panels) > 0;) {
        const bool last = vit_length(panels) == 1;
        const size_t count = last || pack_a ? 1 : vit_length(panels) - 1;
        const vit_range now_packed = vit_share_of(rows, done, steps);
        place(&run, p, t, tile, panels.first, count);
        if (!last)
            look_at(&run.ahead[0], run.c + p->panel, p->c_row, run.rows, p->panel, count);
        else
            look_at(&run.ahead[0],
                    p->c + vit_first_row(p, tile + 1) * p->c_row + all.first * p->panel, p->c_row,
                    run.rows, 0, !last_tile);
        look_at(&run.ahead[1], NULL, 0, 0, 0, 0);
        if (vit_length(now_packed) > 0)
            look_at_rows(&run.ahead[1], p, t, now_packed);
        else if (!pack_a && !last_tile)
            look_at_a(&run.ahead[1], p, t, tile + 1,
                      (vit_range){panels.first, panels.first + count});
        compute_run(p, &run);
        if (vit_length(now_packed) > 0) vit_pack_rows_of_a(p, t->next_a, &t->next, now_packed);
        done += count;
        panels.first += count;
    }
}

void vit_sweep_under_b(const vit_gemm_product *p, vit_gemm_task *t) {
    vit_range tiles = t->now.tiles;
    if (!p->plan.converts) {
        tiles.first = vit_min(tiles.first + FIRST_TILES, tiles.end);
        sweep_panels(p, t, (vit_range){t->now.tiles.first, tiles.first});
    }
    for (size_t i = tiles.first; i < tiles.end; i++) sweep_tile(p, t, i);
    float *used = t->packed_a;
    t->packed_a = t->next_a;
    t->next_a = used;
}
