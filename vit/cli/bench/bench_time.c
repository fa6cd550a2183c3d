#include "vit/base/order.h"
#include "vit/base/sys.h"
#include "vit/cli/bench/bench.h"
#include "vit/cli/parts/program.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 2.0
#define MOST_RUNS 2000
#define LEAST_RUNS 5
#define LEAST_TURNS 7

double bench_median_of(double *values, size_t n) {
    qsort(values, n, sizeof *values, vit_compare_doubles);
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

vit_status bench_turns(const bench *b, const bench_kind *kinds, size_t count, bench_turn *run,
                       void *context, vit_error *error) {
    double(*times)[MOST_RUNS] = vit_alloc(2 * count, sizeof *times), (*shares)[MOST_RUNS];
    vit_status status = VIT_OK;
    size_t n = 0;
    if (!times) return vit_fail_memory(error, "times", 2 * count * sizeof *times);
    shares = times + count;
    for (size_t kind = 0; kind < count && status == VIT_OK; kind++)
        status = run(context, kind, error);
    const double start = vit_clock();
    for (; n < LEAST_TURNS || (n < MOST_RUNS && vit_clock() - start < SECONDS); n++)
        for (size_t kind = 0; kind < count && status == VIT_OK; kind++) {
            const double before = vit_clock();
            status = run(context, kind, error);
            times[kind][n] = vit_clock() - before;
            shares[kind][n] = times[kind][n] / times[0][n];
        }
    for (size_t kind = 0; kind < count && status == VIT_OK; kind++) {
        bench_line line = {.what = kinds[kind].what, .images = 1};
        snprintf(line.detail, sizeof line.detail, "%s", kinds[kind].detail);
        line.seconds = bench_median_of(times[kind], n);
        line.answers = bench_median_of(shares[kind], n);
        bench_print(b, &line);
    }
    vit_free(times);
    return status;
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

/* null for 0 */
static void add_number(vit_json_out *json, const char *key, double value, int digits) {
    vit_json_fixed(json, key, value > 0 ? value : NAN, digits);
}

static void print_json(const bench *b, const bench_line *l) {
    char brand[64];
    vit_json_out json = {0};
    vit_cpu_brand(brand, sizeof brand);
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "what", l->what);
    vit_json_text(&json, "model", b->preset.name);
    vit_json_text(&json, "shape", l->detail);
    vit_json_count(&json, "batch", b->batch);
    vit_json_text(&json, "precision", vit_precision_names[b->precision]);
    vit_json_count(&json, "threads", (uint64_t)b->threads);
    vit_json_text(&json, "cpu", vit_cpu_name(b->kernels->cpu));
    vit_json_text(&json, "processor", brand);
    add_number(&json, "ms", l->seconds * 1e3, 6);
    add_number(&json, "images_per_second", (double)l->images / l->seconds, 1);
    vit_json_fixed(&json, "gflops", l->flop / l->seconds / 1e9, 2);
    add_number(&json, "peak_gflops", b->peak, 1);
    add_number(&json, "bytes", l->bytes, 0);
    add_number(&json, "gbytes_per_second", l->bytes / l->seconds / 1e9, 4);
    add_number(&json, "loader_ms", l->loader * 1e3, 5);
    add_number(&json, "loader_share", loader_share(b, l), 5);
    add_number(&json, "answers", l->answers, 3);
    add_number(&json, "resident_mib", resident_mib(), 1);
    vit_json_close(&json, '}');
    vit_json_end_line(&json, stdout); /* what is lost is found at the end of the program */
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
