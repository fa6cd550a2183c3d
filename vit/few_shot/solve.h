/* Few-shot heads, computed instead of trained: ridge regression and multinomial logistic regression
 * on standardised features. */
#ifndef VIT_FEW_SHOT_SOLVE_H
#define VIT_FEW_SHOT_SOLVE_H

#include "vit/few_shot/samples.h"

/* What a solver finds. */
typedef struct vit_solution {
    vit_linear_head head;
    double strength; /* of the regularisation */
    /* [pictures][classes]: logits of the first view of each picture, by the head that is computed
     * without the picture */
    float *without;
} vit_solution;

/* The arrays of *out are made by the caller: vit_solution_new. */
typedef vit_status vit_solver_function(vit_solution *out, const vit_spectrum *s, vit_error *error);

/* Ridge regression on targets 1 for the class and -1 for the others, with an intercept, as
 * scikit-learn's RidgeClassifier: the sum of w (y - a - x b)^2 plus strength |b|^2. The strength is
 * that of 10^-2, 10^-1.5, ..., 10^7 with the smallest squared error of leave-one-out, which is
 * exact in closed form: with M = I - H, H the hat matrix with the intercept, the residuals of the
 * views G of a picture that is left out are (M_GG)^-1 e_G. */
vit_solver_function vit_solve_ridge;

/* Multinomial logistic regression with an unpenalised intercept, as scikit-learn's
 * LogisticRegression: the sum of w times the cross-entropy, plus strength / 2 |b|^2 (strength =
 * 1 / C), by L-BFGS. Leaving each picture out would take as many fits: in its place stand VIT_FOLDS
 * of them, each without every tenth picture of a class. The strength is that of 10^4, 10^3, ...,
 * 10^-1 with the smallest cross-entropy of the pictures left out; beyond VIT_FEW pictures it is
 * chosen by one of the fits. */
#define VIT_FOLDS 10
#define VIT_FEW 2000
vit_solver_function vit_solve_logistic;

/* folds: [pictures] = 0..count - 1. Every count-th picture of a class is in the same fold; classes
 * begin at different ones. Copies are in the fold of the first of them. count: 2..VIT_MOST_FOLDS.
 * Errors: MEMORY. */
#define VIT_MOST_FOLDS 100
vit_status vit_deal_folds(uint8_t *folds, const vit_samples *samples, size_t count,
                          vit_error *error);

/* without: [pictures][classes] = logits of the first view of each picture by a head that is
 * computed from the other folds, its strength, too. ARGUMENT if all pictures are in one fold.
 * Errors: those of vit_solve. */
vit_status vit_solve_folds(float *without, vit_solver_function *solver, const vit_samples *samples,
                           size_t count, const vit_kernels *kernels, int threads, vit_error *error);

/* Makes the arrays of a solution, and runs the solver. Freed by vit_solution_free, also on failure.
 */
vit_status vit_solve(vit_solution *out, vit_solver_function *solver, const vit_samples *samples,
                     const vit_kernels *kernels, int threads, vit_error *error);
void vit_solution_free(vit_solution *solution);

#endif
