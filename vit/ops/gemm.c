#include "vit/ops/gemm.h"
#include "vit/base/size.h"
#include <string.h>

/* A product is divided into tasks, bands of row tiles times groups of column panels; a task runs
 * over blocks of k, in each over its panels, in each over its tiles. Blocking over k stores and
 * reloads the running value, so none of this is part of the result.
 *
 * From here on a matrix is packed before it is used: smaller ones lie well where they are. In
 * floats, 1.5 MB: what does not stay in the second-level cache. */
#define LARGE ((size_t)400000)

/* What packing costs must come back: columns per row packed as it lies, which means transposing it,
 * and per row that is already transposed; tiles per panel, where each thread packs its own, and of
 * pairs, whose A is always packed. */
#define PANELS_PER_ROW 32
#define PANELS_PER_COLUMN 6
#define TILES_PER_PANEL 24
#define TILES_PER_BAND 12
#define PAIR_TILES_PER_BAND 4

/* Multiply-adds that do not all find their operands in the cache: the next ones are fetched. */
#define WORTH_FETCHING ((size_t)32 << 20)

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
    bool pack_a, pack_b, fetch;
    size_t tiles, panels; /* of C: rows are spread over tiles evenly */
    size_t bands, groups; /* of tiles, of panels: the tasks */
    size_t depth;         /* words of a block of k; the last has fewer */
} product;

/* What one task computes: tiles t0 .. t1, panels j0 .. j1. B is packed a panel ahead. */
typedef struct part {
    size_t t0, t1, j0, j1;
    float *packed_a, *packed_b, *next_b;
} part;

/* Words k0 .. k0 + words of a panel of B. */
typedef struct block {
    size_t panel, k0, words;
} block;

static size_t first_row(const product *p, size_t tile) {
    return tile * (p->m / p->tiles) + vit_min(tile, p->m % p->tiles);
}

/* ---- packing and fetching ---- */

static float *packed_tile(const product *p, const part *w, size_t tile) {
    return w->packed_a + (tile - w->t0) * VIT_PACKED_TILE(p->exec->kernels->tile_rows);
}

/* Numbers of words k0 .. k0 + words: the last pair may lack one. */
static size_t numbers_in(const product *p, size_t k0, size_t words) {
    return vit_min(words * p->numbers, p->numbers_of_k - k0 * p->numbers);
}

static void fetch(const float *from, size_t rows, size_t row) {
    for (; rows > 0; rows--, from += row) __builtin_prefetch(from);
}

/* Words k0 .. k0 + words of a tile of A, to where the tile's word k0 belongs. */
static void pack_tile(const product *p, float *to, size_t tile, size_t k0, size_t words) {
    const size_t tile_rows = p->exec->kernels->tile_rows, numbers = numbers_in(p, k0, words);
    const size_t i = first_row(p, tile), rows = first_row(p, tile + 1) - i;
    const float *from = p->a.data + i * p->a.row + k0 * p->numbers * p->a.col;
    if (p->a.row != 1) {
        p->inner->transpose(to, tile_rows, from, p->a.row, rows, numbers);
        return;
    }
    if (k0 + words < p->k)
        fetch(from + numbers * p->a.col, numbers_in(p, k0 + words, words), p->a.col);
    p->inner->copy_rows(to, tile_rows, from, p->a.col, numbers, rows);
}

/* Of A transposed, 16 rows of all tiles at a time, so that a cache line is used up while it is
 * there, and the rows after them are fetched. */
static void pack_left(const product *p, const part *w, size_t k0, size_t words) {
    const size_t step = p->a.row == 1 ? 16 : words;
    for (size_t q = 0; q < words; q += step) {
        for (size_t t = w->t0; t < w->t1; t++)
            pack_tile(p, packed_tile(p, w, t) + q * p->exec->kernels->tile_rows, t, k0 + q,
                      vit_min(step, words - q));
    }
}

/* Rows of B that `words` steps are made of. */
static size_t rows_of_b(const product *p, size_t words) {
    return p->b.packed ? words : words * p->numbers;
}

static const float *first_of_b(const product *p, block b) {
    return p->b.data + b.panel * p->b.panel + rows_of_b(p, b.k0) * p->b.row;
}

static void pack_right(const product *p, float *to, block b) {
    const size_t width = vit_min(VIT_PANEL, p->n - b.panel * VIT_PANEL);
    p->inner->copy_rows(to, VIT_PANEL, first_of_b(p, b), p->b.row, numbers_in(p, b.k0, b.words),
                        width);
}

/* The panel after this one; after the last the first, of the next words. */
static block block_after(const product *p, const part *w, block b) {
    if (b.panel + 1 < w->j1) return (block){b.panel + 1, b.k0, b.words};
    const size_t k0 = b.k0 + b.words;
    return (block){w->j0, k0, vit_min(p->depth, p->k - k0)};
}

/* What is wanted after tile t of a panel: the C of the tile below, and `coming` of B. */
static void look_ahead(vit_ahead ahead[2], const product *p, const part *w, size_t t, block now,
                       block coming) {
    const size_t i = first_row(p, t + 1);
    ahead[0] = (vit_ahead){NULL, 0, 0};
    ahead[1] = (vit_ahead){first_of_b(p, coming), p->b.row, rows_of_b(p, coming.words)};
    if (t + 1 < w->t1)
        ahead[0] = (vit_ahead){p->c + i * p->c_row + now.panel * VIT_PANEL, p->c_row,
                               first_row(p, t + 2) - i};
}

/* ---- computing ---- */

static void compute_tile(const product *p, const part *w, size_t t, block now, block coming) {
    const size_t tile_rows = p->exec->kernels->tile_rows, tile_cols = p->exec->kernels->tile_cols;
    const size_t i = first_row(p, t), rows = first_row(p, t + 1) - i;
    const size_t end = vit_min((now.panel + 1) * VIT_PANEL, p->n);
    const bool last = now.k0 + now.words == p->k;
    vit_epilogue e = last ? p->epilogue : vit_epilogue_none();
    vit_ahead ahead[2];
    vit_left a = {p->a.data + i * p->a.row + now.k0 * p->a.col, p->a.row, p->a.col};
    const float *b = p->pack_b ? w->packed_b : first_of_b(p, now);
    const size_t b_row = p->pack_b ? VIT_PANEL : p->b.row;
    e.accumulate = p->epilogue.accumulate || now.k0 > 0;
    if (p->pack_a) a = (vit_left){packed_tile(p, w, t), 1, tile_rows};
    if (p->fetch) look_ahead(ahead, p, w, t, now, coming);
    for (size_t j = now.panel * VIT_PANEL; j < end; j += tile_cols, b += tile_cols) {
        if (e.bias) e.bias = p->epilogue.bias + j;
        if (e.residual) e.residual = p->epilogue.residual + i * e.residual_row + j;
        p->inner->gemm_tile(p->c + i * p->c_row + j, p->c_row, rows, vit_min(tile_cols, end - j),
                            now.words, a.data, a.row, a.col, b, b_row, &e, p->fetch ? ahead : NULL);
    }
}

/* Every tile of the panel, and after each its share of packing the next panel, whose rows were
 * fetched while the tile was computed. */
static void compute_panel(const product *p, part *w, block now) {
    const block next = block_after(p, w, now);
    const size_t share = vit_ceil_div(next.words, w->t1 - w->t0);
    size_t done = 0;
    for (size_t t = w->t0; t < w->t1; t++) {
        const block coming = {next.panel, next.k0 + done, vit_min(share, next.words - done)};
        compute_tile(p, w, t, now, coming);
        if (p->pack_b) pack_right(p, w->next_b + done * VIT_PANEL, coming);
        done += coming.words;
    }
    float *packed = w->next_b;
    w->next_b = w->packed_b;
    w->packed_b = packed;
}

static void part_task(size_t index, int thread, void *context) {
    const product *p = context;
    const size_t band = index / p->groups, group = index % p->groups;
    float *room = p->exec->room ? p->exec->room + (size_t)thread * VIT_GEMM_ROOM : NULL;
    part w = {.t0 = band * p->tiles / p->bands,
              .t1 = (band + 1) * p->tiles / p->bands,
              .j0 = group * p->panels / p->groups,
              .j1 = (group + 1) * p->panels / p->groups,
              .packed_a = room ? room + 2 * VIT_PACKED_PANEL : NULL,
              .packed_b = room,
              .next_b = room ? room + VIT_PACKED_PANEL : NULL};
    if (p->pack_b) pack_right(p, w.packed_b, (block){w.j0, 0, vit_min(p->depth, p->k)});
    size_t k0 = 0;
    do {
        const size_t words = vit_min(p->depth, p->k - k0);
        if (p->pack_a) pack_left(p, &w, k0, words);
        for (size_t j = w.j0; j < w.j1; j++) compute_panel(p, &w, (block){j, k0, words});
        k0 += words;
    } while (k0 < p->k);
}

/* Blocks of k of about the same depth, whole vectors of A: a shallow one would read and write C as
 * often as a deep one. */
static size_t block_depth(size_t k) {
    if (k <= VIT_K_BLOCK) return k;
    return vit_ceil_div(vit_ceil_div(k, vit_ceil_div(k, VIT_K_BLOCK)), 16) * 16;
}

/* Whether a band a thread costs less than groups: these pack A again, bands pack B again. */
static bool wants_bands(const product *p, size_t threads) {
    if (p->pack_b) return p->tiles >= threads * TILES_PER_BAND;
    return p->numbers > 1 && p->tiles >= threads * PAIR_TILES_PER_BAND;
}

/* So many tasks that the threads end at about the same time: bands whose packed A stays in the
 * second-level cache, and groups of panels. */
static void divide(product *p, size_t threads) {
    const size_t rows = p->exec->kernels->tile_rows;
    p->bands = vit_ceil_div(p->tiles, VIT_M_BLOCK / rows);
    if (p->bands < threads && wants_bands(p, threads)) p->bands = threads;
    if (p->bands > 1) p->bands = vit_ceil_div(p->bands, threads) * threads;
    size_t wanted = 8 * threads, most = p->panels;
    if (p->pack_a) wanted = 2 * threads, most = vit_ceil_div(p->panels, PANELS_PER_COLUMN);
    if (threads == 1 || (p->pack_a && p->bands > 1)) wanted = 1;
    p->groups = vit_min(vit_ceil_div(wanted, p->bands), most);
}

static const vit_product_kernels *product_kernels(const vit_exec *exec) {
    const vit_kernels *kernels = exec->kernels;
    return exec->precision == VIT_PRECISION_BF16 ? kernels->pairs : &kernels->floats;
}

/* Floats are packed where that comes back. */
static void choose_packing(product *p) {
    const size_t least = p->a.row == 1 ? PANELS_PER_COLUMN : PANELS_PER_ROW;
    p->fetch = p->m * p->n * p->k > WORTH_FETCHING;
    p->pack_a = p->numbers > 1 || (p->exec->room && p->m * p->k > LARGE && p->panels >= least);
    p->pack_b =
        !p->b.packed &&
        (p->numbers > 1 || (p->exec->room && p->n * p->k > LARGE && p->tiles >= TILES_PER_PANEL));
}

void vit_gemm(const vit_exec *exec, float *c, size_t c_row, size_t m, size_t n, size_t k,
              vit_left a, vit_right b, const vit_epilogue *epilogue) {
    const vit_kernels *kernels = exec->kernels;
    product p = {.exec = exec,
                 .inner = product_kernels(exec),
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
                 .depth = block_depth(vit_words(exec->precision, k))};
    if (m == 0 || n == 0) return;
    const int threads = vit_exec_threads(exec, m * n * p.k);
    choose_packing(&p);
    divide(&p, (size_t)threads);
    vit_parallel(threads, p.bands * p.groups, part_task, &p);
}

/* ---- weights ---- */

size_t vit_packed_size(size_t n, size_t k) {
    return vit_ceil_div(n, VIT_PANEL) * VIT_PANEL * vit_ceil_div(k, 2) * 2;
}

void vit_pack_transposed(const vit_exec *exec, float *packed, const float *w, size_t n, size_t k,
                         size_t row) {
    const vit_product_kernels *inner = product_kernels(exec);
    const size_t panel = VIT_PANEL * vit_words(exec->precision, k);
    for (size_t j = 0; j < n; j += VIT_PANEL, packed += panel) {
        const size_t width = vit_min(VIT_PANEL, n - j);
        if (width < VIT_PANEL) memset(packed, 0, panel * sizeof *packed);
        inner->transpose(packed, VIT_PANEL, w + j * row, row, width, k);
    }
}
