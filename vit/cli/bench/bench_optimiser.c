/* What a training step does with all weights: adding lanes, AdamW, packing; on one thread. */
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/cli/bench/bench.h"
#include "vit/train/step/adamw.h"
#include "vit/train/step/lanes.h"
#include <stdio.h>

#define LANES 8 /* of gradients, as a small network has */

typedef struct optimiser {
    const bench *bench;
    vit_table table;
    vit_chunks chunks;
    float *values, *m, *v, *gradients, *packed;
} optimiser;

static void sum_lanes(void *context) {
    optimiser *o = context;
    vit_lanes lanes = {
        .trained = &o->table, .own = LANES, .in_chain = {LANES}, .gradients = o->gradients};
    double norm;
    vit_lanes_sum(&lanes, &norm, &o->chunks, o->bench->kernels, 1);
}

static void adamw(void *context) {
    optimiser *o = context;
    const vit_adamw_state state = {
        .values = o->values, .m = o->m, .v = o->v, .gradient = o->gradients};
    vit_adamw_update(&o->chunks, o->bench->kernels, 1, &state, &o->bench->preset.recipe, 1e-4, 1,
                     9);
}

static void pack(void *context) {
    optimiser *o = context;
    const vit_exec exec = {.kernels = o->bench->kernels, .threads = 1};
    const vit_packed_weights packed = {.transposed = o->packed};
    vit_table_pack(&exec, &packed, o->values, &o->table);
}

static vit_status make(optimiser *o, const bench *b, vit_error *error) {
    *o = (optimiser){.bench = b};
    vit_status status = vit_table_new(&o->table, &b->preset.config, error);
    if (status == VIT_OK) status = vit_chunks_new(&o->chunks, &o->table, &b->preset.recipe, error);
    if (status != VIT_OK) return status;
    const size_t n = o->table.size;
    o->values = vit_alloc(n, sizeof(float));
    o->m = vit_alloc(n, sizeof(float));
    o->v = vit_alloc(n, sizeof(float));
    o->gradients = vit_alloc(LANES * n, sizeof(float));
    o->packed = vit_alloc(o->table.packed_size, sizeof(float));
    if (!o->values || !o->m || !o->v || !o->gradients || !o->packed)
        return vit_fail_memory(error, "weights and gradients", (LANES + 4) * n * sizeof(float));
    vit_table_init(1, o->values, &o->table, b->preset.config.init, 0);
    vit_random r = vit_random_start(0, VIT_RANDOM_TEST, 3, 0);
    for (size_t i = 0; i < LANES * n; i++) o->gradients[i] = (float)vit_random_uniform(&r) * 1e-9f;
    return VIT_OK;
}

vit_status bench_optimiser(const bench *b, vit_error *error) {
    static const struct {
        const char *name;
        bench_run *run;
        int copies; /* of the weights that are read or written */
    } runs[] = {
        {"gradient lanes", sum_lanes, LANES + 1}, {"adamw", adamw, 7}, {"packing", pack, 2}};
    optimiser o;
    const vit_status status = make(&o, b, error);
    for (size_t i = 0; i < sizeof runs / sizeof *runs && status == VIT_OK; i++) {
        const size_t n = runs[i].run == pack ? o.table.packed_size : o.table.size;
        bench_line line = {.what = runs[i].name, .bytes = 4. * runs[i].copies * (double)n};
        snprintf(line.detail, sizeof line.detail, "%zu weights", o.table.size);
        line.seconds = bench_median(runs[i].run, &o);
        bench_print(b, &line);
    }
    float *const arrays[] = {o.values, o.m, o.v, o.gradients, o.packed};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) vit_free(arrays[i]);
    vit_chunks_free(&o.chunks);
    vit_table_free(&o.table);
    return status;
}
