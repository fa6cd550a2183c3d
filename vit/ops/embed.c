#include "vit/ops/embed.h"
#include <string.h>

static void sum(float *z, const float *a, const float *b, size_t n) {
    for (size_t i = 0; i < n; i++) z[i] = a[i] + b[i];
}

void vit_embed_forward(float *z, const float *embedded, const float *class_token,
                       const float *positions, size_t batch, size_t patches, size_t dim) {
    const size_t rest = patches * dim;
    for (size_t b = 0; b < batch; b++, z += dim + rest, embedded += rest) {
        sum(z, class_token, positions, dim);
        sum(z + dim, embedded, positions + dim, rest);
    }
}

void vit_embed_backward(const vit_exec *exec, float *d_embedded, float *d_class, float *d_positions,
                        const float *dz, size_t batch, size_t patches, size_t dim) {
    const size_t rest = patches * dim;
    for (size_t b = 0; b < batch; b++, dz += dim + rest, d_embedded += rest) {
        exec->kernels->add(d_class, dz, dim);
        exec->kernels->add(d_positions, dz, dim + rest);
        memcpy(d_embedded, dz + dim, rest * sizeof *dz);
    }
}
