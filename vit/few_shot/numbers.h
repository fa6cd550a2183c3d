/* What the answers of left-out pictures say of a head: how good it is, and of which pictures. */
#ifndef VIT_FEW_SHOT_NUMBERS_H
#define VIT_FEW_SHOT_NUMBERS_H

#include "vit/few_shot.h"
#include "vit/few_shot/solve.h"

/* The temperature and the threshold of logits of left-out pictures: [pictures][classes]. Errors:
 * MEMORY. */
vit_status vit_calibrate(double *temperature, double *threshold, const float *without,
                         const vit_samples *samples, vit_error *error);

/* Fills out->right, accuracy, low, high (as of as many pictures as there are groups of copies),
 * suspects and confused from the logits of left-out pictures
 * at out->temperature. Errors: MEMORY. */
vit_status vit_count_answers(vit_few_shot_result *out, const float *without,
                             const vit_samples *samples, vit_error *error);

/* Fills out->curve and out->doubled: 2, 5, 10, 20, 50 pictures of each class, drawn ten times,
 * while half of the pictures are left for the answers, and at last all of them. The heads of the
 * draws are ridge regressions, whatever the head is. Errors: those of vit_solve. */
vit_status vit_measure_curve(vit_few_shot_result *out, const vit_samples *samples,
                             const vit_kernels *kernels, int threads, vit_error *error);

#endif
