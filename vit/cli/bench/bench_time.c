#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/cli/bench/bench.h"
#include "vit/cli/parts/program.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 2.0
#define MOST_RUNS 2000
#define LEAST_RUNS 5

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median_of(double *values, size_t n) {
    qsort(values, n, sizeof *values, by_size);
    return values[n / 2];
}

double bench_median_within(bench_run *run, void *context, double seconds) {
    double times[MOST_RUNS];
    size_t n = 0;
    run(context);
    run(context);
    const double start = vit_clock();
    while (n < LEAST_RUNS || (n < MOST_RUNS && vit_clock() - start < seconds)) {
        const double before = vit_clock();
        run(context);
        times[n++] = vit_clock() - before;
    }
    return bench_median_of(times, n);
}

double bench_median(bench_run *run, void *context) {
    return bench_median_within(run, context, SECONDS);
}

/* The largest resident memory of this process so far, in MiB; 0 if the system does not say. */
static double resident_mib(void) {
    char line[128];
    double mib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0) mib = (double)strtoul(line + 6, NULL, 10) / 1024;
    fclose(file);
    return mib;
}

/* The share of loading in the time of all threads. */
static double loader_share(const bench *b, const bench_line *l) {
    return l->loader / (l->seconds * b->threads);
}

/* Adds `, "key": value`, with null for 0. */
static void add_number(vit_string *t, const char *key, double value, int digits) {
    char number[32];
    vit_string_add(t, ", \"%s\": %s", key,
                   value > 0 ? vit_format_fixed(number, value, digits) : "null");
}

static void print_json(const bench *b, const bench_line *l) {
    char brand[64], gflops[32];
    vit_string t = {0};
    vit_cpu_brand(brand, sizeof brand);
    vit_string_add(&t, "{\"what\": \"%s\", \"model\": ", l->what);
    vit_string_add_json(&t, b->preset.name);
    vit_string_add(&t, ", \"shape\": ");
    vit_string_add_json(&t, l->detail);
    vit_string_add(&t, ", \"batch\": %zu, \"precision\": \"%s\", \"threads\": %d, ", b->batch,
                   vit_precision_names[b->precision], b->threads);
    vit_string_add(&t, "\"cpu\": \"%s\", \"processor\": ", vit_cpu_name(b->kernels->cpu));
    vit_string_add_json(&t, brand);
    add_number(&t, "ms", l->seconds * 1e3, 6);
    add_number(&t, "images_per_second", (double)l->images / l->seconds, 1);
    vit_string_add(&t, ", \"gflops\": %s", vit_format_fixed(gflops, l->flop / l->seconds / 1e9, 2));
    add_number(&t, "peak_gflops", b->peak, 1);
    add_number(&t, "bytes", l->bytes, 0);
    add_number(&t, "gbytes_per_second", l->bytes / l->seconds / 1e9, 4);
    add_number(&t, "loader_ms", l->loader * 1e3, 5);
    add_number(&t, "loader_share", loader_share(b, l), 5);
    add_number(&t, "answers", l->answers, 3);
    add_number(&t, "resident_mib", resident_mib(), 1);
    vit_string_add(&t, "}");
    puts(t.failed ? "{\"error\": \"out of memory\"}" : t.text);
    vit_string_free(&t);
    fflush(stdout);
}

void bench_print(const bench *b, const bench_line *l) {
    const double gflops = l->flop / l->seconds / 1e9;
    if (b->json) {
        print_json(b, l);
        return;
    }
    printf("%-24s %-28s %11.5f ms", l->what, l->detail, l->seconds * 1e3);
    if (l->images > 0) printf(" %10.1f images/s", (double)l->images / l->seconds);
    if (l->flop > 0) printf(" %8.1f GFLOP/s, %.2f of the peak", gflops, gflops / b->peak);
    if (l->bytes > 0) printf(" %8.1f GB/s", l->bytes / l->seconds / 1e9);
    if (l->answers > 0) printf(", %.2f x an answer", l->answers);
    putchar('\n');
    if (l->loader > 0)
        printf("  of it the loader: %.4f ms of one thread, %.2f %% of the step\n", l->loader * 1e3,
               100 * loader_share(b, l));
    fflush(stdout);
}
