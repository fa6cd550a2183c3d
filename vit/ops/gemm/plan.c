#include "vit/ops/gemm/plan.h"
#include "vit/base/size.h"

/* Rows a multiple of this many floats (4 KiB) apart fall into the same few sets of a first-level
 * cache. Shorter rows spread over all sets. */
#define FAR_APART ((size_t)1024)

/* Packing pays only if what is packed is used often enough: a row of A by more columns than this
 * (by fewer if A is slow to read where it is); a panel of B by this many tiles altogether, or by
 * this many of each thread if each thread packs B for itself. A that has to be converted is always
 * packed. */
#define COLUMNS_PER_ROW 992
#define COLUMNS_PER_BAD_ROW 160
#define COLUMNS_PER_GROUP 192 /* a group of panels packs A for itself */
#define TILES_PER_PANEL 24
#define TILES_PER_BAND 12
#define CONVERTED_TILES_PER_BAND 4

/* B stays if each thread has at least this many tiles: for packed floats, for floats where they
 * are, for converted operands. */
#define LEAST_TILES 64
#define LEAST_PLAIN_TILES 12
#define LEAST_CONVERTED_TILES 24

/* The most panels in a block of B that stays. With fewer, a tile of A is finished before the next
 * one has been prefetched; with more, the block would be less deep. */
#define KEPT_PANELS 12

/* Tiles of fewer rows use a number of B so seldom that it must come from the first-level cache. So
 * A stays in the second one, in bands of at most LOW_TILE_ROWS rows: the threads have enough of
 * them to take from each other. */
#define TALL_TILE 8
#define LOW_TILE_ROWS 96

/* The most rows in a band of A that stays; the most tiles in a band of A that is streamed, and how
 * many runs of such bands there are for each thread. */
#define HIGH_ROWS 384
#define LOW_TILES 2
#define RUNS_A_THREAD 4

typedef vit_gemm_plan plan;
typedef vit_gemm_shape shape;

/* The least of a second-level cache that blocks are made for, in floats: 64 KiB. */
#define LEAST_CACHE ((size_t)16 << 10)

/* What fits into a second-level cache of this many floats, beside what streams past it: a band of A
 * (768 of 1,024 KiB) and a block of B (640 KiB). A larger matrix than `matrix` (1.5 MiB) is packed:
 * it would not stay in that cache. */
typedef struct sizes {
    size_t band, block, matrix;
} sizes;

static sizes sizes_for(size_t cache) {
    const size_t used = vit_min(vit_max(cache, LEAST_CACHE), VIT_LARGEST_CACHE);
    return (sizes){used / 4 * 3, used / 8 * 5, used / 2 * 3};
}

/* The depth of blocks of k, at most `most` words: all of about the same depth, as a shallow last
 * one would read and write as much of C as the others, and of whole vectors. */
static size_t block_depth(size_t words, size_t most) {
    if (words <= most) return words;
    return vit_ceil_div(vit_ceil_div(words, vit_ceil_div(words, most)), 16) * 16;
}

/* ---- which operand stays, and what is packed ---- */

/* B stays if all its columns fit, since A is packed anew for each block of columns. Not if A is
 * transposed: it is packed in strips as wide as a band is high, and the low bands of an A that is
 * streamed would use only a small part of every cache line. */
static void choose_for_converted(plan *p, const shape *s, size_t threads, const sizes *fits) {
    p->pack_a = true;
    p->pack_b = !s->b_packed;
    p->b_stays = s->b_packed && !s->a_transposed && p->tiles >= threads * LEAST_CONVERTED_TILES &&
                 p->panels * s->panel * p->depth <= fits->block;
}

/* Whether A has enough tiles to stream past a block of B that B should stay, even if it must be
 * packed for that. A transposed is read in strips one tile wide and far apart, and every thread
 * would pack all of B: that only pays for one thread, and if C has at least twice as many rows as
 * columns. */
static bool streams_long(const plan *p, const shape *s, size_t threads) {
    if (s->a_transposed && (threads > 1 || s->m < 2 * s->n)) return false;
    return p->tiles >= threads * LEAST_TILES;
}

/* Whether A is slow to read where it is: its rows compete for the same sets of the first-level
 * cache, which often has eight ways, fewer than a tile has rows; or it is transposed, and a tile of
 * six rows uses less than half of each cache line. */
static bool reads_badly(const shape *s, const vit_tile_size *tile) {
    const bool half_lines = s->a_transposed && tile->rows < TALL_TILE && s->n > COLUMNS_PER_BAD_ROW;
    return s->a_row % FAR_APART == 0 || half_lines;
}

static void choose_for_floats(plan *p, const shape *s, const vit_tile_size *tile, size_t threads,
                              const sizes *fits) {
    const bool b_is_large = !s->b_packed && s->n * s->k > fits->matrix;
    const bool b_reads_well = !s->b_packed && s->b_row < FAR_APART;
    const bool is_long = streams_long(p, s, threads);
    const bool bad = !s->a_ready && reads_badly(s, tile);
    const bool tall = tile->rows >= TALL_TILE;
    const size_t least = bad || s->a_transposed ? COLUMNS_PER_BAD_ROW : COLUMNS_PER_ROW;
    p->b_stays =
        tall && !bad && (is_long || (b_reads_well && p->tiles >= threads * LEAST_PLAIN_TILES));
    if (p->b_stays) {
        p->breadth = vit_ceil_div(p->panels, vit_ceil_div(p->panels, KEPT_PANELS));
        const size_t depth = fits->block / s->panel / p->breadth / 16 * 16;
        p->depth = block_depth(p->words, vit_min(tile->depth, depth));
        p->pack_b = s->b_made || (b_is_large && is_long && (s->a_transposed || !b_reads_well));
    } else {
        p->pack_a = !s->a_ready && (bad || s->m * s->k > fits->matrix) && s->n > least;
        const bool b_reads_badly = !s->b_packed && s->b_row % FAR_APART == 0 && p->tiles >= 4;
        p->pack_b = s->b_made || (b_is_large && (b_reads_badly || p->tiles >= TILES_PER_PANEL));
    }
}

/* ---- tasks: divided so that the threads finish at about the same time ---- */

/* B stays: bands only. Of a converted A they are low, as each is packed on its way. */
static void divide_under_b(plan *p, const vit_tile_size *tile, size_t threads) {
    p->bands = p->runs = threads;
    p->groups = 1;
    if (!p->converts) return;
    const size_t low = tile->fixed ? 1 : LOW_TILES;
    p->bands = vit_ceil_div(p->tiles, threads * low) * threads;
    p->runs = threads > 1 ? vit_min(threads * RUNS_A_THREAD, p->bands) : 1;
}

/* Whether a band for each thread costs less than a group of panels for each. With groups every
 * thread packs all of A, with bands all of B; and B is prefetched for packing while tiles are
 * computed, A is not. */
static bool wants_bands(const plan *p, const shape *s, size_t threads) {
    if (s->b_made && !p->pack_a) return false;
    if (p->pack_a && p->pack_b && s->n >= 2 * s->m) return false;
    if (p->pack_b) return p->tiles >= threads * TILES_PER_BAND;
    return p->converts && p->tiles >= threads * CONVERTED_TILES_PER_BAND;
}

/* A stays: bands as high as fit, and groups of panels if there are too few bands for the threads.
 */
static void divide_over_a(plan *p, const shape *s, const vit_tile_size *tile, size_t threads,
                          const sizes *fits) {
    const bool low = tile->rows < TALL_TILE && !s->b_made; /* each band makes all of B */
    const size_t most_rows = low ? LOW_TILE_ROWS : HIGH_ROWS;
    const size_t rows = vit_min(most_rows, fits->band / p->packed_row);
    p->bands = vit_ceil_div(p->tiles, vit_max(rows / tile->rows, 1));
    if (p->bands < threads && wants_bands(p, s, threads)) p->bands = threads;
    if (p->bands > 1) p->bands = vit_ceil_div(p->bands, threads) * threads;
    p->runs = p->bands;
    size_t wanted = 8 * threads, most = p->panels;
    if (p->pack_a) wanted = threads, most = vit_ceil_div(s->n, COLUMNS_PER_GROUP);
    if (threads == 1 || (p->pack_a && p->bands > 1)) wanted = 1;
    p->groups = vit_min(vit_ceil_div(wanted, p->bands), most);
}

vit_gemm_plan vit_gemm_plan_of(const shape *s, const vit_tile_size *tile, size_t threads,
                               size_t cache) {
    const sizes fits = sizes_for(cache);
    const bool converts = vit_precisions[s->precision].converts;
    plan p = {.numbers = converts ? vit_precisions[s->precision].numbers : 1,
              .converts = converts,
              .words = converts ? vit_words(s->precision, s->k) : s->k,
              .tiles = vit_ceil_div(s->m, tile->rows),
              .panels = vit_ceil_div(s->n, s->panel)};
    p.rows = s->m;
    p.height = s->m / p.tiles;
    p.higher = s->m % p.tiles;
    if (tile->fixed) p.height = tile->rows, p.higher = 0;
    p.depth = block_depth(p.words, tile->depth);
    p.breadth = p.panels;
    if (p.converts)
        choose_for_converted(&p, s, threads, &fits);
    else
        choose_for_floats(&p, s, tile, threads, &fits);
    p.blocks_of_k = p.words > 0 ? vit_ceil_div(p.words, p.depth) : 1;
    /* 16 more, since the last vector of a row may write past its end, and since rows whose distance
     * is no power of two do not compete for the same sets of the cache. */
    p.packed_row = vit_padded(p.depth) + 16;
    p.packed_tile = tile->rows * p.depth + 16;
    if (p.b_stays)
        divide_under_b(&p, tile, threads);
    else
        divide_over_a(&p, s, tile, threads, &fits);
    return p;
}
