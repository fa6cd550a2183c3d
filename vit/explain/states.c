/* Maps of the layers' states: what the head would make of them, and how similar they are. */
#include "vit/explain/maps.h"
#include <math.h>
#include <string.h>

/* ---- lens (nostalgebraist: interpreting GPT, the logit lens): the head applied to every layer's
 * output ---- */

static void lens_look(const vit_seen *seen, void *context) {
    vit_map_call *m = context;
    const size_t classes = m->explainer->network->config.classes;
    vit_explainer_head(m->explainer, m->map->values + seen->layer * classes, seen->z);
}

const vit_map_method vit_map_lens = {.name = "lens", .look = lens_look};

/* ---- similarity ---- */

/* out: [n] = the cosines of x: [dim] with the rows of y: [n][dim]; 0 for a row of zeros. */
static void cosines(float *out, const float *x, const float *y, size_t n, size_t dim) {
    double own = 0;
    for (size_t j = 0; j < dim; j++) own += (double)x[j] * (double)x[j];
    for (size_t i = 0; i < n; i++, y += dim) {
        double product = 0, other = 0;
        for (size_t j = 0; j < dim; j++) {
            product += (double)x[j] * (double)y[j];
            other += (double)y[j] * (double)y[j];
        }
        out[i] = own > 0 && other > 0 ? (float)(product / sqrt(own * other)) : 0;
    }
}

/* The map of n tokens z: [n][dim], whose last are the patches: the cosines of all of them, or those
 * of the patches with the tokens' mean by `weights`: [n]. mean: [dim] of scratch. */
static void similarity_of(const vit_map_call *m, const float *z, const float *weights, size_t n,
                          float *mean) {
    const size_t dim = m->explainer->network->config.dim, patches = m->patches;
    if (m->options->query == VIT_QUERY_ALL) {
        for (size_t i = 0; i < n; i++) cosines(m->map->values + i * n, z + i * dim, z, n, dim);
        return;
    }
    memset(mean, 0, dim * sizeof *mean);
    for (size_t t = 0; t < n; t++)
        for (size_t j = 0; j < dim && weights[t] != 0; j++) mean[j] += weights[t] * z[t * dim + j];
    cosines(m->map->values, mean, z + (n - patches) * dim, patches, dim);
}

static size_t dim_scratch(const vit_map_call *m) {
    return m->explainer->network->config.dim;
}

static vit_status similarity_end(vit_map_call *m, vit_error *error) {
    (void)error;
    const vit_explainer *e = m->explainer;
    const size_t layer = vit_map_layer(m) + 1;
    vit_map_weigh(m, m->weights, m->options->query);
    similarity_of(m, layer < e->network->config.depth ? e->state.blocks[layer].z : e->state.z,
                  m->weights, m->tokens, m->scratch);
    return VIT_OK;
}

const vit_map_method vit_map_similarity = {.name = "similarity",
                                           .begins = true,
                                           .of_query = true,
                                           .of_layer = true,
                                           .scratch_size = dim_scratch,
                                           .end = similarity_end};

static vit_status positions_end(vit_map_call *m, vit_error *error) {
    (void)error;
    const vit_config *c = &m->explainer->network->config;
    const float *positions = m->explainer->network->weights.positions;
    const size_t middle = m->map->rows / 2 * m->map->columns + m->map->columns / 2;
    vit_map_weigh(m, m->weights, m->options->query);
    if (m->options->query == VIT_QUERY_DEFAULT) {
        memset(m->weights, 0, m->tokens * sizeof *m->weights);
        m->weights[m->prefix + middle] = 1;
    }
    similarity_of(m, positions + (vit_config_positions(c) - m->patches) * c->dim,
                  m->weights + m->prefix, m->patches, m->scratch);
    return VIT_OK;
}

const vit_map_method vit_map_positions = {.name = "positions",
                                          .begins = true,
                                          .of_query = true,
                                          .scratch_size = dim_scratch,
                                          .end = positions_end};
