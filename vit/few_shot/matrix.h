/* Small dense matrices in double, row by row: what is solved exactly when a head is computed. Every
 * element of a product is one chain of multiplications and additions in ascending order, so that
 * neither threads nor processors change a bit. */
#ifndef VIT_FEW_SHOT_MATRIX_H
#define VIT_FEW_SHOT_MATRIX_H

#include "vit/base/error.h"
#include <stddef.h>

/* An operand: element (i, j) is (data[i * row + j * column] - shift[j]) * scale[i] of floats, or an
 * element of doubles as it is. Exchanging row and column transposes doubles. */
typedef struct vit_matrix {
    const double *doubles;       /* or NULL */
    const float *floats;         /* read if `doubles` is NULL */
    size_t row, column;          /* distance of neighbours; of floats, column is 1 */
    const double *shift, *scale; /* of floats; NULL: 0, 1 */
} vit_matrix;

static inline vit_matrix vit_matrix_of(const double *doubles, size_t row) {
    return (vit_matrix){.doubles = doubles, .row = row, .column = 1};
}

/* c: [m][n] = A B, for A: [m][k], B: [k][n]. Errors: MEMORY. */
vit_status vit_matrix_product(double *c, size_t m, size_t n, size_t k, const vit_matrix *a,
                              const vit_matrix *b, int threads, vit_error *error);

/* c: [n][n] = A^T A, for A: [k][n]; and, with `outer`, c: [k][k] = A A^T. Both are symmetric to the
 * bit. Errors: MEMORY. */
vit_status vit_matrix_gram(double *c, size_t k, size_t n, const vit_matrix *a, bool outer,
                           int threads, vit_error *error);

/* The eigenvalues of a symmetric matrix a: [n][n], the largest first, and its eigenvectors, one a
 * row, in place of it: Householder's reduction to a tridiagonal matrix, then the QL algorithm with
 * implicit shifts (Golub, van Loan: Matrix Computations, sections 8.3 and 8.5). values: [n].
 * ARGUMENT if it does not converge, which only happens where a number is not finite. Errors:
 * MEMORY. */
vit_status vit_matrix_eigen(double *a, double *values, size_t n, int threads, vit_error *error);

/* Solves A x = b for a symmetric positive definite a: [n][n] and each of the `count` columns of b:
 * [n][count], in place, by Cholesky's decomposition; a is overwritten. False if A is not positive
 * definite. */
bool vit_matrix_solve(double *a, size_t n, double *b, size_t count);

#endif
