#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tests/support/check.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- comparisons ---- */

bool check_same(float a, float b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

size_t check_first_other(const float *a, const float *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!check_same(a[i], b[i])) return i;
    return n;
}

bool check_within(const char *what, const float *got, const double *want, const double *bound,
                  size_t n) {
    for (size_t i = 0; i < n; i++) {
        const double error = fabs((double)got[i] - want[i]);
        if (error <= bound[i]) continue;
        fprintf(stderr, "%s[%zu] is %.9g, expected %.9g: off by %.3g, allowed %.3g\n", what, i,
                (double)got[i], want[i], error, bound[i]);
        return false;
    }
    return true;
}

double check_difference(const float *got, const float *want, size_t n) {
    double most = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        const double error = fabs((double)got[i] - (double)want[i]);
        if (!isfinite(error)) return NAN;
        most = fmax(most, error);
        largest = fmax(largest, fabs((double)want[i]));
    }
    return most > 0 ? most / largest : 0;
}

/* ---- kernels ---- */

size_t check_tables(const vit_kernels *out[CHECK_MOST_TABLES]) {
    static const vit_kernels *tables[CHECK_MOST_TABLES];
    static size_t count; /* computed once: CPUID is slow in a virtual machine */
    if (count == 0) {
        for (vit_cpu highest = VIT_CPU_SCALAR; highest <= VIT_CPU_AVX512; highest++) {
            const vit_kernels *k = vit_kernels_choose(highest);
            if (count == 0 || tables[count - 1] != k) tables[count++] = k;
        }
    }
    memcpy(out, tables, count * sizeof *tables);
    return count;
}

/* ---- gradients ---- */

double check_gamma(size_t roundings) {
    const double nu = (double)roundings * CHECK_ROUNDOFF;
    return nu / (1 - nu);
}

typedef struct slope {
    check_loss *loss;
    const void *context;
    const double *theta, *v;
    double *moved;
    size_t n;
} slope;

static double loss_at(const slope *s, double step) {
    for (size_t i = 0; i < s->n; i++) s->moved[i] = s->theta[i] + step * s->v[i];
    return s->loss(s->moved, s->context);
}

/* The central difference of fourth order. */
static double difference(const slope *s, double h) {
    const double near = loss_at(s, h) - loss_at(s, -h);
    const double far = loss_at(s, 2 * h) - loss_at(s, -2 * h);
    return (8 * near - far) / (12 * h);
}

static bool check_slope(const char *what, const slope *s, const float *gradient,
                        const float *before, const double *bound) {
    const double step = 2e-4;
    const double want = difference(s, step / 2);
    /* The error of the step, and the rounding of a loss that is a sum of about n terms of size 1.
     */
    const double rounding = (double)s->n * 0x1p-52 / step;
    double got = 0, allowed = fabs(difference(s, step) - want) + rounding;
    for (size_t i = 0; i < s->n; i++) {
        got += ((double)gradient[i] - (before ? (double)before[i] : 0)) * s->v[i];
        allowed += bound[i] * fabs(s->v[i]);
    }
    if (fabs(got - want) <= allowed) return true;
    fprintf(stderr, "%s: slope %.9g, finite difference %.9g: off by %.3g, allowed %.3g\n", what,
            got, want, fabs(got - want), allowed);
    return false;
}

bool check_gradient(const char *what, check_loss *loss, const void *context, const double *theta,
                    size_t n, const float *gradient, const float *before, const double *bound) {
    const int directions = 3, single = 5;
    vit_random r = check_random((uint32_t)n);
    double *v = check_doubles(n), *moved = check_doubles(n);
    const slope s = {loss, context, theta, v, moved, n};
    bool right = true;
    for (int i = 0; i < directions + single && right; i++) {
        memset(v, 0, n * sizeof *v);
        if (i < directions)
            check_fill_double(v, n, 1, &r);
        else
            v[vit_random_below(&r, (uint32_t)n)] = 1;
        right = check_slope(what, &s, gradient, before, bound);
    }
    free(v);
    free(moved);
    return right;
}

/* ---- fillings ---- */

vit_random check_random(uint32_t seed) {
    return vit_random_start(seed, VIT_RANDOM_TEST, 0, 0);
}

void check_fill(float *x, size_t n, float size, vit_random *r) {
    for (size_t i = 0; i < n; i++) x[i] = (float)(2 * vit_random_uniform(r) - 1) * size;
}

void check_fill_double(double *x, size_t n, double size, vit_random *r) {
    for (size_t i = 0; i < n; i++) x[i] = (2 * vit_random_uniform(r) - 1) * size;
}

static void *zeroed(size_t count, size_t size) {
    void *memory = calloc(count + 1, size); /* + 1: never NULL for nothing */
    if (memory) return memory;
    fprintf(stderr, "a test needs %zu bytes of memory\n", count * size);
    abort();
}

vit_attention_shape check_attention_shape(size_t batch, size_t heads, size_t head_dim,
                                          size_t queries, size_t keys) {
    const size_t dim = heads * head_dim;
    return (vit_attention_shape){.batch = batch,
                                 .heads = heads,
                                 .head_dim = head_dim,
                                 .queries = queries,
                                 .keys = keys,
                                 .q_row = dim,
                                 .k_row = dim + 1,
                                 .v_row = dim + 2,
                                 .o_row = dim + 3,
                                 .scale = (float)(1 / sqrt((double)head_dim))};
}

static float rounded(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* To 24 bits whatever the exponent, ties to even; what is below FLT_MIN then becomes zero. */
static float flushed(long double exact) {
    int exponent;
    const long double bits = rintl(ldexpl(frexpl(exact, &exponent), 24));
    const long double near = ldexpl(bits, exponent - 24);
    return fabsl(near) < FLT_MIN ? copysignf(0, (float)near) : (float)near;
}

float check_step(float a, float b, float c) {
    return flushed((long double)a * b + c);
}

static float pair_chain(const float *a, size_t a_step, const float *b, size_t b_step, size_t k) {
    float c = 0;
    for (size_t q = 0; q < k; q += 2)
        for (size_t s = 2; s-- > 0;)
            if (q + s < k) c = fmaf(rounded(a[(q + s) * a_step]), rounded(b[(q + s) * b_step]), c);
    return c;
}

static float tile_chain(const float *a, size_t a_step, const float *b, size_t b_step, size_t k) {
    float c = 0;
    for (size_t block = 0; block < k; block += 32) {
        float sums[2] = {0, 0};
        for (size_t p = block; p < k && p < block + 32; p++)
            sums[p % 2] = fmaf(rounded(a[p * a_step]), rounded(b[p * b_step]), sums[p % 2]);
        c += sums[0] + sums[1];
    }
    return c;
}

float check_bf16_chain(vit_bf16 bf16, const float *a, size_t a_step, const float *b, size_t b_step,
                       size_t k) {
    return bf16 > VIT_BF16_PAIRS ? tile_chain(a, a_step, b, b_step, k)
                                 : pair_chain(a, a_step, b, b_step, k);
}

size_t check_bf16_tables(const vit_kernels *out[CHECK_BF16_TABLES]) {
    size_t count = 0;
    for (vit_bf16 bf16 = VIT_BF16_PAIRS; bf16 <= VIT_BF16_TILES; bf16++) {
        const vit_kernels *const both[] = {vit_kernels_with(VIT_CPU_SCALAR, bf16),
                                           vit_kernels_with(VIT_CPU_AMX, bf16)};
        for (size_t i = 0; i < 2; i++) {
            const vit_product_kernels *p = both[i]->products[VIT_PRECISION_BF16];
            if (p && p->bf16 == bf16 && (i == 0 || both[1] != both[0])) out[count++] = both[i];
        }
    }
    return count;
}

const char *check_bf16_cpu(void) {
    const vit_kernels *best = vit_kernels_choose(VIT_CPU_AVX512BF16);
    if (best->products[VIT_PRECISION_BF16]) return vit_cpu_name(best->cpu);
    return vit_kernels_scalar()->products[VIT_PRECISION_BF16] ? vit_cpu_name(VIT_CPU_SCALAR) : NULL;
}

size_t check_all_tables(const vit_kernels *out[CHECK_MOST_TABLES]) {
    size_t count = 0;
    for (vit_cpu highest = VIT_CPU_SCALAR; highest <= VIT_CPU_AMX; highest++) {
        const vit_kernels *k = vit_kernels_choose(highest);
        if (count == 0 || out[count - 1] != k) out[count++] = k;
    }
    return count;
}

float *check_floats(size_t count) {
    return zeroed(count, sizeof(float));
}

float *check_copy(const float *values, size_t count) {
    float *copy = check_floats(count);
    memcpy(copy, values, count * sizeof *copy);
    return copy;
}

double *check_doubles(size_t count) {
    return zeroed(count, sizeof(double));
}

size_t check_layer(const char *name, size_t depth) {
    static const char *const after[] = {"norm.", "fc_norm.", "head", "attn_pool."};
    size_t block;
    if (sscanf(name, "blocks.%zu.", &block) == 1) return block + 1;
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        if (strncmp(name, after[i], strlen(after[i])) == 0) return depth + 1;
    return 0;
}

/* ---- memory between forbidden pages ---- */

/* A signalling NaN, which no operation returns. */
static const uint32_t pattern = 0x7fa5a5a5;

#define WATCHED 64 /* floats before and after that are checked */

static void fill_pattern(float *from, const float *to) {
    for (; from < to; from++) memcpy(from, &pattern, sizeof pattern);
}

bool check_is_pattern(float x) {
    return memcmp(&x, &pattern, sizeof x) == 0;
}

check_memory check_memory_new(size_t floats) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size = ((floats + 1) * sizeof(float) + page - 1) / page * page;
    unsigned char *map =
        mmap(NULL, size + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map, page, PROT_NONE) != 0 ||
        mprotect(map + page + size, page, PROT_NONE) != 0) {
        perror("a test needs memory between forbidden pages");
        abort();
    }
    return (check_memory){.whole = (float *)(void *)(map + page), .floats = size / sizeof(float)};
}

void check_memory_free(check_memory *memory) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap((unsigned char *)(void *)memory->whole - page,
           memory->floats * sizeof(float) + 2 * page);
    *memory = (check_memory){0};
}

static float *watched_begin(const check_memory *m) {
    return m->data - m->whole > WATCHED ? m->data - WATCHED : m->whole;
}

static float *watched_end(const check_memory *m) {
    float *end = m->whole + m->floats, *behind = m->data + m->count;
    return end - behind > WATCHED ? behind + WATCHED : end;
}

float *check_memory_take(check_memory *m, size_t count, check_place place) {
    if (count + 1 > m->floats) {
        fprintf(stderr, "a test takes %zu floats of %zu\n", count, m->floats);
        abort();
    }
    const size_t first = place == CHECK_AT_END ? m->floats - count : place == CHECK_UNALIGNED;
    m->data = m->whole + first;
    m->count = count;
    fill_pattern(watched_begin(m), watched_end(m));
    return m->data;
}

bool check_memory_intact(const check_memory *m) {
    for (const float *x = watched_begin(m); x < m->data; x++)
        if (!check_is_pattern(*x)) return false;
    for (const float *x = m->data + m->count; x < watched_end(m); x++)
        if (!check_is_pattern(*x)) return false;
    return true;
}
