#include "vit/ops/embed.h"
#include <string.h>

static void sum(float *z, const float *a, const float *b, size_t n) {
    for (size_t i = 0; i < n; i++) z[i] = a[i] + b[i];
}

void vit_embed_forward(float *z, const float *embedded, const float *class_token,
                       const float *positions, size_t batch, size_t patches, size_t dim) {
    const size_t first = class_token ? dim : 0, rest = patches * dim;
    for (size_t b = 0; b < batch; b++, z += first + rest, embedded += rest) {
        if (class_token) sum(z, class_token, positions, dim);
        sum(z + first, embedded, positions + first, rest);
    }
}

void vit_embed_backward(const vit_exec *exec, float *d_embedded, float *d_class, float *d_positions,
                        const float *dz, size_t batch, size_t tokens, size_t patches, size_t dim) {
    const size_t first = (tokens - patches) * dim, rest = patches * dim;
    for (size_t b = 0; b < batch; b++, dz += first + rest, d_embedded += rest) {
        if (d_class) exec->kernels->add(d_class, dz, dim);
        if (d_positions) exec->kernels->add(d_positions, dz, first + rest);
        memcpy(d_embedded, dz + first, rest * sizeof *dz);
    }
}
