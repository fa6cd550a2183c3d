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
 * and per row that is already transposed; tiles per panel. */
#define PANELS_PER_ROW 32
#define PANELS_PER_COLUMN 6
#define TILES_PER_PANEL 24

/* Multiply-adds that do not all find their operands in the cache: the next ones are fetched. */
#define WORTH_FETCHING ((size_t)32 << 20)

/* k counts words of 32 bits: floats, or pairs of bfloat16, which are always packed. */
typedef struct product {
    const vit_exec *exec;
    vit_pair_kernels inner; /* tile and packing, of floats or pairs */
    size_t numbers;         /* of a word */
    float *c;
    size_t c_row, m, n, k, numbers_of_k;
    vit_left a;
    vit_right b;
    vit_epilogue epilogue;
    bool pack_a, pack_b, fetch;
    size_t tiles, panels; /* of C: rows are spread over tiles evenly */
    size_t bands, groups; /* of tiles, of panels: the tasks */
} product;

/* What one task computes: tiles t0 .. t1, panels j0 .. j1. */
typedef struct part {
    size_t t0, t1, j0, j1;
    float *packed_a, *packed_b;
} part;

/* Words k0 .. k0 + depth of the chains. */
typedef struct stretch {
    size_t k0, depth;
} stretch;

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

/* Of A transposed, 16 rows of all tiles at a time, so that a cache line is used up while it is
 * there. */
static void pack_left(const product *p, const part *w, stretch s) {
    const size_t tile_rows = p->exec->kernels->tile_rows;
    const bool transposed = p->a.row == 1;
    const size_t step = transposed ? 16 : s.depth;
    for (size_t q = 0; q < s.depth; q += step) {
        const size_t k0 = s.k0 + q, numbers = numbers_in(p, k0, vit_min(step, s.depth - q));
        for (size_t t = w->t0; t < w->t1; t++) {
            const size_t i = first_row(p, t), rows = first_row(p, t + 1) - i;
            const float *from = p->a.data + i * p->a.row + k0 * p->numbers * p->a.col;
            float *to = packed_tile(p, w, t) + q * tile_rows;
            if (transposed)
                p->inner.copy_rows(to, tile_rows, from, p->a.col, numbers, rows);
            else
                p->inner.transpose(to, tile_rows, from, p->a.row, rows, numbers);
        }
    }
}

/* Rows of B that `words` steps are made of. */
static size_t rows_of_b(const product *p, size_t words) {
    return p->b.packed ? words : words * p->numbers;
}

static const float *panel_of_b(const product *p, size_t panel, size_t k0) {
    return p->b.data + panel * p->b.panel + rows_of_b(p, k0) * p->b.row;
}

/* Rows of VIT_PANEL floats into the cache. */
static void fetch(const float *from, size_t rows, size_t row) {
    for (; rows > 0; rows--, from += row) {
        __builtin_prefetch(from);
        __builtin_prefetch(from + 16);
    }
}

/* Before tile t of a panel: the C of the tile after it, and a share of the next panel. */
static void fetch_next(const product *p, const part *w, size_t t, size_t panel, stretch s) {
    const size_t next = panel + 1 < w->j1 ? panel + 1 : w->j0;
    const size_t k0 = next > panel ? s.k0 : s.k0 + s.depth;
    const size_t depth = vit_min(VIT_K_BLOCK, p->k - k0),
                 share = vit_ceil_div(depth, w->t1 - w->t0);
    const size_t done = vit_min((t - w->t0) * share, depth), i = first_row(p, t + 1);
    fetch(panel_of_b(p, next, k0 + done), rows_of_b(p, vit_min(share, depth - done)), p->b.row);
    if (t + 1 < w->t1)
        fetch(p->c + i * p->c_row + panel * VIT_PANEL, first_row(p, t + 2) - i, p->c_row);
}

/* ---- computing ---- */

/* Tile t of a panel whose B is at b. */
static void compute_tile(const product *p, const part *w, size_t t, size_t panel, stretch s,
                         const float *b, size_t b_row) {
    const vit_kernels *kernels = p->exec->kernels;
    const size_t i = first_row(p, t), rows = first_row(p, t + 1) - i;
    const size_t end = vit_min((panel + 1) * VIT_PANEL, p->n);
    const bool last = s.k0 + s.depth == p->k;
    vit_epilogue e = last ? p->epilogue : vit_epilogue_none();
    e.accumulate = p->epilogue.accumulate || s.k0 > 0;
    vit_left a = {p->a.data + i * p->a.row + s.k0 * p->a.col, p->a.row, p->a.col};
    if (p->pack_a) a = (vit_left){packed_tile(p, w, t), 1, kernels->tile_rows};
    for (size_t j = panel * VIT_PANEL; j < end; j += kernels->tile_cols, b += kernels->tile_cols) {
        if (e.bias) e.bias = p->epilogue.bias + j;
        if (e.residual) e.residual = p->epilogue.residual + i * e.residual_row + j;
        p->inner.gemm_tile(p->c + i * p->c_row + j, p->c_row, rows,
                           vit_min(kernels->tile_cols, end - j), s.depth, a.data, a.row, a.col, b,
                           b_row, &e);
    }
}

static void compute_panel(const product *p, const part *w, size_t panel, stretch s) {
    const float *b = panel_of_b(p, panel, s.k0);
    size_t b_row = p->b.row;
    if (p->pack_b) {
        const size_t width = vit_min(VIT_PANEL, p->n - panel * VIT_PANEL);
        p->inner.copy_rows(w->packed_b, VIT_PANEL, b, b_row, numbers_in(p, s.k0, s.depth), width);
        b = w->packed_b;
        b_row = VIT_PANEL;
    }
    for (size_t t = w->t0; t < w->t1; t++) {
        if (p->fetch) fetch_next(p, w, t, panel, s);
        compute_tile(p, w, t, panel, s, b, b_row);
    }
}

static void part_task(size_t index, int thread, void *context) {
    const product *p = context;
    const size_t band = index / p->groups, group = index % p->groups;
    float *room = p->exec->room ? p->exec->room + (size_t)thread * VIT_GEMM_ROOM : NULL;
    const part w = {.t0 = band * p->tiles / p->bands,
                    .t1 = (band + 1) * p->tiles / p->bands,
                    .j0 = group * p->panels / p->groups,
                    .j1 = (group + 1) * p->panels / p->groups,
                    .packed_a = room ? room + VIT_PACKED_PANEL : NULL,
                    .packed_b = room};
    stretch s = {0, 0};
    do {
        s.depth = vit_min(VIT_K_BLOCK, p->k - s.k0);
        if (p->pack_a) pack_left(p, &w, s);
        for (size_t j = w.j0; j < w.j1; j++) compute_panel(p, &w, j, s);
        s.k0 += s.depth;
    } while (s.k0 < p->k);
}

/* So many tasks that the threads end at about the same time: bands whose packed A stays in the
 * second-level cache, and groups of panels, which cost packing A again. */
static void divide(product *p, size_t threads) {
    const size_t rows = p->exec->kernels->tile_rows;
    const size_t wanted = threads == 1 ? 1 : p->pack_a ? 2 * threads : 8 * threads;
    const size_t most = p->pack_a ? vit_ceil_div(p->panels, PANELS_PER_COLUMN) : p->panels;
    p->bands = vit_ceil_div(p->tiles, VIT_M_BLOCK / rows);
    if (p->bands > 1) p->bands = vit_ceil_div(p->bands, threads) * threads;
    p->groups = vit_min(vit_ceil_div(wanted, p->bands), most);
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
    const bool pairs = exec->precision == VIT_PRECISION_BF16;
    product p = {.exec = exec,
                 .inner = {kernels->gemm_tile, kernels->transpose, kernels->copy_rows},
                 .numbers = pairs ? 2 : 1,
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
                 .panels = vit_ceil_div(n, VIT_PANEL)};
    if (pairs) p.inner = *kernels->pairs;
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
    const bool pairs = exec->precision == VIT_PRECISION_BF16;
    const size_t panel = VIT_PANEL * vit_words(exec->precision, k);
    for (size_t j = 0; j < n; j += VIT_PANEL, packed += panel) {
        const size_t width = vit_min(VIT_PANEL, n - j);
        if (width < VIT_PANEL) memset(packed, 0, panel * sizeof *packed);
        (pairs ? exec->kernels->pairs->transpose
               : exec->kernels->transpose)(packed, VIT_PANEL, w + j * row, row, width, k);
    }
}
