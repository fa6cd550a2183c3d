/* The features of many pictures, a row each, for a .npy file. */
#ifndef VIT_CLI_CLASSIFY_FEATURE_MATRIX_H
#define VIT_CLI_CLASSIFY_FEATURE_MATRIX_H

#include <stddef.h>

#include "vit/cli/parts/program.h"

typedef struct vit_feature_matrix {
    float *values;   /* [rows that were added][width]; owned */
    size_t capacity; /* rows that it has memory for */
} vit_feature_matrix;

/* Sets row number `row`, the next one; features NULL: NaN, of a picture that failed. False, with a
 * message, if there is no memory. */
bool vit_feature_matrix_add(vit_feature_matrix *matrix, const vit_command *command, size_t row,
                            const float *features, size_t width);

/* Writes the rows; tokens 0: [rows][width], else [rows][tokens][width / tokens], or of one row
 * [tokens][width / tokens]. */
vit_status vit_feature_matrix_write(const vit_feature_matrix *matrix, const char *path, size_t rows,
                                    size_t tokens, size_t width, vit_error *error);

#endif
