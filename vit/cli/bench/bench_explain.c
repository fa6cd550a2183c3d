/* What maps of a picture cost, measured in turns with ordinary answers. */
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/cli/bench/bench.h"
#include "vit/maps.h"

typedef struct seeing {
    vit_session *session;
    const uint8_t *pixels;
    float *logits;
    double sum; /* of values that were computed, so that each is read */
} seeing;

static bool look(const vit_layer *layer, void *user) {
    seeing *s = user;
    s->sum += (double)layer->attention[0];
    return true;
}

static vit_status make_map(seeing *s, vit_method method, vit_error *error) {
    vit_map map;
    const vit_status status =
        vit_explain(s->session, s->pixels, &(vit_map_options){.method = method}, &map, error);
    if (status != VIT_OK) return status;
    s->sum += (double)map.values[0];
    vit_map_clear(&map);
    return VIT_OK;
}

static const bench_kind kinds[] = {{"answer", ""},
                                   {"attention", "all layers and heads"},
                                   {"rollout", "all layers"},
                                   {"relevance", "of the answer"}};

static vit_status see(void *context, size_t kind, vit_error *error) {
    seeing *s = context;
    switch (kind) {
    case 0:
        return vit_classify_prepared(s->session, s->pixels, 1, s->logits, error);
    case 1:
        return vit_explain_layers(s->session, s->pixels, NULL, s->logits, look, s, error);
    case 2:
        return make_map(s, VIT_METHOD_ROLLOUT, error);
    default:
        return make_map(s, VIT_METHOD_RELEVANCE, error);
    }
}

vit_status bench_explain(const bench *b, vit_error *error) {
    const vit_session_options options = {b->threads, vit_cpu_name(b->kernels->cpu), b->precision,
                                         VIT_BF16_ANY};
    vit_model *model = NULL;
    seeing s = {0};
    vit_status status = bench_load_model(&model, b, error);
    if (status != VIT_OK) return status;
    const vit_model_info info = vit_model_describe(model);
    const size_t bytes = info.height * info.width * info.channels;
    uint8_t *pixels = vit_alloc(bytes, 1);
    s.pixels = pixels;
    s.logits = vit_alloc(info.classes, sizeof *s.logits);
    if (!pixels || !s.logits) status = vit_fail_memory(error, "a picture", bytes);
    if (status == VIT_OK) {
        vit_random r = vit_random_start(0, VIT_RANDOM_TEST, 0, 0);
        for (size_t i = 0; i < bytes; i++) pixels[i] = (uint8_t)vit_random_u32(&r);
        status = vit_session_new(&s.session, model, &options, error);
    }
    if (status == VIT_OK) status = bench_turns(b, kinds, 4, see, &s, error);
    vit_session_free(s.session);
    vit_free(s.logits);
    vit_free(pixels);
    vit_model_free(model);
    return status;
}
