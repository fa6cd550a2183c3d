/* A short test of learning rates (Smith: Cyclical Learning Rates for Training Neural Networks,
 * section 3.3): one rises from step to step, and the loss tells from where on it is too high. */
#ifndef VIT_TRAIN_FIND_LR_H
#define VIT_TRAIN_FIND_LR_H

#include "vit/train/run.h"

/* Learning rates and smoothed losses of the steps -> the rate to train with: a fifth of the one at
 * which the loss was least. NaN where the loss never fell. count > 0 */
double vit_suggest_lr(const double *lr, const double *loss, size_t count);

/* Runs the test on a run that was not opened yet, and closes it. *out as vit_find_lr has it. */
vit_status vit_run_find_lr(vit_run *run, vit_lr_search *out, vit_error *error);

#endif
