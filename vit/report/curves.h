/* The curves of a training: means over some steps, and what was measured at the end of each epoch.
 */
#ifndef VIT_REPORT_CURVES_H
#define VIT_REPORT_CURVES_H

#include "vit/base/error.h"

/* Means over `steps` steps, the last of which is number `step`, counted from 1. NaN: not known. */
typedef struct vit_point {
    uint64_t step, steps;
    double loss, lr, grad_norm; /* the norm before clipping */
    double rate;                /* training throughput, images/s */
} vit_point;

/* Measured after `step` steps: share of right answers and loss of the validation pictures, and of a
 * sample of training pictures without augmentation. NaN: not measured. */
typedef struct vit_epoch_point {
    uint64_t step;
    double val_top1, val_loss;
    double train_top1, train_loss;
} vit_epoch_point;

typedef struct vit_training_curves {
    vit_point *points; /* ascending steps */
    vit_epoch_point *epochs;
    size_t point_count, epoch_count;
    size_t point_capacity, epoch_capacity;
    uint64_t every;                                       /* steps in one point */
    double loss_sum, lr_sum, norm_sum, seconds, pictures; /* of the steps since the last point */
    uint64_t sum_steps;
} vit_training_curves;

/* Points of a whole schedule, at most. At which steps they end depends on the number of steps
 * alone. */
#define VIT_CURVE_POINTS 400

/* Sets how many steps a point has. *c is zeroed before; schedule: the training's steps. */
void vit_training_curves_start(vit_training_curves *c, uint64_t schedule);
void vit_training_curves_free(vit_training_curves *c);

/* Adds step number `step`, counted from 1. *complete: with it a point is complete, the last of
 * c->points. Errors: MEMORY, here and below. */
vit_status vit_training_curves_step(vit_training_curves *c, uint64_t step, double loss, double lr,
                                    double grad_norm, double pictures, double seconds,
                                    bool *complete, vit_error *error);

/* At the end of a training: completes the point that was begun, if there is one. */
vit_status vit_training_curves_flush(vit_training_curves *c, uint64_t step, bool *complete,
                                     vit_error *error);

/* Append one point. */
vit_status vit_training_curves_point(vit_training_curves *c, vit_point point, vit_error *error);
vit_status vit_training_curves_epoch(vit_training_curves *c, vit_epoch_point point,
                                     vit_error *error);

/* Removes what is beyond `step`, from which the training continues. */
void vit_training_curves_cut(vit_training_curves *c, uint64_t step);

#endif
