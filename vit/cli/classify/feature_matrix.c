#include "vit/cli/classify/feature_matrix.h"

#include <math.h>

#include "vit/base/sys.h"
#include "vit/formats/npy.h"

bool vit_feature_matrix_add(vit_feature_matrix *m, const vit_command *command, size_t row,
                            const float *features, size_t width) {
    if (row == m->capacity) {
        const size_t rows = 2 * m->capacity + 64;
        float *grown = vit_realloc(m->values, m->capacity * width, rows * width, sizeof *m->values);
        if (!grown) {
            vit_say(command, "no memory for the embeddings");
            return false;
        }
        m->values = grown;
        m->capacity = rows;
    }
    float *values = m->values + row * width;
    for (size_t i = 0; i < width; i++) values[i] = features ? features[i] : NAN;
    return true;
}

vit_status vit_feature_matrix_write(const vit_feature_matrix *m, const char *path, size_t rows,
                                    size_t tokens, size_t width, vit_error *error) {
    const size_t each = tokens > 0 ? tokens : 1;
    const size_t shape[] = {rows, each, width / each}, plain[] = {rows, width};
    const bool one = tokens > 0 && rows == 1;
    return vit_npy_write(path, m->values, tokens > 0 ? shape + one : plain,
                         tokens > 0 && !one ? 3 : 2, error);
}
