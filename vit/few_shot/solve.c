#include "vit/few_shot/solve.h"
#include "vit/base/sys.h"

vit_status vit_solve(vit_solution *out, vit_solver_function *solver, const vit_samples *samples,
                     const vit_kernels *kernels, int threads, vit_error *error) {
    const size_t c = samples->classes, d = samples->width;
    vit_spectrum s;
    *out = (vit_solution){.without = vit_alloc(samples->pictures, c * sizeof *out->without)};
    out->head.weights = vit_alloc(c, d * sizeof *out->head.weights);
    out->head.bias = vit_alloc(c, sizeof *out->head.bias);
    if (!out->without || !out->head.weights || !out->head.bias)
        return vit_fail_memory(error, "a head", c * (d + samples->pictures) * sizeof(double));
    vit_status status = vit_spectrum_new(&s, samples, kernels, threads, error);
    if (status == VIT_OK) status = solver(out, &s, error);
    vit_spectrum_free(&s);
    return status;
}

void vit_solution_free(vit_solution *s) {
    vit_free(s->head.weights);
    vit_free(s->head.bias);
    vit_free(s->without);
    *s = (vit_solution){0};
}
