#include "vit/report/curves.h"
#include "vit/base/sys.h"

void vit_training_curves_start(vit_training_curves *c, uint64_t schedule) {
    c->every = (schedule + VIT_CURVE_POINTS - 1) / VIT_CURVE_POINTS;
    if (c->every == 0) c->every = 1;
}

void vit_training_curves_free(vit_training_curves *c) {
    vit_free(c->points);
    vit_free(c->epochs);
    *c = (vit_training_curves){0};
}

vit_status vit_training_curves_point(vit_training_curves *c, vit_point point, vit_error *error) {
    if (!VIT_MAKE_ROOM(c->points, c->point_count, c->point_capacity, "the curves", error))
        return VIT_ERROR_MEMORY;
    c->points[c->point_count++] = point;
    return VIT_OK;
}

vit_status vit_training_curves_epoch(vit_training_curves *c, vit_epoch_point point,
                                     vit_error *error) {
    if (!VIT_MAKE_ROOM(c->epochs, c->epoch_count, c->epoch_capacity, "the curves", error))
        return VIT_ERROR_MEMORY;
    c->epochs[c->epoch_count++] = point;
    return VIT_OK;
}

vit_status vit_training_curves_flush(vit_training_curves *c, uint64_t step, bool *complete,
                                     vit_error *error) {
    const double n = (double)c->sum_steps;
    *complete = c->sum_steps > 0;
    if (!*complete) return VIT_OK;
    const vit_point point = {step,          c->sum_steps,    c->loss_sum / n,
                             c->lr_sum / n, c->norm_sum / n, c->pictures / c->seconds};
    c->loss_sum = c->lr_sum = c->norm_sum = c->seconds = c->pictures = 0;
    c->sum_steps = 0;
    return vit_training_curves_point(c, point, error);
}

vit_status vit_training_curves_step(vit_training_curves *c, uint64_t step, double loss, double lr,
                                    double grad_norm, double pictures, double seconds,
                                    bool *complete, vit_error *error) {
    c->loss_sum += loss;
    c->lr_sum += lr;
    c->norm_sum += grad_norm;
    c->pictures += pictures;
    c->seconds += seconds;
    c->sum_steps++;
    *complete = false;
    return step % c->every == 0 ? vit_training_curves_flush(c, step, complete, error) : VIT_OK;
}

void vit_training_curves_cut(vit_training_curves *c, uint64_t step) {
    while (c->point_count > 0 && c->points[c->point_count - 1].step > step) c->point_count--;
    while (c->epoch_count > 0 && c->epochs[c->epoch_count - 1].step > step) c->epoch_count--;
}
