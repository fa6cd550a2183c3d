#include "vit/explain/occlude.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/explain/maps.h"
#include "vit/model/run/infer.h"
#include <string.h>

/* The context of `fill`. */
typedef struct source {
    const vit_config *config;
    const float *image;
    const vit_occluded *pictures;
} source;

static bool lacks(const source *s, size_t picture, size_t patch) {
    const vit_occluded *p = s->pictures;
    const size_t done = picture * p->step;
    switch (p->kind) {
    case VIT_OCCLUDE_ONE:
        return patch == picture;
    case VIT_OCCLUDE_MORE:
        return p->rank[patch] < done;
    case VIT_OCCLUDE_LESS:
        return p->rank[patch] >= done;
    case VIT_OCCLUDE_COUNT:
        break;
    }
    return false;
}

static vit_status fill(float *images, size_t first, size_t count, void *context, vit_error *error) {
    const source *s = context;
    if (s->pictures->options && !vit_map_goes_on(s->pictures->options))
        return vit_fail(error, VIT_ERROR_CANCELLED, "the map was cancelled before patch %zu",
                        first);
    const vit_config *c = s->config;
    const size_t line = c->width * c->channels, size = c->height * line;
    const size_t columns = c->width / c->patch, part = c->patch * c->channels;
    for (size_t i = first; i < first + count; i++, images += size) {
        memcpy(images, s->image, size * sizeof *images);
        for (size_t n = 0; n < vit_config_patches(c); n++) {
            if (!lacks(s, i, n)) continue;
            float *at = images + n / columns * c->patch * line + n % columns * part;
            for (size_t y = 0; y < c->patch; y++) memset(at + y * line, 0, part * sizeof *at);
        }
    }
    return VIT_OK;
}

vit_status vit_occlude(double *doubts, const vit_explainer *e, const float *image,
                       const vit_occluded *pictures, size_t index, vit_error *error) {
    const size_t classes = e->network->config.classes, n = pictures->count;
    source s = {&e->network->config, image, pictures};
    vit_inference *inference = NULL;
    float *logits = vit_alloc(n, classes * sizeof *logits);
    if (!logits) return vit_fail_memory(error, "answers", n * classes * sizeof *logits);
    vit_status status =
        vit_inference_new(&inference, e->network, e->exec.kernels, e->exec.threads, error);
    if (status == VIT_OK) status = vit_inference_run(inference, logits, NULL, fill, &s, n, error);
    for (size_t i = 0; i < n && status == VIT_OK; i++)
        doubts[i] = vit_map_doubt(logits + i * classes, classes, index);
    vit_inference_free(inference);
    vit_free(logits);
    return status;
}

/* *rank: [n], freed by vit_free: the place of each value in descending order. */
static vit_status rank_values(size_t **rank, const float *values, size_t n, vit_error *error) {
    size_t *order = vit_alloc(n, sizeof *order);
    *rank = vit_alloc(n, sizeof **rank);
    if (order && *rank) {
        vit_top_k(values, n, n, order);
        for (size_t i = 0; i < n; i++) (*rank)[order[i]] = i;
    }
    const bool failed = !order || !*rank;
    vit_free(order);
    return failed ? vit_fail_memory(error, "an order", 2 * n * sizeof **rank) : VIT_OK;
}

size_t vit_curve_points(size_t patches, size_t step) {
    return vit_ceil_div(patches, step) + 1;
}

vit_status vit_map_curve(float *curve, double *area, const vit_explainer *e, const float *image,
                         const float *values, bool insertion, size_t step, size_t index,
                         vit_error *error) {
    const size_t n = vit_config_patches(&e->network->config), points = vit_curve_points(n, step);
    size_t *rank = NULL;
    double *doubts = vit_alloc(points, sizeof *doubts);
    vit_status status = doubts ? VIT_OK : vit_fail_memory(error, "a curve", points);
    if (status == VIT_OK) status = rank_values(&rank, values, n, error);
    const vit_occluded pictures = {.kind = insertion ? VIT_OCCLUDE_LESS : VIT_OCCLUDE_MORE,
                                   .count = points,
                                   .step = step,
                                   .rank = rank};
    if (status == VIT_OK) status = vit_occlude(doubts, e, image, &pictures, index, error);
    *area = 0;
    for (size_t i = 0; i < points && status == VIT_OK; i++) {
        curve[i] = (float)(1 - doubts[i]);
        if (i == 0) continue;
        const size_t width = vit_min(i * step, n) - (i - 1) * step; /* the last may be smaller */
        *area += (double)width / (double)n * (1 - .5 * (doubts[i - 1] + doubts[i]));
    }
    vit_free(doubts);
    vit_free(rank);
    return status;
}
