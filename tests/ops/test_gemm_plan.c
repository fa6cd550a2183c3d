/* How the network's matrix products are cut up: which operand stays in the cache, what is packed,
 * in which blocks of k. A change of a constant in plan.c shows here, product by product. */
#include "tests/support/unit.h"
#include "vit/base/size.h"
#include "vit/ops/gemm/plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT, FORMS };

/* Sets: floats on AVX2, tiles of 6 x 16 and blocks of 256; on AVX-512, of 12 x 32 and 512; pairs of
 * bfloat16, whose W is packed for dx, too, on AVX-512. */
enum { AVX2, AVX512, PAIRS, SETS };

#define LAYERS 5
#define MIB ((size_t)256 << 10) /* of floats */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A linear layer, y = x W^T: rows of x of one picture. plans[i][j][k]: instruction set i, one
 * picture or eight, product k; "B" or "A" stays, "a", "b" are packed by the thread; words of a
 * block of k times blocks; bands. */
typedef struct layer {
    const char *name;
    size_t rows, in, out;
    const char *plans[SETS][2][FORMS];
} layer;

static const layer mnist[LAYERS] = {
    {"mnist patch",
     16,
     49,
     64,
     {{{"A 49x1 1", "A 64x1 1", "A 16x1 1"}, {"A 49x1 2", "A 64x1 2", "A 128x1 1"}},
      {{"A 49x1 1", "A 64x1 1", "A 16x1 1"}, {"A 49x1 1", "A 64x1 1", "A 128x1 1"}},
      {{"Aa 25x1 1", "Aa 32x1 1", "Aab 8x1 1"}, {"Aa 25x1 1", "Aa 32x1 1", "Aab 64x1 1"}}}},
    {"mnist qkv",
     17,
     64,
     192,
     {{{"A 64x1 1", "A 192x1 1", "A 17x1 2"}, {"A 64x1 2", "A 192x1 2", "A 136x1 2"}},
      {{"A 64x1 1", "A 192x1 1", "B 17x1 1"}, {"A 64x1 1", "B 192x1 1", "B 136x1 1"}},
      {{"Aa 32x1 1", "Aa 96x1 1", "Aab 9x1 1"}, {"Aa 32x1 1", "Aa 96x1 1", "Aab 68x1 1"}}}},
    {"mnist proj",
     17,
     64,
     64,
     {{{"A 64x1 1", "A 64x1 1", "A 17x1 1"}, {"A 64x1 2", "A 64x1 2", "A 136x1 1"}},
      {{"A 64x1 1", "A 64x1 1", "A 17x1 1"}, {"A 64x1 1", "B 64x1 1", "A 136x1 1"}},
      {{"Aa 32x1 1", "Aa 32x1 1", "Aab 9x1 1"}, {"Aa 32x1 1", "Aa 32x1 1", "Aab 68x1 1"}}}},
    {"mnist fc1",
     17,
     64,
     128,
     {{{"A 64x1 1", "A 128x1 1", "A 17x1 2"}, {"A 64x1 2", "A 128x1 2", "A 136x1 2"}},
      {{"A 64x1 1", "A 128x1 1", "A 17x1 1"}, {"A 64x1 1", "B 128x1 1", "A 136x1 1"}},
      {{"Aa 32x1 1", "Aa 64x1 1", "Aab 9x1 1"}, {"Aa 32x1 1", "Aa 64x1 1", "Aab 68x1 1"}}}},
    {"mnist fc2",
     17,
     128,
     64,
     {{{"A 128x1 1", "A 64x1 1", "A 17x1 1"}, {"A 128x1 2", "A 64x1 2", "A 136x1 1"}},
      {{"A 128x1 1", "A 64x1 1", "A 17x1 1"}, {"A 128x1 1", "B 64x1 1", "A 136x1 1"}},
      {{"Aa 64x1 1", "Aa 32x1 1", "Aab 9x1 1"}, {"Aa 64x1 1", "Aa 32x1 1", "Aab 68x1 1"}}}},
};

static const layer vit_ti[LAYERS] = {
    {"ViT-Ti patch",
     196,
     768,
     192,
     {{{"A 256x3 3", "A 192x1 3", "Aa 196x1 2"}, {"A 256x3 17", "A 192x1 17", "Aab 224x7 2"}},
      {{"A 384x2 1", "B 192x1 1", "B 196x1 1"}, {"B 384x2 1", "B 192x1 1", "B 400x4 1"}},
      {{"Aa 384x1 1", "Aa 96x1 1", "Aab 98x1 1"}, {"Ba 384x1 66", "Ba 96x1 66", "Aab 400x2 1"}}}},
    {"ViT-Ti qkv",
     197,
     192,
     576,
     {{{"A 192x1 3", "A 192x3 3", "Aa 197x1 6"}, {"A 192x1 17", "A 192x3 17", "Aa 240x7 6"}},
      {{"A 192x1 1", "B 288x2 1", "B 197x1 1"}, {"B 192x1 1", "B 288x2 1", "B 400x4 1"}},
      {{"Aa 96x1 1", "Aa 288x1 1", "Aab 99x1 2"}, {"Ba 96x1 66", "Ba 288x1 66", "Aab 400x2 2"}}}},
    {"ViT-Ti proj",
     197,
     192,
     192,
     {{{"A 192x1 3", "A 192x1 3", "Aa 197x1 2"}, {"A 192x1 17", "A 192x1 17", "Aa 240x7 2"}},
      {{"A 192x1 1", "B 192x1 1", "B 197x1 1"}, {"B 192x1 1", "B 192x1 1", "B 400x4 1"}},
      {{"Aa 96x1 1", "Aa 96x1 1", "Aab 99x1 1"}, {"Ba 96x1 66", "Ba 96x1 66", "Aab 400x2 1"}}}},
    {"ViT-Ti fc1",
     197,
     192,
     768,
     {{{"A 192x1 3", "A 256x3 3", "Aa 197x1 8"}, {"A 192x1 17", "A 256x3 17", "Aa 240x7 8"}},
      {{"A 192x1 1", "B 384x2 1", "B 197x1 1"}, {"B 192x1 1", "B 384x2 1", "B 400x4 1"}},
      {{"Aa 96x1 1", "Aa 384x1 1", "Aab 99x1 2"}, {"Ba 96x1 66", "Ba 384x1 66", "Aab 400x2 2"}}}},
    {"ViT-Ti fc2",
     197,
     768,
     192,
     {{{"A 256x3 3", "A 192x1 3", "Aa 197x1 2"}, {"A 256x3 17", "A 192x1 17", "Aab 240x7 2"}},
      {{"A 384x2 1", "B 192x1 1", "B 197x1 1"}, {"B 384x2 1", "B 192x1 1", "B 400x4 1"}},
      {{"Aa 384x1 1", "Aa 96x1 1", "Aab 99x1 1"}, {"Ba 384x1 66", "Ba 96x1 66", "Aab 400x2 1"}}}},
};

static const layer vit_s[LAYERS] = {
    {"ViT-S patch",
     196,
     768,
     384,
     {{{"A 256x3 3", "A 192x2 3", "Aa 196x1 4"}, {"A 256x3 17", "A 192x2 17", "Aab 224x7 4"}},
      {{"A 384x2 1", "B 384x1 1", "B 196x1 1"}, {"B 384x2 1", "B 384x1 1", "B 400x4 1"}},
      {{"Aa 384x1 1", "Aa 192x1 1", "Aab 98x1 1"}, {"Ba 384x1 66", "Ba 192x1 66", "Aab 400x2 1"}}}},
    {"ViT-S qkv",
     197,
     384,
     1152,
     {{{"A 192x2 3", "Ab 240x5 3", "Aa 197x1 12"}, {"Aa 192x2 17", "Ab 240x5 17", "Aab 240x7 12"}},
      {{"A 384x1 1", "B 384x3 1", "B 197x1 1"}, {"B 384x1 1", "B 384x3 1", "Bb 400x4 1"}},
      {{"Aa 192x1 1", "Aa 288x2 1", "Aab 99x1 3"}, {"Aa 192x1 5", "Ba 288x2 66", "Aab 400x2 3"}}}},
    {"ViT-S proj",
     197,
     384,
     384,
     {{{"A 192x2 3", "A 192x2 3", "Aa 197x1 4"}, {"A 192x2 17", "A 192x2 17", "Aab 240x7 4"}},
      {{"A 384x1 1", "B 384x1 1", "B 197x1 1"}, {"B 384x1 1", "B 384x1 1", "B 400x4 1"}},
      {{"Aa 192x1 1", "Aa 192x1 1", "Aab 99x1 1"}, {"Ba 192x1 66", "Ba 192x1 66", "Aab 400x2 1"}}}},
    {"ViT-S fc1",
     197,
     384,
     1536,
     {{{"A 192x2 3", "Ab 256x6 3", "Aa 197x1 16"}, {"Aa 192x2 17", "Ab 256x6 17", "Aab 240x7 16"}},
      {{"A 384x1 1", "B 384x4 1", "B 197x1 1"}, {"B 384x1 1", "B 384x4 1", "Bb 400x4 1"}},
      {{"Aa 192x1 1", "Aa 384x2 1", "Aab 99x1 4"}, {"Aa 192x1 5", "Ba 384x2 66", "Aab 400x2 4"}}}},
    {"ViT-S fc2",
     197,
     1536,
     384,
     {{{"A 256x6 3", "Ab 192x2 3", "Aa 197x1 4"}, {"A 256x6 17", "Aab 192x2 17", "Aab 240x7 4"}},
      {{"A 512x3 1", "A 384x1 1", "A 197x1 1"}, {"B 384x4 1", "Bb 384x1 1", "Aab 400x4 1"}},
      {{"Aa 384x2 1", "Aa 192x1 1", "Aab 99x1 1"}, {"Ba 384x2 66", "Aa 192x1 5", "Aab 400x2 1"}}}},
};

static const layer vit_b[LAYERS] = {
    {"ViT-B patch",
     196,
     768,
     768,
     {{{"A 256x3 3", "Ab 256x3 3", "Aa 196x1 8"}, {"A 256x3 17", "Ab 256x3 17", "Aab 224x7 8"}},
      {{"A 384x2 1", "B 384x2 1", "B 196x1 1"}, {"B 384x2 1", "B 384x2 1", "B 400x4 1"}},
      {{"Aa 384x1 1", "Aa 384x1 1", "Aab 98x1 2"}, {"Aa 384x1 5", "Aa 384x1 5", "Aab 400x2 2"}}}},
    {"ViT-B qkv",
     197,
     768,
     2304,
     {{{"A 256x3 3", "Ab 256x9 3", "Aa 197x1 24"}, {"Aa 256x3 17", "Ab 256x9 17", "Aab 240x7 24"}},
      {{"A 384x2 1", "B 384x6 1", "B 197x1 1"}, {"B 384x2 1", "B 384x6 1", "Bb 400x4 1"}},
      {{"Aa 384x1 1", "Aa 384x3 1", "Aab 99x1 6"}, {"Aa 384x1 5", "Aa 384x3 5", "Aab 400x2 6"}}}},
    {"ViT-B proj",
     197,
     768,
     768,
     {{{"A 256x3 3", "Ab 256x3 3", "Aa 197x1 8"}, {"A 256x3 17", "Ab 256x3 17", "Aab 240x7 8"}},
      {{"A 384x2 1", "B 384x2 1", "B 197x1 1"}, {"B 384x2 1", "B 384x2 1", "B 400x4 1"}},
      {{"Aa 384x1 1", "Aa 384x1 1", "Aab 99x1 2"}, {"Aa 384x1 5", "Aa 384x1 5", "Aab 400x2 2"}}}},
    {"ViT-B fc1",
     197,
     768,
     3072,
     {{{"A 256x3 3", "Aab 256x12 3", "Aa 197x1 32"},
       {"Aa 256x3 17", "Aab 256x12 17", "Aab 240x7 32"}},
      {{"A 384x2 1", "Aa 512x6 1", "Aa 197x1 8"}, {"B 384x2 1", "Aab 512x6 5", "Aab 400x4 8"}},
      {{"Aa 384x1 1", "Aa 512x3 1", "Aab 99x1 8"}, {"Aa 384x1 5", "Aa 512x3 5", "Aab 400x2 8"}}}},
    {"ViT-B fc2",
     197,
     3072,
     768,
     {{{"Aa 256x12 3", "Ab 256x3 3", "Aab 197x1 8"},
       {"Aa 256x12 17", "Aab 256x3 17", "Aab 240x7 8"}},
      {{"Aa 512x6 1", "Ab 384x2 1", "Ab 197x1 2"}, {"Aa 512x6 5", "Bb 384x2 1", "Aab 400x4 2"}},
      {{"Aa 512x3 1", "Aa 384x1 1", "Aab 99x1 2"}, {"Aa 512x3 5", "Aa 384x1 5", "Aab 400x2 2"}}}},
};

/* Weights that stay in halves, forward: widened as a thread packs them, "b". plans[i][j][k]:
 * instruction set i, one picture or eight, one thread or two; at the end groups of panels, so that
 * no two threads widen the same weights where they need not. */
typedef struct in_halves {
    const layer *layer;
    const char *plans[2][2][2];
} in_halves;

static const in_halves halves[] = {
    {&vit_ti[0],
     {{{"Ab 256x3 1, 1", "Ab 256x3 1, 6"}, {"Ab 256x3 5, 1", "Ab 256x3 6, 3"}},
      {{"Ab 384x2 1, 1", "Ab 384x2 1, 6"}, {"Bb 384x2 1, 1", "Bb 384x2 2, 1"}}}},
    {&vit_s[1],
     {{{"Ab 192x2 1, 1", "Ab 192x2 1, 16"}, {"Aab 192x2 5, 1", "Aab 192x2 6, 1"}},
      {{"Ab 384x1 1, 1", "Ab 384x1 1, 16"}, {"Bb 384x1 1, 1", "Bb 384x1 2, 1"}}}},
    {&vit_s[4],
     {{{"Ab 256x6 1, 1", "Ab 256x6 1, 12"}, {"Ab 256x6 5, 1", "Ab 256x6 6, 3"}},
      {{"Ab 512x3 1, 1", "Ab 512x3 1, 12"}, {"Bb 384x4 1, 1", "Bb 384x4 2, 1"}}}},
    {&vit_b[1],
     {{{"Ab 256x3 1, 1", "Ab 256x3 1, 16"}, {"Aab 256x3 5, 1", "Aab 256x3 6, 1"}},
      {{"Ab 384x2 1, 1", "Ab 384x2 1, 16"}, {"Bb 384x2 1, 1", "Bb 384x2 2, 1"}}}},
    {&vit_b[4],
     {{{"Aab 256x12 1, 1", "Aab 256x12 1, 2"}, {"Aab 256x12 5, 1", "Aab 256x12 6, 1"}},
      {{"Aab 512x6 1, 1", "Aab 512x6 1, 2"}, {"Aab 512x6 5, 1", "Aab 512x6 6, 1"}}}},
};

/* ---- plans ---- */

static vit_gemm_shape shape_of(const layer *l, size_t form, size_t batch, vit_precision precision) {
    const size_t rows = l->rows * batch;
    const bool packs = precision == VIT_PRECISION_BF16;
    const vit_gemm_shape shapes[FORMS] = {
        [FORWARD] = {.m = rows, .n = l->out, .k = l->in, .a_row = l->in, .b_packed = true},
        [INPUT_GRADIENT] = {.m = rows,
                            .n = l->in,
                            .k = l->out,
                            .a_row = l->out,
                            .b_packed = packs,
                            .b_row = l->in},
        [WEIGHT_GRADIENT] = {.m = l->out,
                             .n = l->in,
                             .k = rows,
                             .a_transposed = true,
                             .a_row = l->out,
                             .b_row = l->in}};
    vit_gemm_shape shape = shapes[form];
    shape.precision = precision;
    shape.panel = 32;
    return shape;
}

/* The plan in words, without its groups. */
static const char *in_words(char text[64], const vit_gemm_plan *p) {
    snprintf(text, 64, "%s%s%s %zux%zu %zu", p->b_stays ? "B" : "A", p->pack_a ? "a" : "",
             p->pack_b ? "b" : "", p->depth, p->blocks_of_k, p->bands);
    return text;
}

static void assert_plan(const char *want, const layer *l, const vit_gemm_shape *shape,
                        const vit_tile_size *tile) {
    static const char *const products[FORMS] = {"y", "dx", "dW"};
    const vit_gemm_plan p = vit_gemm_plan_of(shape, tile, 1, MIB);
    char found[64];
    in_words(found, &p);
    const size_t form = shape->a_transposed ? WEIGHT_GRADIENT : shape->n == l->in;
    if (strcmp(found, want) != 0)
        fail_msg("%s, %s, [%zu][%zu] of %zu, tiles of %zu rows: plan %s, expected %s", l->name,
                 products[form], shape->m, shape->n, shape->k, tile->rows, found, want);
    assert_int_equal(p.groups, 1); /* of one thread */
    assert_int_equal(p.runs, p.numbers > 1 && p.b_stays ? 1 : p.bands);
}

static void assert_layers(size_t set, const vit_kernels *kernels, vit_precision precision) {
    static const layer *const models[] = {mnist, vit_ti, vit_s, vit_b};
    if (!kernels) skip();
    for (size_t i = 0; i < COUNT(models) * LAYERS * 2 * FORMS; i++) {
        const size_t form = i % FORMS, batch = i / FORMS % 2;
        const layer *l = &models[i / FORMS / 2 / LAYERS][i / FORMS / 2 % LAYERS];
        const vit_gemm_shape shape = shape_of(l, form, batch == 0 ? 1 : 8, precision);
        assert_plan(l->plans[set][batch][form], l, &shape, &kernels->tile);
    }
}

static void test_avx2(void **state) {
    assert_layers(AVX2, vit_kernels_avx2(), VIT_PRECISION_F32);
}

static void test_avx512(void **state) {
    assert_layers(AVX512, vit_kernels_avx512(), VIT_PRECISION_F32);
}

static void test_pairs(void **state) {
    assert_layers(PAIRS, vit_kernels_avx512(), VIT_PRECISION_BF16);
}

static void test_halves(void **state) {
    const vit_kernels *const kernels[] = {vit_kernels_avx2(), vit_kernels_avx512()};
    if (!kernels[0] && !kernels[1]) skip();
    for (size_t i = 0; i < COUNT(halves) * 8; i++) {
        const size_t set = i / 4 % 2, batch = i / 2 % 2, threads = i % 2;
        const in_halves *h = &halves[i / 8];
        vit_gemm_shape shape = shape_of(h->layer, FORWARD, batch == 0 ? 1 : 8, VIT_PRECISION_F32);
        shape.b_made = true;
        if (!kernels[set]) continue;
        const vit_gemm_plan p = vit_gemm_plan_of(&shape, &kernels[set]->tile, threads + 1, MIB);
        char words[64], found[96];
        snprintf(found, sizeof found, "%s, %zu", in_words(words, &p), p.groups);
        if (strcmp(found, h->plans[set][batch][threads]) != 0)
            fail_msg("%s, tiles of %zu rows, %zu threads, [%zu]: plan %s, expected %s",
                     h->layer->name, kernels[set]->tile.rows, threads + 1, shape.m, found,
                     h->plans[set][batch][threads]);
    }
}

/* Rows of A 4 KiB apart compete for the sets of a cache: A is packed, however many tiles pass by.
 */
static void test_rows_that_clash(void **state) {
    const vit_tile_size tile = {12, 32, 512, false};
    vit_gemm_shape s = {
        .m = 6304, .n = 1024, .k = 1024, .panel = 32, .a_row = 1024, .b_packed = true};
    vit_gemm_plan p = vit_gemm_plan_of(&s, &tile, 1, MIB);
    assert_true(p.pack_a && !p.b_stays);
    s.a_row = 1024 + 16;
    p = vit_gemm_plan_of(&s, &tile, 1, MIB);
    assert_true(!p.pack_a && p.b_stays);
}

/* ---- what every plan must keep to ---- */

static void assert_fits(const vit_gemm_shape *s, const vit_tile_size *tile, size_t threads,
                        size_t cache) {
    const vit_gemm_plan p = vit_gemm_plan_of(s, tile, threads, cache);
    const size_t band = vit_ceil_div(p.tiles, p.bands), rows = band * (p.height + 1);
    const size_t of_rows = vit_min(rows, band * tile->rows) * p.packed_row;
    const size_t a = s->a_transposed && !tile->fixed ? band * p.packed_tile : of_rows;
    const size_t band_fits = vit_max(vit_min(cache, MIB) / 4 * 3, tile->rows * p.packed_row);
    assert_true(p.height + (p.higher > 0) <= tile->rows);
    if (tile->fixed)
        assert_true(p.tiles * p.height >= s->m && (p.tiles - 1) * p.height < s->m);
    else
        assert_int_equal(p.tiles * p.height + p.higher, s->m);
    assert_int_equal(p.rows, s->m);
    assert_true(p.panels * s->panel >= s->n);
    assert_true(p.depth <= VIT_K_BLOCK && p.blocks_of_k * p.depth >= p.words);
    assert_true(p.words == 0 || (p.blocks_of_k - 1) * p.depth < p.words);
    assert_true(p.bands >= p.runs && p.runs >= 1 && p.groups >= 1 && p.groups <= p.panels);
    assert_true(p.breadth >= 1 && p.breadth <= p.panels);
    if (p.numbers > 1) assert_true(p.pack_a && (p.pack_b || s->b_packed));
    /* what is packed into the thread's room */
    if (p.b_stays && p.pack_b) {
        assert_false(p.pack_a);
        assert_true(p.breadth * p.depth * s->panel <= vit_min(cache, MIB) / 8 * 5);
    }
    if (p.pack_a) assert_true(a <= (p.b_stays ? VIT_LOW_BAND : band_fits));
}

static void test_every_plan_fits(void **state) {
    static const vit_tile_size tiles[] = {{4, 16, 512, false}, {6, 16, 256, false},
                                          {6, 16, 512, false}, {12, 32, 512, false},
                                          {32, 32, 384, true}, {32, 32, 256, true}};
    static const size_t sizes[] = {1,   5,   12,  17,   33,   64,   197,
                                   256, 384, 577, 1024, 1025, 3072, 12608};
    static const size_t threads[] = {1, 2, 3, 8, 64};
    static const size_t caches[] = {MIB, MIB / 2, MIB / 4, MIB / 16, 4 * MIB};
    const size_t n = COUNT(sizes);
    for (size_t i = 0; i < n * n * n * 8; i++) {
        const unsigned options = i % 8;
        const size_t at = i / 8;
        vit_gemm_shape s = {.m = sizes[at % n],
                            .n = sizes[at / n % n],
                            .k = sizes[at / n / n] - (at / n / n == 0), /* 0, too */
                            .precision = options & 1 ? VIT_PRECISION_BF16 : VIT_PRECISION_F32,
                            .a_transposed = options & 2,
                            .b_packed = options & 4};
        s.a_row = s.a_transposed ? s.m : s.k;
        s.b_row = s.n;
        for (size_t t = 0; t < COUNT(tiles); t++) {
            s.a_ready = tiles[t].fixed && !(options & 1); /* quads */
            for (s.panel = tiles[t].cols; s.panel <= VIT_MOST_PANEL; s.panel += 16)
                for (size_t j = 0; j < COUNT(threads); j++)
                    assert_fits(&s, &tiles[t], threads[j], caches[i % COUNT(caches)]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_avx2),
        cmocka_unit_test(test_avx512),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_rows_that_clash),
        cmocka_unit_test(test_every_plan_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
