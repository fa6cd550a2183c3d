/* What a score against a bank of good patches costs, measured in turns with ordinary answers. */
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/cli/bench/bench.h"
#include "vit/few_shot.h"
#include "vit/maps.h"
#include "vit/reliance.h"

typedef struct testing {
    vit_model *model;
    vit_session *session;
    vit_bank *bank;
    vit_bank_info info;
    vit_bank_options search; /* on as many threads as the session */
    vit_picture picture;     /* of the size of the network's input */
    uint8_t *pixels;
    float *logits, *tokens, *map;
} testing;

static const bench_kind kinds[] = {{"answer", ""},
                                   {"tokens", "features of all patches"},
                                   {"anomaly", "score, p-value, distances"},
                                   {"heat map", "these, and a PNG"}};

static vit_status score(testing *t, vit_error *error) {
    vit_anomaly anomaly;
    vit_answer outcome;
    const vit_status status = vit_bank_test(t->bank, t->model, t->session, &t->picture, 1,
                                            &t->search, &anomaly, t->map, &outcome, error);
    if (status != VIT_OK || outcome.error.status == VIT_OK) return status;
    *error = outcome.error;
    return error->status;
}

static vit_status draw(testing *t, vit_error *error) {
    vit_buffer png = {0};
    const vit_map map = {.dims = 2,
                         .shape = {t->info.rows, t->info.columns},
                         .rows = t->info.rows,
                         .columns = t->info.columns,
                         .values = t->map,
                         .name = "distance"};
    vit_status status = score(t, error);
    if (status == VIT_OK) status = vit_map_png(t->session, t->pixels, &map, 1, &png, error);
    vit_buffer_clear(&png);
    return status;
}

static vit_status test(void *context, size_t kind, vit_error *error) {
    testing *t = context;
    vit_answer outcome;
    switch (kind) {
    case 0:
        return vit_classify_prepared(t->session, t->pixels, 1, t->logits, error);
    case 1:
        return vit_embed_tokens(t->session, &t->picture, 1, t->tokens, &outcome, error);
    case 2:
        return score(t, error);
    default:
        return draw(t, error);
    }
}

static vit_status make_picture(testing *t, vit_error *error) {
    const vit_model_info info = vit_model_describe(t->model);
    const size_t row = info.width * info.channels, bytes = info.height * row;
    vit_random r = vit_random_start(0, VIT_RANDOM_TEST, 0, 0);
    t->pixels = vit_alloc(bytes, 1);
    t->logits = vit_alloc(info.classes, sizeof *t->logits);
    t->tokens = vit_alloc(info.tokens * info.dim, sizeof *t->tokens);
    t->map = vit_alloc(t->info.rows * t->info.columns, sizeof *t->map);
    if (!t->pixels || !t->logits || !t->tokens || !t->map)
        return vit_fail_memory(error, "a picture", bytes);
    for (size_t i = 0; i < bytes; i++) t->pixels[i] = (uint8_t)vit_random_u32(&r);
    t->picture = (vit_picture){.name = "noise",
                               .pixels = t->pixels,
                               .width = info.width,
                               .height = info.height,
                               .channels = info.channels,
                               .stride = row};
    return VIT_OK;
}

vit_status bench_anomaly(const bench *b, vit_error *error) {
    const vit_session_options options = {b->threads, vit_cpu_name(b->kernels->cpu), b->precision,
                                         VIT_BF16_ANY};
    testing t = {.search = {.threads = b->threads, .cpu = options.cpu}};
    vit_status status = vit_bank_load(&t.bank, b->bank, error);
    if (status == VIT_OK) {
        t.info = vit_bank_describe(t.bank);
        status = bench_load_model(&t.model, b, error);
    }
    if (status == VIT_OK) status = vit_session_new(&t.session, t.model, &options, error);
    if (status == VIT_OK) status = vit_bank_check(t.bank, t.model, t.session, error);
    if (status == VIT_OK) status = make_picture(&t, error);
    if (status == VIT_OK) status = bench_turns(b, kinds, 4, test, &t, error);
    vit_session_free(t.session);
    vit_model_free(t.model);
    vit_bank_free(t.bank);
    vit_free(t.pixels);
    vit_free(t.logits);
    vit_free(t.tokens);
    vit_free(t.map);
    return status;
}
