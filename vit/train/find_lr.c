#include "vit/train/find_lr.h"
#include "vit/base/math.h"

#include <math.h>

#define LOWEST 1e-5
#define HIGHEST 1.
#define SMOOTHING .9 /* share of the earlier losses in the running mean */
#define HOPELESS 1.5 /* the test ends when the loss is this many times the least */
#define SAFE 5       /* at the rate of the least loss steps begin to overshoot: take a fifth */
#define FALLS .98    /* a least loss below this share of the first one is a fall */

double vit_suggest_lr(const double *lr, const double *loss, size_t count) {
    size_t least = 0;
    for (size_t i = 1; i < count; i++)
        if (loss[i] < loss[least]) least = i;
    return loss[least] < FALLS * loss[0] ? lr[least] / SAFE : NAN;
}

static double rate(size_t step) {
    const double share = (double)step / (VIT_LR_STEPS - 1);
    return LOWEST * vit_exp(share * vit_log(HIGHEST / LOWEST));
}

static vit_status search(vit_run *run, vit_lr_search *out, vit_error *error) {
    double mean = 0, weight = 0, least = INFINITY;
    vit_loader_plan(&run->loader, run->plan.schedule);
    for (size_t step = 0; step < VIT_LR_STEPS; step++) {
        double loss;
        vit_event event;
        vit_loader_prepare(&run->loader, step);
        const vit_status status = vit_trainer_step(run->trainer, &loss, rate(step),
                                                   vit_loader_source, &run->loader, error);
        if (status != VIT_OK) return status;
        mean = SMOOTHING * mean + (1 - SMOOTHING) * loss;
        weight = SMOOTHING * weight + (1 - SMOOTHING);
        out->lr[step] = rate(step);
        out->loss[step] = mean / weight;
        out->count = step + 1;
        least = fmin(least, out->loss[step]);
        if (!isfinite(out->loss[step]) || out->loss[step] > HOPELESS * least) break;
        event = vit_run_event(run, VIT_EVENT_STEP);
        event.steps = VIT_LR_STEPS;
        event.loss = out->loss[step];
        event.lr = out->lr[step];
        if (!vit_run_emit(run, &event))
            return vit_fail(error, VIT_ERROR_CANCELLED,
                            "the search for a learning rate was stopped");
    }
    return VIT_OK;
}

vit_status vit_run_find_lr(vit_run *run, vit_lr_search *out, vit_error *error) {
    *out = (vit_lr_search){.suggested = NAN};
    vit_status status = vit_run_open(run, error);
    if (status == VIT_OK) {
        out->preset = run->preset.recipe.lr;
        status = search(run, out, error);
    }
    if (status == VIT_OK) out->suggested = vit_suggest_lr(out->lr, out->loss, out->count);
    vit_run_close(run);
    return status;
}
