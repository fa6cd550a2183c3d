/* vit-bench: what it measures. Unlike the other programs it looks inside the library. */
#ifndef VIT_CLI_BENCH_BENCH_H
#define VIT_CLI_BENCH_BENCH_H

#include "vit/kernels/kernels.h"
#include "vit/train/recipe/preset.h"
#include "vit/vit.h"

typedef struct bench {
    vit_preset preset; /* network and recipe */
    const char *model; /* infer, read, explain: the file or directory measured; model: the file
                          written; or NULL */
    size_t batch;
    size_t beams, tokens; /* read: of each text */
    const vit_kernels *kernels;
    int threads;
    bool recompute, json;
    vit_precision precision;
    double peak; /* GFLOP/s of a register-only loop in it, measured in this run */
} bench;

/* One measured thing: a line of the table, or one JSON object. */
typedef struct bench_line {
    const char *what; /* "train", "infer", "gemm", or the operator */
    char detail[64];  /* shapes, for people and as "shape" */
    double seconds;   /* median */
    double flop;      /* of one run: 2 x multiply-adds, 3 x that for a training step; 0: none */
    double bytes;     /* that one run reads and writes, computed from the shapes; 0: not known */
    double loader;    /* seconds of one thread that a training step spends loading; 0: not known */
    double answers;   /* how many ordinary answers take as long; 0: not known */
    size_t images;    /* of one run; 0: not a matter of pictures */
} bench_line;

/* As a user has a model: from a file. Without --model it is written first, and goes again. */
vit_status bench_load_model(vit_model **out, const bench *b, vit_error *error);

void bench_print(const bench *b, const bench_line *line);

/* bench_peak.c: 10^9 fused multiply-adds, counted double, per second of all threads together. */
double bench_peak(vit_cpu cpu, vit_precision precision, int threads);

/* bench_time.c: median seconds of run(context), after two unmeasured, over about two seconds, or
 * as many as given. */
typedef void bench_run(void *context);
double bench_median_of(double *values, size_t n); /* which are sorted */
double bench_median(bench_run *run, void *context);
double bench_median_within(bench_run *run, void *context, double seconds);

/* What each mode measures and prints. */
vit_status bench_train(const bench *b, vit_error *error);
vit_status bench_infer(const bench *b, vit_error *error);
vit_status bench_explain(const bench *b, vit_error *error);
vit_status bench_read(const bench *b, vit_error *error);
vit_status bench_model(const bench *b, vit_error *error);
vit_status bench_gemm(const bench *b, vit_error *error);
vit_status bench_ops(const bench *b, vit_error *error);
vit_status bench_resize(const bench *b, vit_error *error);

/* The last part of bench_ops. */
vit_status bench_optimiser(const bench *b, vit_error *error);

#endif
