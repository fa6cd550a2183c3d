/* vit_train and what belongs to it, in vit/train. */
#include "datasets/dataset.h"
#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/train/find_lr.h"
#include "vit/train/run.h"
#include <stdlib.h>

uint8_t vit_draw_digit(uint8_t *pixels, uint64_t seed, uint32_t index) {
    VIT_ENTRY;
    return vit_digits_draw(pixels, seed, index);
}

const char *vit_preset_json(size_t i, const char **name) {
    for (size_t k = 0; k < i; k++)
        if (!vit_builtin_presets[k].name) return NULL;
    if (name) *name = vit_builtin_presets[i].name;
    return vit_builtin_presets[i].json;
}

/* Ranks on the same processors divide them, unless the number of threads was said. */
static int threads_of(int threads, const vit_train_options *o) {
    const int sharing = vit_cluster_sharing(o->cluster);
    if (o->threads > 0 || getenv("OMP_NUM_THREADS")) return threads;
    return threads > sharing ? threads / sharing : 1;
}

vit_status vit_train(vit_model **out, const vit_train_options *options, vit_error *error) {
    VIT_ENTRY;
    const vit_train_options none = {0}, *o = options ? options : &none;
    vit_run run = vit_run_begin(o);
    vit_model_file file = {0};
    if (out) *out = NULL;
    vit_status status = vit_choose(&run.kernels, &run.threads, o->cpu, o->threads, o->precision,
                                   VIT_BF16_ANY, error);
    run.threads = threads_of(run.threads, o);
    if (status == VIT_OK) status = vit_run_train(&run, out ? &file : NULL, error);
    if (status == VIT_OK && out) status = vit_model_from_file(out, &file, error);
    vit_model_file_clear(&file);
    return status;
}

vit_status vit_find_lr(vit_lr_search *out, const vit_train_options *options, vit_error *error) {
    VIT_ENTRY;
    vit_train_options o = options ? *options : (vit_train_options){0};
    o.out = o.checkpoint = o.rescue = o.report = o.tensorboard = NULL;
    o.resume = o.keep_best = false;
    o.epochs = o.minutes = 0;
    o.steps = o.schedule_steps = 0;
    vit_run run = vit_run_begin(&o);
    vit_status status =
        vit_choose(&run.kernels, &run.threads, o.cpu, o.threads, o.precision, VIT_BF16_ANY, error);
    run.threads = threads_of(run.threads, &o);
    if (status == VIT_OK) status = vit_run_find_lr(&run, out, error);
    return status;
}
