/* Maps of a class by its pixels: gradients with respect to them, and what happens without a patch.
 */
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/explain/maps.h"
#include "vit/explain/occlude.h"
#include <math.h>

static size_t picture_size(const vit_map_call *m) {
    const vit_config *c = &m->explainer->network->config;
    return c->height * c->width * c->channels;
}

/* The gradient of the class's logit, [height][width][channels], for the last forward pass. */
static const float *pixel_gradient(const vit_map_call *m) {
    vit_explainer_backward_head(m->explainer, m->map->class_index);
    vit_explainer_backward_blocks(m->explainer, NULL, NULL);
    vit_explainer_backward_picture(m->explainer);
    return m->explainer->state.stem.d_images;
}

/* values: [N] = sums over each patch's pixels and channels of factor * value; factor NULL: of
 * |value|. */
static void sum_patches(const vit_map_call *m, float *values, const float *value,
                        const float *factor) {
    const vit_config *c = &m->explainer->network->config;
    const size_t columns = m->map->columns, line = c->width * c->channels;
    for (size_t i = 0; i < m->patches; i++) {
        const size_t at = i / columns * c->patch * line + i % columns * c->patch * c->channels;
        double sum = 0;
        for (size_t y = 0; y < c->patch; y++)
            for (size_t j = at + y * line; j < at + y * line + c->patch * c->channels; j++)
                sum += factor ? (double)factor[j] * (double)value[j] : fabs((double)value[j]);
        values[i] = (float)sum;
    }
}

static vit_status gradient_end(vit_map_call *m, vit_error *error) {
    (void)error;
    sum_patches(m, m->map->values, pixel_gradient(m), NULL);
    return VIT_OK;
}

const vit_map_method vit_map_gradient = {.name = "gradient", .of_class = true, .end = gradient_end};

/* ---- integrated gradients (Sundararajan, Taly, Yan: Axiomatic Attribution for Deep Networks): x
 * times the mean gradient on the straight path from 0, the mean picture, to x, taken at the middle
 * of each step ---- */

/* m->scratch: the picture on the path, and the sum of the gradients. */
static size_t integrated_scratch(const vit_map_call *m) {
    return 2 * picture_size(m);
}

static vit_status integrated_end(vit_map_call *m, vit_error *error) {
    const size_t size = picture_size(m), steps = m->options->steps > 0 ? m->options->steps : 32;
    float *image = m->scratch, *sum = m->scratch + size;
    for (size_t s = 0; s < steps; s++) {
        if (!vit_map_goes_on(m->options))
            return vit_fail(error, VIT_ERROR_CANCELLED, "the map was cancelled before step %zu", s);
        const float share = (float)(((double)s + .5) / (double)steps);
        for (size_t i = 0; i < size; i++) image[i] = share * m->image[i];
        const vit_status status = vit_explainer_forward(m->explainer, image, NULL, NULL, error);
        if (status != VIT_OK) return status;
        const float *d = pixel_gradient(m);
        for (size_t i = 0; i < size; i++) sum[i] += d[i] / (float)steps;
    }
    sum_patches(m, m->map->values, sum, m->image);
    return VIT_OK;
}

const vit_map_method vit_map_integrated = {.name = "integrated",
                                           .passes = true,
                                           .of_class = true,
                                           .scratch_size = integrated_scratch,
                                           .end = integrated_end};

/* ---- occlusion (Zeiler, Fergus: Visualizing and Understanding Convolutional Networks, section
 * 4.2) ---- */

static vit_status occlusion_end(vit_map_call *m, vit_error *error) {
    const vit_explainer *e = m->explainer;
    const size_t n = m->patches, index = m->map->class_index;
    const double whole = vit_map_doubt(e->state.head.logits, e->network->config.classes, index);
    double *doubts = vit_alloc(n, sizeof *doubts);
    if (!doubts) return vit_fail_memory(error, "a map", n * sizeof *doubts);
    const vit_occluded pictures = {.kind = VIT_OCCLUDE_ONE, .count = n, .options = m->options};
    const vit_status status = vit_occlude(doubts, e, m->image, &pictures, index, error);
    for (size_t i = 0; i < n && status == VIT_OK; i++)
        m->map->values[i] = (float)(doubts[i] - whole);
    vit_free(doubts);
    return status;
}

const vit_map_method vit_map_occlusion = {
    .name = "occlusion", .passes = true, .of_class = true, .end = occlusion_end};

/* ---- random ---- */

static vit_status random_end(vit_map_call *m, vit_error *error) {
    (void)error;
    vit_random r = vit_random_start(m->options->seed, VIT_RANDOM_MAP, 0, 0);
    for (size_t i = 0; i < m->patches; i++) m->map->values[i] = (float)vit_random_uniform(&r);
    return VIT_OK;
}

const vit_map_method vit_map_random = {.name = "random", .of_class = true, .end = random_end};
