/* Initial weights: a pure function of the seed and a tensor's row in the table. */
#include "vit/base/math.h"
#include "vit/base/random.h"
#include "vit/model/parameters.h"
#include <math.h>

static void fill(float *values, size_t n, float value) {
    for (size_t i = 0; i < n; i++) values[i] = value;
}

static void uniform(float *values, size_t n, double bound, vit_random *r) {
    for (size_t i = 0; i < n; i++) values[i] = (float)((2 * vit_random_uniform(r) - 1) * bound);
}

/* Normal around 0; what is beyond `cut` standard deviations is drawn again. */
static void normal(float *values, size_t n, double deviation, double cut, vit_random *r) {
    for (size_t i = 0; i < n; i++) {
        double x = vit_random_normal(r);
        while (fabs(x) > cut) x = vit_random_normal(r);
        values[i] = (float)(x * deviation);
    }
}

/* Frequencies base^(-i / q), i < q = d / 4, in a direction of its own for each block and head, and
 * the same across that direction (Heo et al., RoPE-Mixed): [2][L][heads][d / 2]. */
static void frequencies(float *values, const vit_parameter *p, vit_random *r) {
    const size_t heads = p->shape[1] * p->shape[2], half = p->shape[3], q = half / 2;
    for (size_t h = 0; h < heads; h++) {
        const double direction = 2 * VIT_PI * vit_random_uniform(r);
        for (size_t j = 0; j < half; j++) {
            const double size = vit_exp(-(double)(j % q) / (double)q * vit_log(p->base));
            const double angle = direction + (j < q ? 0 : VIT_PI / 2);
            values[h * half + j] = (float)(size * vit_cos(angle));
            values[(heads + h) * half + j] = (float)(size * vit_sin(angle));
        }
    }
}

/* PyTorch's nn.Linear: weights and biases uniform within +-1 / sqrt(fan_in). */
static void init_torch(float *values, const vit_parameter *p, vit_random *r) {
    const double bound = p->fan_in > 0 ? 1 / sqrt((double)p->fan_in) : 0;
    switch (p->kind) {
    case VIT_PARAMETER_CLASS_TOKEN:
    case VIT_PARAMETER_POSITIONS:
    case VIT_PARAMETER_EMBEDDING:
        normal(values, p->count, 1, INFINITY, r);
        break;
    case VIT_PARAMETER_FREQUENCIES:
        frequencies(values, p, r);
        break;
    case VIT_PARAMETER_WEIGHT:
    case VIT_PARAMETER_BIAS:
        uniform(values, p->count, bound, r);
        break;
    case VIT_PARAMETER_GAMMA:
        fill(values, p->count, 1);
        break;
    case VIT_PARAMETER_BETA:
    case VIT_PARAMETER_RELATIVE:
    case VIT_PARAMETER_COUNT:
        fill(values, p->count, 0);
        break;
    }
}

/* timm's: truncated normal weights and positions. */
static void init_timm(float *values, const vit_parameter *p, vit_random *r) {
    /* There is no norm between convolutions; with these deviations the variance of their outputs
     * stays that of their inputs (He et al.: Delving Deep into Rectifiers, eq. 10). */
    const double deviation = p->convolves ? sqrt(2 / (double)p->fan_in) : .02;
    switch (p->kind) {
    case VIT_PARAMETER_CLASS_TOKEN:
        normal(values, p->count, 1e-6, INFINITY, r);
        break;
    case VIT_PARAMETER_FREQUENCIES:
        frequencies(values, p, r);
        break;
    case VIT_PARAMETER_POSITIONS:
    case VIT_PARAMETER_EMBEDDING:
    case VIT_PARAMETER_WEIGHT:
        normal(values, p->count, deviation, 2, r);
        break;
    case VIT_PARAMETER_GAMMA:
        fill(values, p->count, 1);
        break;
    case VIT_PARAMETER_BIAS:
    case VIT_PARAMETER_BETA:
    case VIT_PARAMETER_RELATIVE:
    case VIT_PARAMETER_COUNT:
        fill(values, p->count, 0);
        break;
    }
}

void vit_table_init_row(float *values, const vit_table *table, size_t row, vit_init init,
                        uint64_t seed) {
    vit_random r = vit_random_start(seed, VIT_RANDOM_INIT, 0, (uint32_t)row);
    const vit_parameter *p = &table->rows[row];
    switch (init) {
    case VIT_INIT_TIMM:
        init_timm(values, p, &r);
        break;
    case VIT_INIT_TORCH:
        init_torch(values, p, &r);
        break;
    case VIT_INIT_COUNT:
        break;
    }
    fill(values + p->zeros[0], p->zeros[1], 0);
}

typedef struct initial {
    float *values;
    const vit_table *table;
    vit_init init;
    uint64_t seed;
} initial;

static void row_task(size_t row, int thread, void *context) {
    const initial *i = context;
    (void)thread;
    vit_table_init_row(i->values + i->table->rows[row].offset, i->table, row, i->init, i->seed);
}

void vit_table_init(int threads, float *values, const vit_table *table, vit_init init,
                    uint64_t seed) {
    initial i = {values, table, init, seed};
    fill(values, table->size, 0); /* the gaps between tensors too */
    vit_parallel(threads, table->count, row_task, &i);
}
