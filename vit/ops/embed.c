#include "vit/ops/embed.h"
#include <string.h>

/* z = a + b; b NULL: z = a */
static void sum(float *z, const float *a, const float *b, size_t n) {
    if (b)
        for (size_t i = 0; i < n; i++) z[i] = a[i] + b[i];
    else if (n > 0)
        memcpy(z, a, n * sizeof *z);
}

void vit_embed_forward(float *z, const float *embedded, const float *const *prefix,
                       const float *positions, const vit_embed_shape *s) {
    const size_t rest = s->patches * s->dim;
    for (size_t b = 0; b < s->batch; b++, embedded += rest, z += rest) {
        const float *position = positions;
        for (size_t k = 0; k < VIT_EMBED_PREFIXES; k++) {
            const size_t n = s->prefix[k] * s->dim;
            sum(z, prefix[k], s->prefix_positions ? position : NULL, n);
            if (position && s->prefix_positions) position += n;
            z += n;
        }
        sum(z, embedded, position, rest);
    }
}

void vit_embed_backward(const vit_exec *exec, float *d_embedded, float *const *d_prefix,
                        float *d_positions, const float *dz, const vit_embed_shape *s) {
    const size_t rest = s->patches * s->dim;
    for (size_t b = 0; b < s->batch; b++, d_embedded += rest, dz += rest) {
        size_t first = 0;
        for (size_t k = 0; k < VIT_EMBED_PREFIXES; k++) {
            const size_t n = s->prefix[k] * s->dim;
            if (d_prefix[k]) exec->kernels->add(d_prefix[k], dz, n);
            if (d_positions && s->prefix_positions) exec->kernels->add(d_positions + first, dz, n);
            if (s->prefix_positions) first += n;
            dz += n;
        }
        if (d_positions) exec->kernels->add(d_positions + first, dz, rest);
        memcpy(d_embedded, dz, rest * sizeof *dz);
    }
}

void vit_lookup_forward(const vit_exec *exec, float *z, const float *table, const float *positions,
                        const vit_lookup_shape *s) {
    for (size_t r = 0; r < s->rows; r++, z += s->dim) {
        exec->kernels->scale(z, table + s->ids[r] * s->dim, s->scale, s->dim);
        if (positions) exec->kernels->add(z, positions + s->positions[r] * s->dim, s->dim);
    }
}

void vit_lookup_backward(const vit_exec *exec, float *d_table, float *d_positions, float *dz,
                         const vit_lookup_shape *s) {
    for (size_t r = 0; r < s->rows; r++, dz += s->dim) {
        if (d_positions) exec->kernels->add(d_positions + s->positions[r] * s->dim, dz, s->dim);
        exec->kernels->scale(dz, dz, s->scale, s->dim);
        exec->kernels->add(d_table + s->ids[r] * s->dim, dz, s->dim);
    }
}
