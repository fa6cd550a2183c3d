/* The learning rate range test (Smith: Cyclical Learning Rates for Training Neural Networks,
 * section 3.3): the rate rises from step to step, and the loss shows where it becomes too high. */
#ifndef VIT_TRAIN_FIND_LR_H
#define VIT_TRAIN_FIND_LR_H

#include "vit/train/run.h"

/* The rate to train with: a fifth of the one at which the loss was least. lr, loss: [count] rates
 * and smoothed losses of the steps, count > 0. NaN if the loss never fell by 2 %. */
double vit_suggest_lr(const double *lr, const double *loss, size_t count);

/* Opens the run, tests, and closes it. *out is that of vit_find_lr (vit/vit.h). */
vit_status vit_run_find_lr(vit_run *run, vit_lr_search *out, vit_error *error);

#endif
