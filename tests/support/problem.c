#include "tests/support/problem.h"
#include "tests/support/unit.h"
#include "vit/ops/gemm/gemm.h"
#include <stdlib.h>
#include <string.h>

vit_exec one_thread(void) {
    static float room[VIT_GEMM_ROOM];
    return (vit_exec){.kernels = vit_kernels_choose(VIT_CPU_AVX512), .threads = 1, .room = room};
}

problem problem_new(size_t n, size_t outputs, uint32_t seed) {
    problem p = {.n = n, .outputs = outputs};
    vit_random r = check_random(seed);
    p.theta = check_floats(n);
    p.gradient = check_floats(n);
    p.before = check_floats(n);
    p.dy = check_floats(outputs);
    p.y = check_floats(outputs);
    p.exact = check_doubles(n);
    p.bound = check_doubles(n);
    p.want = check_doubles(outputs);
    p.want_bound = check_doubles(outputs);
    check_fill(p.theta, n, 2, &r);
    check_fill(p.dy, outputs, 1, &r);
    for (size_t i = 0; i < n; i++) p.exact[i] = (double)p.theta[i];
    return p;
}

void problem_add_to(problem *p, size_t from) {
    vit_random r = check_random(9);
    check_fill(p->before + from, p->n - from, 1, &r);
    memcpy(p->gradient, p->before, p->n * sizeof(float));
}

void problem_free(problem *p) {
    float *const floats[] = {p->theta, p->gradient, p->before, p->dy, p->y};
    double *const doubles[] = {p->exact, p->bound, p->want, p->want_bound};
    for (size_t i = 0; i < 5; i++) free(floats[i]);
    for (size_t i = 0; i < 4; i++) free(doubles[i]);
}

void check_forward(const char *what, const problem *p) {
    assert_true(check_within(what, p->y, p->want, p->want_bound, p->outputs));
}

void check_backward(const char *what, const problem *p, check_loss *loss, const void *context) {
    assert_true(
        check_gradient(what, loss, context, p->exact, p->n, p->gradient, p->before, p->bound));
}

double weighted(const double *y, const float *dy, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += y[i] * (double)dy[i];
    return sum;
}
