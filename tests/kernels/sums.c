/* A line for each kernel, its name and a checksum of what it computes of the same numbers: to
 * compare instruction sets of different processors (tests/project/aarch64.sh).
 *
 * usage: sums scalar      on AArch64: sums neon | neondot */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vit/kernels/kernels.h"

enum { ROWS = 3, N = 37, K = 24, PAD = 48, COLUMNS = 16, SIZE = ROWS * PAD };

static float a[SIZE], b[SIZE], c[SIZE], d[SIZE], wide[K * COLUMNS], rows[3][ROWS];

#ifdef __aarch64__
static bool has_dot;
bool vit_cpu_has_vnni(vit_cpu cpu) {
    return cpu == VIT_CPU_NEON && has_dot;
}
static const vit_kernels *own(const char *word) {
    has_dot = strcmp(word, "neondot") == 0;
    return has_dot || strcmp(word, "neon") == 0 ? vit_kernels_neon() : NULL;
}
#else
static const vit_kernels *own(const char *word) {
    return strcmp(word, "scalar") == 0 ? vit_kernels_scalar() : NULL;
}
#endif

/* Numbers of all sizes, some of them denormal. */
static void fill(float *x, size_t n, uint32_t seed) {
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        const uint32_t exponent = i % 7 == 0 ? seed >> 28 : 120 + (seed >> 29);
        const uint32_t bits = (seed << 31) | exponent << 23 | (seed >> 9 & 0x7fffff);
        memcpy(x + i, &bits, sizeof bits);
    }
}

static void start(void) {
    fill(a, SIZE, 1), fill(b, SIZE, 2), fill(c, SIZE, 3), fill(d, SIZE, 4);
    fill(wide, K * COLUMNS, 5);
    for (uint32_t i = 0; i < 3; i++) fill(rows[i], ROWS, 6 + i);
    for (size_t i = 0; i < SIZE; i++) d[i] = d[i] < 0 ? -d[i] : d[i];
}

/* FNV-1a of everything that a kernel may have written, and the same numbers again. */
static void say(const char *name) {
    uint64_t hash = 14695981039346656037u;
    const void *const parts[] = {a, b, c, d, rows};
    const size_t sizes[] = {sizeof a, sizeof b, sizeof c, sizeof d, sizeof rows};
    for (size_t p = 0; p < 5; p++)
        for (size_t i = 0; i < sizes[p]; i++)
            hash = (hash ^ ((const uint8_t *)parts[p])[i]) * 1099511628211u;
    printf("%-20s %016llx\n", name, (unsigned long long)hash);
    start();
}

static void products(const vit_kernels *k) {
    vit_tiles run = {.count = 1,
                     .rows = 2,
                     .columns = COLUMNS,
                     .k = K,
                     .c = c,
                     .a = a,
                     .b = wide,
                     .c_row = COLUMNS,
                     .a_row = K,
                     .a_col = 1,
                     .b_row = COLUMNS,
                     .epilogue = {.scale = .3f, .bias = b}};
    k->products[VIT_PRECISION_F32]->gemm_tiles(&run);
    say("product");
    const vit_product_kernels *integers = k->products[VIT_PRECISION_INT8];
    for (size_t r = 0; r < 2; r++) integers->quantise(a + r * PAD, rows[0] + r, b + r * PAD, PAD);
    say("quantise");
    for (size_t r = 0; r < 2; r++) integers->quantise(a + r * PAD, rows[0] + r, b + r * PAD, PAD);
    run.k = PAD / 4, run.a_row = PAD;
    run.epilogue = (vit_epilogue){.row_scales = rows[0], .column_scales = d};
    integers->gemm_tiles(&run);
    say("product of integers");
}

static void norms(const vit_kernels *k) {
    k->layernorm(c, rows[0], rows[1], a, b, d, 1e-6f, ROWS, N);
    say("layernorm");
    k->layernorm_backward(c, b, a, rows[0], rows[1], d, ROWS, N);
    say("layernorm_backward");
    k->layernorm_sums(c, d, a, b, rows[0], rows[1], ROWS, N, PAD);
    say("layernorm_sums");
    for (size_t i = 0; i < SIZE; i++) a[i] *= 1e-3f;
    k->softmax(a, ROWS, N);
    say("softmax");
    for (size_t i = 0; i < SIZE; i++) b[i] = i % PAD < N ? b[i] : 0;
    k->softmax_backward(a, b, .3f, ROWS, N);
    for (size_t i = 0; i < SIZE; i++) a[i] = i % PAD < N ? a[i] : 0;
    say("softmax_backward");
}

static void elements(const vit_kernels *k) {
    k->gelu(c, a, SIZE);
    say("gelu");
    k->gelu_backward(c, d, b, a, SIZE);
    say("gelu_backward");
    k->relu(c, a, SIZE);
    say("relu");
    k->swish(c, a, 1, 0, SIZE);
    say("swish");
    k->swish_backward(c, d, b, a, 1, .1f, SIZE);
    say("swish_backward");
    k->add(c, a, N);
    k->scale(c, c, .7f, N);
    k->multiply_add(c, a, b, N);
    k->average(d, a, .01f, N);
    say("arithmetic");
    k->column_sums(c, a, ROWS, N, PAD);
    rows[0][0] = k->square_sum(a, SIZE);
    say("sums");
    const vit_adamw_scalars s = {.5f, .99f, .9f, .999f, .1f, .001f, 3, .01f, 1e-8f};
    k->adamw(a, b, d, c, &s, SIZE);
    say("adamw");
}

int main(int argc, char **argv) {
    const char *word = argc == 2 ? argv[1] : "";
    const vit_kernels *k = own(word);
    if (!k) return fprintf(stderr, "sums: no kernels '%s' here\n", word), 2;
    start();
    products(k);
    norms(k);
    elements(k);
    return 0;
}
