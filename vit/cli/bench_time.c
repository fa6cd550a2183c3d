#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/cli/bench.h"
#include <stdio.h>
#include <stdlib.h>

#define SECONDS 2.0
#define MOST_RUNS 2000
#define LEAST_RUNS 5

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(bench_run *run, void *context) {
    double times[MOST_RUNS];
    size_t n = 0;
    run(context);
    run(context);
    const double start = vit_clock();
    while (n < LEAST_RUNS || (n < MOST_RUNS && vit_clock() - start < SECONDS)) {
        const double before = vit_clock();
        run(context);
        times[n++] = vit_clock() - before;
    }
    qsort(times, n, sizeof *times, by_size);
    return times[n / 2];
}

static void print_json(const bench *b, const bench_line *l) {
    char ms[32], rate[32], gflops[32], peak[32], brand[64];
    vit_text t = {0};
    vit_cpu_brand(brand, sizeof brand);
    vit_text_add(&t, "{\"what\": \"%s\", \"model\": ", l->what);
    vit_text_add_json(&t, b->preset.name);
    vit_text_add(&t, ", \"shape\": ");
    vit_text_add_json(&t, l->detail);
    vit_text_add(&t, ", \"batch\": %zu, \"precision\": \"f32\", \"threads\": %d, ", b->batch,
                 b->threads);
    vit_text_add(&t, "\"cpu\": \"%s\", \"processor\": ", vit_cpu_name(b->kernels->cpu));
    vit_text_add_json(&t, brand);
    vit_text_add(&t, ", \"ms\": %s, \"images_per_second\": %s, \"gflops\": %s, ",
                 vit_format_fixed(ms, l->seconds * 1e3, 4),
                 l->images ? vit_format_fixed(rate, (double)l->images / l->seconds, 1) : "null",
                 vit_format_fixed(gflops, l->flop / l->seconds / 1e9, 2));
    vit_text_add(&t, "\"peak_gflops\": %s}", vit_format_fixed(peak, b->peak, 1));
    puts(t.failed ? "{\"error\": \"out of memory\"}" : t.text);
    vit_text_free(&t);
    fflush(stdout);
}

void bench_print(const bench *b, const bench_line *l) {
    const double gflops = l->flop / l->seconds / 1e9;
    if (b->json) {
        print_json(b, l);
        return;
    }
    printf("%-18s %-28s %10.4f ms", l->what, l->detail, l->seconds * 1e3);
    if (l->images > 0) printf(" %10.1f images/s", (double)l->images / l->seconds);
    if (l->flop > 0) printf(" %8.1f GFLOP/s, %.2f of the peak", gflops, gflops / b->peak);
    putchar('\n');
    fflush(stdout);
}
