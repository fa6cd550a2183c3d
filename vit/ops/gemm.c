#include "vit/ops/gemm.h"
#include "vit/base/size.h"
#include <string.h>

/* A product that has room to pack in is divided into tasks, runs of bands of row tiles times groups
 * of column panels; others, attention's, are computed at once. A task goes from stage to stage, a
 * band times a block, and in each over all tiles times panels. Blocking over k stores and reloads
 * the running value, so none of this is part of the result.
 *
 * One operand stays in the second-level cache while the other passes by and is packed meanwhile:
 * a high band of A, under which B comes a panel ahead; or a block of B, under which A comes in low
 * bands: pairs are packed one ahead, floats lie well where they are. */

/* From here on a matrix is packed before it is used: smaller ones lie well where they are. In
 * floats, 1.5 MB: what does not stay in that cache. */
#define LARGE ((size_t)400000)

/* Rows so many floats apart, a page or more, want the same few lines of a cache. Of others the part
 * that a block of B is made of stays in it as it lies. */
#define FAR_APART ((size_t)1024)

/* What packing costs must come back: panels that use a packed row of A; tiles that use a packed
 * panel of B, in all and where each thread packs its own; of pairs, whose A is always packed. */
#define PANELS_PER_ROW 32
#define PANELS_PER_COLUMN 6
#define TILES_PER_PANEL 24
#define TILES_PER_BAND 12
#define PAIR_TILES_PER_BAND 4

/* Rows of a high band, at most; tiles of a low one; runs of these that a thread begins with. */
#define HIGH_ROWS 384
#define LOW_TILES 2
#define RUNS_A_THREAD 4

/* Tiles a thread for which B may stay: of floats, in panels or as it lies; of pairs. */
#define LEAST_TILES 64
#define LEAST_PLAIN_TILES 12
#define LEAST_PAIR_TILES 24

/* Of a block of floats that stays, the panels, at most: under fewer a tile of A is gone before the
 * next is there, and under more the block is not as deep. And the tiles under which it comes. */
#define KEPT_PANELS 12
#define FIRST_TILES 12

/* Tiles of a run after which their share of the next panel is packed. */
#define RUN_TILES 8

/* Rows of A transposed that are packed of all tiles at a time, while as many are fetched: where
 * they lie a multiple of 4 KiB apart, all of them want the same few lines of the first cache. */
#define STRIP 8

/* Elements first .. end of something. */
typedef struct range {
    size_t first, end;
} range;

/* k counts words of 32 bits: floats, or pairs of bfloat16, which are always packed. */
typedef struct product {
    const vit_exec *exec;
    const vit_product_kernels *inner; /* of floats or pairs */
    size_t numbers;                   /* of a word */
    float *c;
    size_t c_row, m, n, k, numbers_of_k;
    vit_left a;
    vit_right b;
    vit_epilogue epilogue;
    bool pack_a, pack_b;
    bool b_stays;               /* else A does */
    size_t tiles, panels;       /* of C */
    size_t height, higher;      /* rows of a tile; the first tiles that have one more */
    size_t deepest, depth;      /* words of a block of k, at most; the last may have fewer */
    size_t breadth;             /* panels of a block: of B that stays, else all of a task's */
    size_t blocks_of_k;         /* the blocks of a panel */
    range blocks;               /* that the tasks go through */
    size_t bands, runs, groups; /* of tiles, of bands, of panels */
} product;

/* Tiles t0 .. t1, which are a band, times words k0 .. k0 + words of panels, which are a block. */
typedef struct stage {
    size_t band, t0, t1;
    size_t number, k0, words;
    range panels;
} stage;

/* A task in progress. */
typedef struct part {
    range bands, panels;
    stage now, next; /* the last one's next has no tiles */
    float *packed_a, *next_a, *packed_b;
} part;

/* Words k0 .. k0 + words of a panel of B. */
typedef struct block {
    size_t panel, k0, words;
} block;

static size_t first_row(const product *p, size_t tile) {
    return tile * p->height + vit_min(tile, p->higher);
}

static size_t length(range r) {
    return r.end - r.first;
}

static range share_of(range r, size_t index, size_t shares) {
    return (range){r.first + length(r) * index / shares,
                   r.first + length(r) * (index + 1) / shares};
}

/* Numbers of words k0 .. k0 + words: the last pair may lack one. */
static size_t numbers_in(const product *p, size_t k0, size_t words) {
    return vit_min(words * p->numbers, p->numbers_of_k - k0 * p->numbers);
}

/* ---- stages ---- */

/* Band i times block number q, which are counted along k first. */
static stage stage_of(const product *p, const part *w, size_t i, size_t q) {
    const range tiles = share_of((range){0, p->tiles}, i, p->bands);
    const size_t k0 = q % p->blocks_of_k * p->depth;
    const size_t first = w->panels.first + q / p->blocks_of_k * p->breadth;
    return (stage){.band = i,
                   .t0 = tiles.first,
                   .t1 = tiles.end,
                   .number = q,
                   .k0 = k0,
                   .words = vit_min(p->depth, p->k - k0),
                   .panels = {first, vit_min(first + p->breadth, w->panels.end)}};
}

static stage stage_after(const product *p, const part *w) {
    const size_t i = w->now.band + 1, q = w->now.number + 1;
    if (i < w->bands.end) return stage_of(p, w, i, w->now.number);
    return q < p->blocks.end ? stage_of(p, w, w->bands.first, q) : (stage){0};
}

/* ---- packing A ---- */

/* From row to row of packed A as it lies, from tile to tile of packed A transposed. What is added
 * takes what a last vector writes too much, and keeps rows out of each other's cache sets. */
static size_t packed_row(const product *p) {
    return vit_padded(p->depth) + 16;
}

static size_t packed_tile(const product *p) {
    return p->exec->kernels->tile_rows * p->depth + 16;
}

static bool is_transposed(const product *p) {
    return p->a.row == 1;
}

/* Whether the rows that A lies in are a multiple of 4 KiB apart, so that they want the same lines
 * of a first-level cache: many a one has eight ways, and a tile more rows. */
static bool rows_clash(const product *p) {
    return (is_transposed(p) ? p->a.col : p->a.row) % FAR_APART == 0;
}

static const float *row_of_a(const product *p, const stage *s, size_t row) {
    return p->a.data + row * p->a.row + s->k0 * p->numbers * p->a.col;
}

/* Rows r.first .. r.end of the stage, r counting from its first. */
static void pack_rows(const product *p, float *to, const stage *s, range r) {
    p->inner->copy_along(to + r.first * packed_row(p), packed_row(p),
                         row_of_a(p, s, first_row(p, s->t0) + r.first), p->a.row, length(r),
                         numbers_in(p, s->k0, s->words));
}

static void fetch(const float *from, size_t rows, size_t row) {
    for (; rows > 0; rows--, from += row) __builtin_prefetch(from);
}

/* Nothing is computed meanwhile, so the rows after the next are fetched. */
static void pack_as_it_lies(const product *p, float *to, const stage *s) {
    const size_t i = first_row(p, s->t0), rows = first_row(p, s->t1) - i, ahead = 2;
    for (size_t r = 0; r < rows; r++) {
        if (r + ahead < rows)
            fetch(row_of_a(p, s, i + r + ahead), numbers_in(p, s->k0, s->words) / 16, 16);
        pack_rows(p, to, s, (range){r, r + 1});
    }
}

/* Words q .. q + words of a tile of A transposed, and the words after them are fetched. */
static void pack_tile(const product *p, float *to, const stage *s, size_t tile, size_t q,
                      size_t words) {
    const size_t tile_rows = p->exec->kernels->tile_rows, after = s->k0 + q + words;
    const size_t i = first_row(p, tile), numbers = numbers_in(p, s->k0 + q, words);
    const float *from = row_of_a(p, s, i) + q * p->numbers * p->a.col;
    if (after < p->k) fetch(from + numbers * p->a.col, numbers_in(p, after, words), p->a.col);
    p->inner->copy_across(to + q * tile_rows, tile_rows, from, p->a.col, numbers,
                          first_row(p, tile + 1) - i);
}

/* Some words of all tiles at a time, so that a cache line is used up while it is there. */
static void pack_transposed(const product *p, float *to, const stage *s) {
    const size_t step = STRIP / p->numbers;
    for (size_t q = 0; q < s->words; q += step)
        for (size_t t = s->t0; t < s->t1; t++)
            pack_tile(p, to + (t - s->t0) * packed_tile(p), s, t, q, vit_min(step, s->words - q));
}

static void pack_left(const product *p, float *to, const stage *s) {
    if (is_transposed(p))
        pack_transposed(p, to, s);
    else
        pack_as_it_lies(p, to, s);
}

/* ---- packing B ---- */

/* Rows of B that `words` steps are made of. */
static size_t rows_of_b(const product *p, size_t words) {
    return p->b.packed ? words : words * p->numbers;
}

static bool lies_well(const product *p) {
    return !p->b.packed && p->b.row < FAR_APART;
}

static const float *first_of_b(const product *p, block b) {
    return p->b.data + b.panel * p->b.panel + rows_of_b(p, b.k0) * p->b.row;
}

static float *packed_panel(const product *p, const part *w, size_t panel) {
    const size_t i = panel - w->now.panels.first;
    return w->packed_b + (p->b_stays ? i : i % 2) * p->depth * VIT_PANEL;
}

static void pack_right(const product *p, float *to, block b) {
    const size_t width = vit_min(VIT_PANEL, p->n - b.panel * VIT_PANEL);
    if (b.words > 0)
        p->inner->copy_across(to, VIT_PANEL, first_of_b(p, b), p->b.row,
                              numbers_in(p, b.k0, b.words), width);
}

/* ---- computing ---- */

/* Number by number: a structure that is put together and copied would be read in other pieces than
 * it was written in, which the processor does only when the tile before, too, is written. */
static void look_at(vit_ahead *ahead, const float *from, size_t row, size_t rows, size_t step,
                    size_t tiles) {
    ahead->from = from;
    ahead->row = row;
    ahead->rows = rows;
    ahead->step = step;
    ahead->tiles = tiles;
}

static vit_left left_of(const product *p, const part *w, size_t tile) {
    const stage *s = &w->now;
    const size_t i = first_row(p, tile);
    if (!p->pack_a)
        return (vit_left){p->a.data + i * p->a.row + s->k0 * p->a.col, p->a.row, p->a.col};
    if (is_transposed(p))
        return (vit_left){w->packed_a + (tile - s->t0) * packed_tile(p), 1,
                          p->exec->kernels->tile_rows};
    return (vit_left){w->packed_a + (i - first_row(p, s->t0)) * packed_row(p), packed_row(p), 1};
}

/* Of the stage: what is left to do after its last k, or only that the chains go on. */
static vit_epilogue epilogue_of(const product *p, const stage *s) {
    vit_epilogue e = s->k0 + s->words == p->k ? p->epilogue : vit_epilogue_none();
    e.accumulate = p->epilogue.accumulate || s->k0 > 0;
    return e;
}

/* What all tiles of the stage have in common. */
static vit_tiles tiles_of(const product *p, const part *w) {
    const vit_left a = left_of(p, w, w->now.t0);
    return (vit_tiles){.k = w->now.words,
                       .c_row = p->c_row,
                       .a_row = a.row,
                       .a_col = a.col,
                       .b_row = p->pack_b ? VIT_PANEL : p->b.row};
}

/* The run begins with this tile. */
static void place(vit_tiles *run, const product *p, const part *w, size_t tile, size_t panel,
                  size_t count) {
    const size_t i = first_row(p, tile), j = panel * VIT_PANEL;
    run->count = count;
    run->rows = first_row(p, tile + 1) - i;
    run->columns = vit_min(VIT_PANEL, p->n - j);
    run->c = p->c + i * p->c_row + j;
    run->a = left_of(p, w, tile).data;
    run->b = p->pack_b ? packed_panel(p, w, panel)
                       : first_of_b(p, (block){panel, w->now.k0, w->now.words});
    run->epilogue = epilogue_of(p, &w->now);
    vit_epilogue_move(&run->epilogue, i, j);
}

/* The run's panels, or those columns of them that a tile is wide. */
static void compute_run(const product *p, vit_tiles *run) {
    const size_t width = run->columns, tile_cols = p->exec->kernels->tile_cols;
    for (size_t j = 0; j < width; j += tile_cols) {
        run->columns = vit_min(tile_cols, width - j);
        p->inner->gemm_tiles(run);
        run->c += tile_cols;
        run->b += tile_cols;
        vit_epilogue_move(&run->epilogue, 0, tile_cols);
    }
}

/* Those of the tiles that are as high as the first. */
static size_t of_one_height(const product *p, range tiles) {
    return vit_min(tiles.end, tiles.first < p->higher ? p->higher : p->tiles) - tiles.first;
}

/* Tiles of a panel, one below the other. Meanwhile the C of the next is fetched, and each tile's
 * share of the next panel, which is packed after a run. */
static void sweep_panel(const product *p, const part *w, vit_tiles *run, size_t panel,
                        range tiles) {
    const stage *now = &w->now;
    const size_t share = vit_max(1, vit_ceil_div(now->words, length(tiles)));
    size_t done = panel + 1 < now->panels.end ? 0 : now->words;
    while (length(tiles) > 0) {
        const size_t count = vit_min(p->pack_b ? RUN_TILES : p->tiles, of_one_height(p, tiles));
        const block coming = {panel + 1, now->k0 + done, vit_min(count * share, now->words - done)};
        const size_t rows = rows_of_b(p, vit_min(share, coming.words));
        place(run, p, w, tiles.first, panel, count);
        run->down = run->rows;
        run->a_step = p->pack_a && is_transposed(p) ? packed_tile(p) : run->rows * run->a_row;
        look_at(&run->ahead[0], run->c + run->rows * p->c_row, p->c_row, run->rows,
                run->rows * p->c_row, vit_min(count, length(tiles) - 1));
        look_at(&run->ahead[1], first_of_b(p, coming), p->b.row, rows, rows * p->b.row,
                vit_ceil_div(coming.words, share));
        compute_run(p, run);
        if (p->pack_b) pack_right(p, packed_panel(p, w, panel + 1) + done * VIT_PANEL, coming);
        done += coming.words;
        tiles.first += count;
    }
}

static void sweep_panels(const product *p, const part *w, range tiles) {
    const stage *now = &w->now;
    if (p->pack_b)
        pack_right(p, packed_panel(p, w, now->panels.first),
                   (block){now->panels.first, now->k0, now->words});
    vit_tiles run = tiles_of(p, w);
    for (size_t j = now->panels.first; j < now->panels.end; j++) sweep_panel(p, w, &run, j, tiles);
}

/* A panel's share of the next tile's A, where it lies: some columns of its rows, or some rows of A
 * transposed. */
static void look_at_left(vit_ahead *ahead, const product *p, const part *w, size_t tile,
                         range panels) {
    const size_t t = tile + 1, i = first_row(p, t);
    const range all = w->now.panels;
    const size_t share = vit_max(1, vit_ceil_div(w->now.words, length(all)));
    const size_t first = vit_min(share * (panels.first - all.first), w->now.words);
    const float *from = row_of_a(p, &w->now, i) + first * p->a.col;
    const size_t tiles = vit_min(length(panels), (w->now.words - first) / share);
    if (is_transposed(p))
        look_at(ahead, from, p->a.col, share, share * p->a.col, tiles);
    else
        look_at(ahead, from, p->a.row, first_row(p, t + 1) - i, share, tiles);
}

/* Rows of the next stage's A, of which one is fetched. */
static void look_at_rows(vit_ahead *ahead, const product *p, const part *w, range rows) {
    look_at(ahead, row_of_a(p, &w->next, first_row(p, w->next.t0) + rows.first), VIT_PANEL,
            vit_ceil_div(numbers_in(p, w->next.k0, w->next.words), VIT_PANEL), 0, 1);
}

/* B stays: every panel of the tile, side by side, and the C of the next tile is fetched meanwhile.
 * The last panel is apart: it may be narrower, and the tile after it is not beside it. */
static void sweep_tile(const product *p, const part *w, size_t tile) {
    const size_t next_rows = first_row(p, w->next.t1) - first_row(p, w->next.t0);
    const range rows = {0, p->pack_a ? next_rows : 0}, all = w->now.panels;
    const size_t steps = (w->now.t1 - w->now.t0) * length(all);
    size_t done = (tile - w->now.t0) * length(all);
    vit_tiles run = tiles_of(p, w);
    run.right = VIT_PANEL;
    run.b_step = p->pack_b ? p->depth * VIT_PANEL : p->b.panel;
    for (range panels = all; length(panels) > 0;) {
        const bool last = length(panels) == 1;
        const size_t count = last || p->pack_a ? 1 : length(panels) - 1;
        const range now_packed = share_of(rows, done, steps);
        place(&run, p, w, tile, panels.first, count);
        if (!last)
            look_at(&run.ahead[0], run.c + VIT_PANEL, p->c_row, run.rows, VIT_PANEL, count);
        else
            look_at(&run.ahead[0], p->c + first_row(p, tile + 1) * p->c_row + all.first * VIT_PANEL,
                    p->c_row, run.rows, 0, tile + 1 < w->now.t1);
        look_at(&run.ahead[1], NULL, 0, 0, 0, 0);
        if (length(now_packed) > 0)
            look_at_rows(&run.ahead[1], p, w, now_packed);
        else if (!p->pack_a && tile + 1 < w->now.t1)
            look_at_left(&run.ahead[1], p, w, tile, (range){panels.first, panels.first + count});
        compute_run(p, &run);
        if (length(now_packed) > 0) pack_rows(p, w->next_a, &w->next, now_packed);
        done += count;
        panels.first += count;
    }
}

static void a_stays(const product *p, const part *w) {
    if (p->pack_a) pack_left(p, w->packed_a, &w->now);
    sweep_panels(p, w, (range){w->now.t0, w->now.t1});
}

/* Of floats, B comes panel by panel under the first tiles, and is fetched meanwhile. */
static void b_stays(const product *p, part *w) {
    range tiles = {w->now.t0, w->now.t1};
    if (p->numbers == 1) {
        tiles.first = vit_min(tiles.first + FIRST_TILES, tiles.end);
        sweep_panels(p, w, (range){w->now.t0, tiles.first});
    }
    for (size_t t = tiles.first; t < tiles.end; t++) sweep_tile(p, w, t);
    float *done = w->packed_a;
    w->packed_a = w->next_a;
    w->next_a = done;
}

static void part_task(size_t index, int thread, void *context) {
    const product *p = context;
    float *room = p->exec->room + (size_t)thread * VIT_GEMM_ROOM;
    part w = {.bands = share_of((range){0, p->bands}, index / p->groups, p->runs),
              .panels = share_of((range){0, p->panels}, index % p->groups, p->groups),
              .packed_b = room,
              .packed_a = room + 2 * VIT_PACKED_PANEL,
              .next_a = room + 2 * VIT_PACKED_PANEL + VIT_LOW_BAND};
    w.now = stage_of(p, &w, w.bands.first, p->blocks.first);
    if (p->b_stays && p->pack_a) pack_left(p, w.packed_a, &w.now);
    do {
        w.next = stage_after(p, &w);
        if (p->b_stays)
            b_stays(p, &w);
        else
            a_stays(p, &w);
        w.now = w.next;
    } while (w.now.t0 < w.now.t1);
}

/* Pairs' runs are short where B stays, so the threads go from block to block together: a run that
 * one takes over finds the block in its cache. */
static void compute(product *p, int threads) {
    const size_t blocks = p->blocks_of_k * vit_ceil_div(p->panels, p->breadth);
    const size_t at_once = p->b_stays && p->numbers > 1 ? 1 : blocks;
    for (size_t q = 0; q < blocks; q += at_once) {
        p->blocks = (range){q, q + at_once};
        vit_parallel(threads, p->runs * p->groups, part_task, p);
    }
}

/* ---- dividing ---- */

/* Blocks of k of about the same depth, whole vectors of A as `most` is: a shallow one would read
 * and write C as often as a deep one. */
static size_t block_depth(size_t k, size_t most) {
    if (k <= most) return k;
    return vit_ceil_div(vit_ceil_div(k, vit_ceil_div(k, most)), 16) * 16;
}

/* Whether a band a thread costs less than groups: these pack A again, bands pack B again. What is
 * packed of B is fetched while tiles compute, what is packed of A is not. */
static bool wants_bands(const product *p, size_t threads) {
    if (p->pack_a && p->pack_b && p->n >= 2 * p->m) return false;
    if (p->pack_b) return p->tiles >= threads * TILES_PER_BAND;
    return p->numbers > 1 && p->tiles >= threads * PAIR_TILES_PER_BAND;
}

static void divide_under_b(product *p, size_t threads) {
    p->bands = p->runs = threads;
    p->groups = 1;
    if (p->numbers == 1) return;
    p->bands = vit_ceil_div(p->tiles, threads * LOW_TILES) * threads;
    p->runs = threads > 1 ? vit_min(threads * RUNS_A_THREAD, p->bands) : 1;
}

static void divide_over_a(product *p, size_t threads) {
    const size_t rows = p->exec->kernels->tile_rows, high = VIT_HIGH_BAND / packed_row(p);
    p->bands = vit_ceil_div(p->tiles, vit_min(HIGH_ROWS, high) / rows);
    if (p->bands < threads && wants_bands(p, threads)) p->bands = threads;
    if (p->bands > 1) p->bands = vit_ceil_div(p->bands, threads) * threads;
    p->runs = p->bands;
    size_t wanted = 8 * threads, most = p->panels;
    if (p->pack_a) wanted = threads, most = vit_ceil_div(p->panels, PANELS_PER_COLUMN);
    if (threads == 1 || (p->pack_a && p->bands > 1)) wanted = 1;
    p->groups = vit_min(vit_ceil_div(wanted, p->bands), most);
}

/* So many tasks that the threads end at about the same time. */
static void divide(product *p, size_t threads) {
    if (p->b_stays)
        divide_under_b(p, threads);
    else
        divide_over_a(p, threads);
}

/* B stays if all of it fits: A would be packed again for each block of columns. Not under A
 * transposed, which comes in strips that are as wide as a band is high: low bands would leave most
 * of every cache line unused. */
static void choose_for_pairs(product *p, size_t threads) {
    p->pack_a = true;
    p->pack_b = !p->b.packed;
    p->b_stays = p->b.packed && !is_transposed(p) && p->tiles >= threads * LEAST_PAIR_TILES &&
                 p->panels * VIT_PANEL * p->depth <= VIT_PACKED_B;
}

_Static_assert(VIT_ONE_BLOCK <= VIT_K_BLOCK &&
                   VIT_ONE_BLOCK <= VIT_PACKED_B / VIT_PANEL / KEPT_PANELS,
               "a product of VIT_ONE_BLOCK must not be divided over k");

/* Whether so many tiles pass by a block of B that even one in panels had better stay. A transposed
 * passes by in strips of a tile's width, far apart, and each thread would pack all of B: there one
 * thread must find that much less to pack. */
static bool passes_long(const product *p, size_t threads) {
    if (is_transposed(p) && (threads > 1 || p->m < 2 * p->n)) return false;
    return p->tiles >= threads * LEAST_TILES;
}

/* Whether A had better be packed where that comes back: a tile of six floats of A transposed uses
 * less than half of each of the lines that it is read from. */
static bool reads_badly(const product *p) {
    const bool is_low = is_transposed(p) && p->exec->kernels->tile_rows < 8;
    return rows_clash(p) || (is_low && p->panels >= PANELS_PER_COLUMN);
}

static void choose_for_floats(product *p, size_t threads) {
    const bool is_large = !p->b.packed && p->n * p->k > LARGE, is_long = passes_long(p, threads);
    const bool bad = reads_badly(p);
    const size_t least = bad || is_transposed(p) ? PANELS_PER_COLUMN : PANELS_PER_ROW;
    p->b_stays = !bad && (is_long || (lies_well(p) && p->tiles >= threads * LEAST_PLAIN_TILES));
    if (p->b_stays) {
        p->breadth = vit_ceil_div(p->panels, vit_ceil_div(p->panels, KEPT_PANELS));
        const size_t most = VIT_PACKED_B / VIT_PANEL / p->breadth / 16 * 16;
        p->depth = block_depth(p->k, vit_min(p->deepest, most));
        p->pack_b = is_large && is_long && (is_transposed(p) || !lies_well(p));
    } else {
        p->pack_a = (bad || p->m * p->k > LARGE) && p->panels >= least;
        p->pack_b = is_large && p->tiles >= TILES_PER_PANEL;
    }
}

static void choose_packing(product *p, size_t threads) {
    p->breadth = p->panels;
    if (p->numbers > 1)
        choose_for_pairs(p, threads);
    else
        choose_for_floats(p, threads);
    p->blocks_of_k = p->k > 0 ? vit_ceil_div(p->k, p->depth) : 1;
}

/* ---- all of a product ---- */

void vit_gemm(const vit_exec *exec, float *c, size_t c_row, size_t m, size_t n, size_t k,
              vit_left a, vit_right b, const vit_epilogue *epilogue) {
    const vit_kernels *kernels = exec->kernels;
    if (m == 0 || n == 0) return;
    product p = {.exec = exec,
                 .inner = vit_products_of(exec),
                 .numbers = exec->precision == VIT_PRECISION_BF16 ? 2 : 1,
                 .c = c,
                 .c_row = c_row,
                 .m = m,
                 .n = n,
                 .k = vit_words(exec->precision, k),
                 .numbers_of_k = k,
                 .a = a,
                 .b = b,
                 .epilogue = *epilogue,
                 .tiles = vit_ceil_div(m, kernels->tile_rows),
                 .panels = vit_ceil_div(n, VIT_PANEL),
                 /* in place, what is to be added is there until the first block is stored */
                 .deepest = epilogue->residual == c ? VIT_K_BLOCK : kernels->tile_depth};
    p.depth = block_depth(p.k, p.deepest);
    p.height = m / p.tiles;
    p.higher = m % p.tiles;
    const int threads = vit_exec_threads(exec, m * n * p.k);
    choose_packing(&p, (size_t)threads);
    divide(&p, (size_t)threads);
    compute(&p, threads);
}
