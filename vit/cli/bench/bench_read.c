/* Pictures read by a model that writes texts: the encoder once, then one token after the other. */
#include "vit/api/internal.h"
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/cli/bench/bench.h"
#include "vit/model/run/generate.h"
#include <stdio.h>

typedef struct reading {
    vit_generator *writer;
    float *images;
    size_t batch;
    vit_generated *texts; /* [batch] */
} reading;

static void read_batch(void *context) {
    reading *r = context;
    vit_generate(r->writer, r->texts, r->images, NULL, r->batch, 0);
}

/* Without an id that ends a text (how.end), each has as many tokens as were asked for. */
static vit_status open_reading(reading *r, const bench *b, const vit_model *model,
                               vit_error *error) {
    const vit_config *c = &model->file.config;
    const size_t floats = b->batch * c->height * c->width * c->channels;
    const vit_exec exec = {.kernels = b->kernels, .threads = b->threads, .precision = b->precision};
    const vit_network *network;
    vit_generation how = vit_generation_default(c);
    how.beams = b->beams;
    how.length = b->tokens + 1;
    how.end = SIZE_MAX;
    r->batch = b->batch;
    r->images = vit_alloc(floats, sizeof *r->images);
    r->texts = vit_alloc(b->batch, sizeof *r->texts);
    if (!r->images || !r->texts)
        return vit_fail_memory(error, "pictures of noise", floats * sizeof *r->images);
    vit_random random = vit_random_start(0, VIT_RANDOM_TEST, 0, 0);
    for (size_t i = 0; i < floats; i++) r->images[i] = (float)(2 * vit_random_uniform(&random) - 1);
    const vit_status status = vit_model_network(&network, model, &exec, error);
    return status != VIT_OK ? status
                            : vit_generator_new(&r->writer, network, &how, b->kernels, b->threads,
                                                b->batch, error);
}

vit_status bench_read(const bench *b, vit_error *error) {
    vit_model *model = NULL;
    reading r = {0};
    vit_status status = bench_load_model(&model, b, error);
    if (status != VIT_OK) return status;
    status = vit_model_needs(model, true, error);
    if (status == VIT_OK && !vit_config_takes_pictures(&model->file.config))
        status = vit_fail(error, VIT_ERROR_MISMATCH, "%s reads no pictures", b->model);
    if (status == VIT_OK) status = open_reading(&r, b, model, error);
    if (status == VIT_OK) {
        bench_line line = {.what = "read", .images = b->batch};
        snprintf(line.detail, sizeof line.detail, "batch %zu, beams %zu, %zu tokens", b->batch,
                 b->beams, b->tokens);
        line.seconds = bench_median(read_batch, &r);
        bench_print(b, &line);
    }
    vit_generator_free(r.writer);
    vit_free(r.texts);
    vit_free(r.images);
    vit_model_free(model);
    return status;
}
