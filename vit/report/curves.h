/* The course of a training: means over so many steps, and what the end of each epoch measured. */
#ifndef VIT_REPORT_CURVES_H
#define VIT_REPORT_CURVES_H

#include "vit/base/error.h"

/* Means over `steps` steps, the last of them number `step` (from 1). NaN: not known. */
typedef struct vit_point {
    uint64_t step, steps;
    double loss, lr, grad_norm; /* of the batches' loss, the gradient before clipping */
    double rate;                /* training pictures a second */
} vit_point;

/* After `step` steps. Answers of the held-back pictures, and of as many training pictures as they
 * are, not augmented. NaN: not measured. */
typedef struct vit_epoch_point {
    uint64_t step;
    double val_top1, val_loss;
    double train_top1, train_loss;
} vit_epoch_point;

typedef struct vit_curves {
    vit_point *points; /* ascending steps */
    vit_epoch_point *epochs;
    size_t point_count, epoch_count;
    size_t point_capacity, epoch_capacity;
    uint64_t every;                                       /* steps of a point */
    double loss_sum, lr_sum, norm_sum, seconds, pictures; /* of the steps since the last one */
    uint64_t sum_steps;
} vit_curves;

/* At most so many points for a whole schedule; where they end is a function of its steps alone. */
#define VIT_CURVE_POINTS 400

/* A training that has `schedule` steps. */
void vit_curves_start(vit_curves *c, uint64_t schedule);
void vit_curves_free(vit_curves *c);

/* One step, number `step` from 1. *complete: a point was added, the last of c->points. */
vit_status vit_curves_step(vit_curves *c, uint64_t step, double loss, double lr, double grad_norm,
                           double pictures, double seconds, bool *complete, vit_error *error);

/* Adds a point of the steps since the last one, if there are any: where a training ends. */
vit_status vit_curves_flush(vit_curves *c, uint64_t step, bool *complete, vit_error *error);

vit_status vit_curves_point(vit_curves *c, vit_point point, vit_error *error);
vit_status vit_curves_epoch(vit_curves *c, vit_epoch_point point, vit_error *error);

/* Forgets what is beyond `step`: the training goes on from there. */
void vit_curves_cut(vit_curves *c, uint64_t step);

#endif
