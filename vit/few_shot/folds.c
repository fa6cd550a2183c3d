/* Answers to pictures that are left out a fold at a time. */
#include "vit/base/sys.h"
#include "vit/few_shot/solve.h"
#include <string.h>

vit_status vit_deal_folds(uint8_t *folds, const vit_samples *x, size_t count, vit_error *error) {
    size_t *seen = vit_alloc(x->classes, sizeof *seen);
    if (!seen) return vit_fail_memory(error, "classes", x->classes * sizeof *seen);
    for (size_t i = 0; i < x->pictures; i++) {
        const size_t label = x->labels[i];
        const bool leads = !x->groups || x->groups[i] == i;
        folds[i] = leads ? (uint8_t)((seen[label]++ + label) % count) : folds[x->groups[i]];
    }
    vit_free(seen);
    return VIT_OK;
}

/* The pictures of the other folds. */
typedef struct others {
    uint8_t *folds;  /* [pictures] */
    float *features; /* [pictures][views][width], of which the others are the first */
    size_t *labels;
    uint32_t *groups, *place; /* place: where each picture stands among the others */
} others;

static vit_samples take_others(others *o, const vit_samples *all, size_t fold) {
    vit_samples x = *all;
    const size_t picture = x.views * x.width;
    x.pictures = 0;
    x.features = o->features;
    x.labels = o->labels;
    x.groups = o->groups;
    for (size_t i = 0; i < all->pictures; i++) {
        if (o->folds[i] == fold) continue;
        const size_t at = x.pictures++;
        memcpy(o->features + at * picture, all->features + i * picture,
               picture * sizeof *o->features);
        o->place[i] = (uint32_t)at;
        o->labels[at] = all->labels[i];
        o->groups[at] = all->groups ? o->place[all->groups[i]] : (uint32_t)at;
    }
    return x;
}

static void answer(float *without, const others *o, const vit_samples *x, size_t fold,
                   const vit_linear_head *head) {
    for (size_t i = 0; i < x->pictures; i++) {
        const float *features = x->features + i * x->views * x->width;
        if (o->folds[i] != fold) continue;
        for (size_t k = 0; k < x->classes; k++) {
            double z = head->bias[k];
            for (size_t j = 0; j < x->width; j++)
                z += head->weights[k * x->width + j] * (double)features[j];
            without[i * x->classes + k] = (float)z;
        }
    }
}

static vit_status solve_all(float *without, others *o, vit_solver_function *solver,
                            const vit_samples *x, size_t count, const vit_kernels *kernels,
                            int threads, vit_error *error) {
    vit_status status = vit_deal_folds(o->folds, x, count, error);
    for (size_t fold = 0; fold < count && status == VIT_OK; fold++) {
        vit_solution solution = {0};
        const vit_samples rest = take_others(o, x, fold);
        if (rest.pictures == 0)
            status = vit_fail(error, VIT_ERROR_ARGUMENT,
                              "all pictures are in one of %zu folds, as copies are: there is none "
                              "to compute the head of the others from",
                              count);
        if (status == VIT_OK) status = vit_solve(&solution, solver, &rest, kernels, threads, error);
        if (status == VIT_OK) answer(without, o, x, fold, &solution.head);
        vit_solution_free(&solution);
    }
    return status;
}

vit_status vit_solve_folds(float *without, vit_solver_function *solver, const vit_samples *x,
                           size_t count, const vit_kernels *kernels, int threads,
                           vit_error *error) {
    const size_t n = x->pictures;
    others o = {.folds = vit_alloc(n, sizeof *o.folds),
                .features = vit_alloc_unset(n, x->views * x->width * sizeof *o.features),
                .labels = vit_alloc(n, sizeof *o.labels),
                .groups = vit_alloc(n, sizeof *o.groups),
                .place = vit_alloc(n, sizeof *o.place)};
    vit_status status;
    if (o.folds && o.features && o.labels && o.groups && o.place)
        status = solve_all(without, &o, solver, x, count, kernels, threads, error);
    else
        status = vit_fail_memory(error, "folds", n * x->views * x->width * sizeof *o.features);
    vit_free(o.folds);
    vit_free(o.features);
    vit_free(o.labels);
    vit_free(o.groups);
    vit_free(o.place);
    return status;
}
