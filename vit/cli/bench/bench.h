/* vit-bench: what it measures. Unlike the other programs it includes the library's internal
 * headers.
 */
#ifndef VIT_CLI_BENCH_BENCH_H
#define VIT_CLI_BENCH_BENCH_H

#include "vit/kernels/kernels.h"
#include "vit/train/recipe/preset.h"
#include "vit/vit.h"

typedef struct bench {
    vit_preset preset; /* network and recipe */
    const char *model; /* --model: the file or directory that is measured; in mode model the file to
                          write; NULL: not given */
    size_t batch;
    const char *bank;     /* in mode anomaly */
    size_t beams, tokens; /* of each text, in mode read */
    const vit_kernels *kernels;
    int threads;
    bool activation_checkpointing, json;
    vit_precision precision;
    double peak; /* bench_peak, measured in this run */
} bench;

/* One measurement: a line of the table, or a JSON object. 0 means not known, or not applicable. */
typedef struct bench_line {
    const char *what; /* "train", "infer", "gemm", or the operator */
    char detail[64];  /* shapes, for people and as "shape" */
    double seconds;   /* median */
    double flop;      /* of one run: 2 x multiply-adds; of a training step 3 x those of its forward
                         pass */
    double bytes;     /* that one run reads and writes, computed from the shapes */
    double loader;    /* seconds of one thread that a training step spends loading */
    double answers;   /* time, in times of an ordinary answer */
    size_t images;    /* of one run */
} bench_line;

/* Loads b->model; without --model, a file with random weights that is written for this and removed.
 * *out is freed by vit_model_free. */
vit_status bench_load_model(vit_model **out, const bench *b, vit_error *error);

/* Prints a line, with the largest resident memory so far in JSON. */
void bench_print(const bench *b, const bench_line *line);

/* The most that the machine can do: 10^9 floating-point operations a second (a fused multiply-add
 * counts as two) of a loop on registers, all threads together. */
double bench_peak(vit_cpu cpu, vit_precision precision, int threads);

/* Prints that of every precision with every instruction set that the processor and VIT_CPU allow.
 */
vit_status bench_peaks(const bench *b, vit_error *error);

/* The median of n values, which get sorted. */
double bench_median_of(double *values, size_t n);

/* The median seconds of run(context), after two runs to warm up, over about two seconds, or over as
 * many as given. */
typedef void bench_run(void *context);
double bench_median(bench_run *run, void *context);
double bench_median_within(bench_run *run, void *context, double seconds);

/* Measures `count` kinds in turns and prints a line for each, with the median of its times in times
 * of the first kind, an ordinary answer: in each turn the machine is as busy and as hot for one as
 * for the others. run: does what the kind of that number is. */
typedef struct bench_kind {
    const char *what, *detail;
} bench_kind;
typedef vit_status bench_turn(void *context, size_t kind, vit_error *error);
vit_status bench_turns(const bench *b, const bench_kind *kinds, size_t count, bench_turn *run,
                       void *context, vit_error *error);

/* The modes: each measures and prints. */
vit_status bench_train(const bench *b, vit_error *error);
vit_status bench_infer(const bench *b, vit_error *error);
vit_status bench_explain(const bench *b, vit_error *error);
vit_status bench_anomaly(const bench *b, vit_error *error);
vit_status bench_read(const bench *b, vit_error *error);
vit_status bench_model(const bench *b, vit_error *error);
vit_status bench_gemm(const bench *b, vit_error *error);
vit_status bench_ops(const bench *b, vit_error *error);
vit_status bench_resize(const bench *b, vit_error *error);

/* The last part of bench_ops. */
vit_status bench_optimiser(const bench *b, vit_error *error);

#endif
