/* Packing copies operands into the order in which tiles read them: the weights of a layer into
 * panels, before any product; parts of A and B into the thread's room, during a product. */
#include "vit/ops/gemm/product.h"
#include <string.h>

/* Rows of A transposed, as stored, that are packed at once for all tiles, while as many more are
 * prefetched. Rows a multiple of 4 KiB apart compete for the same few sets of the first-level
 * cache, so there must be few of them. */
#define STRIP 8

/* ---- weights ---- */

static uint32_t bits_of_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 16;
}

/* Exponents of float16 are less by 112; its denormal numbers become such of float, too. */
static uint32_t bits_of_f16(float x) {
    uint32_t bits;
    x *= 0x1p-112f;
    memcpy(&bits, &x, sizeof bits);
    return (bits >> 16 & 0x8000) | (bits >> 13 & 0x7fff);
}

/* Two rows of a panel become one of words. */
#define NARROW(name, bits_of)                                                        \
    static void name(float *to, const float *from, size_t panel) {                   \
        for (size_t j = 0; j < panel; j++) {                                         \
            const uint32_t word = bits_of(from[j]) | bits_of(from[panel + j]) << 16; \
            memcpy(to + j, &word, sizeof word);                                      \
        }                                                                            \
    }

NARROW(narrow_bf16, bits_of_bf16)
NARROW(narrow_f16, bits_of_f16)

/* Numbers in a word, what makes words of floats that are such numbers (NULL: they are floats), of
 * two rows or of one number, and whether the rows of W stay as they are. */
static const struct {
    size_t numbers;
    void (*narrow)(float *to, const float *from, size_t panel);
    uint32_t (*bits)(float x);
    bool in_rows;
} stores[] = {
    [VIT_STORED_FLOATS] = {1, NULL, NULL, false},
    [VIT_STORED_BF16] = {2, narrow_bf16, bits_of_bf16, false},
    [VIT_STORED_F16] = {2, narrow_f16, bits_of_f16, false},
    [VIT_STORED_ROWS] = {1, NULL, NULL, true},
    [VIT_STORED_ROWS_BF16] = {2, narrow_bf16, bits_of_bf16, true},
    [VIT_STORED_ROWS_F16] = {2, narrow_f16, bits_of_f16, true},
};
VIT_CHECK_ROWS(stores, VIT_STORED_COUNT);

size_t vit_stored_words(vit_stored stored, size_t k) {
    return vit_ceil_div(k, stores[stored].numbers);
}

bool vit_stored_is_made(vit_stored stored) {
    return stores[stored].narrow || stores[stored].in_rows;
}

vit_operand_b vit_b_stored(const float *data, vit_stored stored, size_t k) {
    const bool in_rows = stores[stored].in_rows;
    const size_t panel = vit_panel();
    return (vit_operand_b){.data = data,
                           .row = in_rows ? 1 : panel,
                           .column = in_rows ? vit_stored_words(stored, k) : 1,
                           .panel = panel * vit_stored_words(stored, k),
                           .packed = true,
                           .stored = stored};
}

size_t vit_packed_size(size_t n, size_t k) {
    return vit_ceil_div(n, vit_panel()) * vit_panel() * vit_whole_words(k);
}

void vit_pack_transposed(const vit_exec *exec, float *packed, const float *w, size_t n, size_t k,
                         size_t row) {
    const vit_product_kernels *inner = vit_products_of(exec);
    const size_t panel = vit_panel(), words = panel * vit_words(exec->precision, k);
    for (size_t j = 0; j < n; j += panel, packed += words) {
        const size_t width = vit_min(panel, n - j);
        if (width < panel) memset(packed, 0, words * sizeof *packed);
        inner->transpose(packed, panel, w + j * row, row, width, k);
    }
}

/* Rows of a panel that are packed as floats first. */
#define STORED_ROWS ((size_t)64)

/* The rows of W as they are, in halves too. */
static void copy_rows(float *to, const float *w, vit_stored stored, size_t n, size_t k,
                      size_t row) {
    uint32_t (*bits)(float) = stores[stored].bits;
    for (size_t j = 0; j < n; j++, w += row) {
        for (size_t q = 0; bits && q < k / 2; q++) {
            const uint32_t word = bits(w[2 * q]) | bits(w[2 * q + 1]) << 16;
            memcpy(to + q, &word, sizeof word);
        }
        if (!bits) memcpy(to, w, k * sizeof *to);
        to += vit_stored_words(stored, k);
    }
}

void vit_pack_stored(const vit_exec *exec, float *packed, const float *w, vit_stored stored,
                     size_t n, size_t k, size_t row) {
    float strip[STORED_ROWS * VIT_MOST_PANEL];
    const size_t panel = vit_panel();
    if (stores[stored].in_rows) {
        copy_rows(packed, w, stored, n, k, row);
        return;
    }
    if (!stores[stored].narrow) {
        vit_pack_transposed(exec, packed, w, n, k, row);
        return;
    }
    for (size_t j = 0; j < n; j += panel)
        for (size_t p = 0; p < k; p += STORED_ROWS) {
            const size_t rows = vit_min(STORED_ROWS, k - p);
            memset(strip, 0, sizeof strip);
            vit_products_of(exec)->transpose(strip, panel, w + j * row + p, row,
                                             vit_min(panel, n - j), rows);
            for (size_t i = 0; i < vit_ceil_div(rows, 2); i++, packed += panel)
                stores[stored].narrow(packed, strip + 2 * i * panel, panel);
        }
}

/* Rows of a panel from the rows of W; halves are transposed as words, which makes them what packed
 * ones are. */
static void turn_rows(const vit_kernels *kernels, float *to, const vit_operand_b *b,
                      const float *from, size_t width, size_t rows) {
    const vit_product_kernels *words = kernels->products[VIT_PRECISION_F32];
    const size_t panel = vit_panel();
    float strip[STORED_ROWS / 2 * VIT_MOST_PANEL];
    if (!kernels->widen[b->stored]) {
        if (width < panel) memset(to, 0, rows * panel * sizeof *to);
        words->transpose(to, panel, from, b->column, width, rows);
        return;
    }
    if (width < panel) memset(strip, 0, sizeof strip);
    for (size_t p = 0; p < rows; p += STORED_ROWS) {
        const size_t part = vit_min(STORED_ROWS, rows - p);
        words->transpose(strip, panel, from + p / 2, b->column, width, vit_ceil_div(part, 2));
        kernels->widen[b->stored](to + p * panel, strip, part, panel);
    }
}

/* Rows of a panel as floats, from where they are stored. */
static void make_rows(const vit_kernels *kernels, float *to, const vit_operand_b *b,
                      const float *from, size_t width, size_t rows) {
    if (stores[b->stored].in_rows)
        turn_rows(kernels, to, b, from, width, rows);
    else if (kernels->widen[b->stored])
        kernels->widen[b->stored](to, from, rows, vit_panel());
    else
        memcpy(to, from, rows * vit_panel() * sizeof *to);
}

void vit_read_panel(const vit_kernels *kernels, float *to, const vit_operand_b *b, size_t n,
                    size_t panel, size_t first, size_t rows) {
    make_rows(kernels, to, b,
              b->data + panel * b->panel + vit_stored_words(b->stored, first) * b->row,
              vit_min(vit_panel(), n - panel * vit_panel()), rows);
}

void vit_pack_rows(const vit_exec *exec, float *packed, const float *w, size_t n, size_t k,
                   size_t row) {
    const vit_product_kernels *inner = vit_products_of(exec);
    const size_t panel = vit_panel(), words = panel * vit_words(exec->precision, k);
    for (size_t j = 0; j < n; j += panel, packed += words)
        inner->copy_across(packed, panel, w + j, row, k, vit_min(panel, n - j));
}

void vit_pack_rounded(const vit_exec *exec, float *packed, const float *floats, size_t n,
                      size_t k) {
    const vit_product_kernels *inner = vit_products_of(exec);
    const size_t panel = vit_panel(), words = panel * vit_words(exec->precision, k);
    for (size_t j = 0; j < n; j += panel, packed += words, floats += panel * k)
        inner->copy_across(packed, panel, floats, panel, k, panel);
}

void vit_unpack_transposed(const vit_kernels *kernels, float *w, const float *packed,
                           vit_stored stored, size_t n, size_t k) {
    float strip[STORED_ROWS * VIT_MOST_PANEL];
    const size_t panel = vit_panel();
    const vit_operand_b b = vit_b_stored(packed, stored, k);
    for (size_t j = 0; j < n; j += panel)
        for (size_t p = 0; p < k; p += STORED_ROWS) {
            const size_t rows = vit_min(STORED_ROWS, k - p);
            vit_read_panel(kernels, strip, &b, n, j / panel, p, rows);
            for (size_t i = 0; i < vit_min(panel, n - j); i++)
                for (size_t q = 0; q < rows; q++) w[(j + i) * k + p + q] = strip[q * panel + i];
        }
}

/* ---- A ---- */

void vit_pack_rows_of_a(const vit_gemm_product *p, float *to, const vit_gemm_stage *s,
                        vit_range rows) {
    const size_t row = p->plan.packed_row, first = vit_first_row(p, s->tiles.first) + rows.first;
    p->inner->copy_along(to + rows.first * row, row, vit_row_of_a(p, s, first), p->a.row,
                         vit_length(rows), vit_numbers_in(p, s->k0, s->words));
}

/* Prefetches the first cache line of each row. */
static void fetch(const float *from, size_t rows, size_t row) {
    for (; rows > 0; rows--, from += row) __builtin_prefetch(from);
}

/* A stored as [m][k], row by row. Nothing is computed meanwhile, so the row after the next is
 * prefetched, in cache lines of 16 floats. */
static void pack_as_it_lies(const vit_gemm_product *p, float *to, const vit_gemm_stage *s) {
    const size_t first = vit_first_row(p, s->tiles.first), ahead = 2;
    const size_t rows = vit_first_row(p, s->tiles.end) - first;
    const size_t lines = vit_numbers_in(p, s->k0, s->words) / 16;
    for (size_t r = 0; r < rows; r++) {
        if (r + ahead < rows) fetch(vit_row_of_a(p, s, first + r + ahead), lines, 16);
        vit_pack_rows_of_a(p, to, s, (vit_range){r, r + 1});
    }
}

/* Words q .. q + words - 1 of a tile of A transposed; as many after them are prefetched. */
static void pack_strip(const vit_gemm_product *p, float *to, const vit_gemm_stage *s, size_t tile,
                       size_t q, size_t words) {
    const size_t tile_rows = vit_tile_of(p->exec)->rows, after = s->k0 + q + words;
    const size_t i = vit_first_row(p, tile), numbers = vit_numbers_in(p, s->k0 + q, words);
    const float *from = vit_row_of_a(p, s, i) + q * p->plan.numbers * p->a.col;
    if (after < p->plan.words)
        fetch(from + numbers * p->a.col, vit_numbers_in(p, after, words), p->a.col);
    p->inner->copy_across(to + q * tile_rows, tile_rows, from, p->a.col, numbers,
                          vit_first_row(p, tile + 1) - i);
}

/* A stored as [k][m]: one strip of all tiles, then the next, so that a cache line is used up while
 * it is in the cache. */
static void pack_transposed(const vit_gemm_product *p, float *to, const vit_gemm_stage *s) {
    const size_t step = STRIP / p->plan.numbers;
    for (size_t q = 0; q < s->words; q += step)
        for (size_t t = s->tiles.first; t < s->tiles.end; t++)
            pack_strip(p, to + (t - s->tiles.first) * p->plan.packed_tile, s, t, q,
                       vit_min(step, s->words - q));
}

/* The same for kernels that read rows of A. */
static void turn_all(const vit_gemm_product *p, float *to, const vit_gemm_stage *s) {
    const size_t first = vit_first_row(p, s->tiles.first), step = 16;
    const size_t rows = vit_first_row(p, s->tiles.end) - first;
    for (size_t q = 0; q < s->words; q += step) {
        const float *from = vit_row_of_a(p, s, first) + q * p->plan.numbers * p->a.col;
        p->inner->turn(to + q, p->plan.packed_row, from, p->a.col,
                       vit_numbers_in(p, s->k0 + q, vit_min(step, s->words - q)), rows);
    }
}

void vit_pack_a(const vit_gemm_product *p, float *to, const vit_gemm_stage *s) {
    if (vit_is_transposed(p) && p->inner->turn)
        turn_all(p, to, s);
    else if (vit_is_transposed(p))
        pack_transposed(p, to, s);
    else
        pack_as_it_lies(p, to, s);
}

/* ---- B ---- */

void vit_pack_b(const vit_gemm_product *p, float *to, vit_panel_part b) {
    const size_t width = vit_min(p->panel, p->n - b.panel * p->panel);
    if (b.words == 0) return;
    if (vit_stored_is_made(p->b.stored))
        make_rows(p->exec->kernels, to, &p->b, vit_first_of_b(p, b), width, b.words);
    else
        p->inner->copy_across(to, p->panel, vit_first_of_b(p, b), p->b.row,
                              vit_numbers_in(p, b.k0, b.words), width);
}
