#include "vit/explain/maps.h"
#include "vit/base/math.h"
#include "vit/base/order.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/ops/loss.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const vit_map_method *const methods[] = {
    [VIT_METHOD_ATTENTION] = &vit_map_attention, [VIT_METHOD_ROLLOUT] = &vit_map_rollout,
    [VIT_METHOD_RELEVANCE] = &vit_map_relevance, [VIT_METHOD_GRADCAM] = &vit_map_gradcam,
    [VIT_METHOD_GRADIENT] = &vit_map_gradient,   [VIT_METHOD_INTEGRATED] = &vit_map_integrated,
    [VIT_METHOD_OCCLUSION] = &vit_map_occlusion, [VIT_METHOD_RANDOM] = &vit_map_random,
    [VIT_METHOD_LENS] = &vit_map_lens,           [VIT_METHOD_SIMILARITY] = &vit_map_similarity,
    [VIT_METHOD_POSITIONS] = &vit_map_positions,
};
VIT_CHECK_ROWS(methods, VIT_METHOD_COUNT);

const char *vit_method_name(vit_method method) {
    return (size_t)method < VIT_METHOD_COUNT ? methods[method]->name : NULL;
}

bool vit_method_takes_passes(vit_method method) {
    return (size_t)method < VIT_METHOD_COUNT && methods[method]->passes;
}

bool vit_method_begins_page(vit_method method) {
    return methods[method]->begins;
}

/* ---- options ---- */

bool vit_map_goes_on(const vit_map_options *o) {
    return !o->goes_on || o->goes_on(o->user);
}

bool vit_map_of_pooling(const vit_map_options *o, const vit_config *c) {
    const bool by_default = o->query == VIT_QUERY_DEFAULT && !o->layer.given;
    return o->query == VIT_QUERY_POOL || (by_default && vit_pools[c->pool].weighs);
}

size_t vit_map_heads(const vit_map_options *o, const vit_config *c) {
    return vit_map_of_pooling(o, c) && vit_pools[c->pool].attends ? vit_config_pool_heads(c)
                                                                  : c->heads;
}

const char *const vit_fuse_names[] = {"mean", "max", "min"};
VIT_CHECK_ROWS(vit_fuse_names, VIT_FUSE_COUNT);

void vit_map_name(vit_map *map, const vit_map_options *o, const vit_config *c, const char *label) {
    const vit_map_method *m = methods[o->method];
    vit_string text = {0};
    vit_string_add(&text, "%s", m->name);
    if (o->method == VIT_METHOD_ATTENTION && vit_map_of_pooling(o, c))
        vit_string_add(&text, " of pooling");
    else if (m->of_layer)
        vit_string_add(&text, ", layer %zu",
                       o->layer.given ? (size_t)o->layer.value : c->depth - 1);
    if (o->method == VIT_METHOD_ATTENTION && o->head.given)
        vit_string_add(&text, ", head %zu", (size_t)o->head.value);
    else if (o->method == VIT_METHOD_ROLLOUT || (o->method == VIT_METHOD_ATTENTION && o->fused))
        vit_string_add(&text, ", %s of heads", vit_fuse_names[o->fuse]);
    else if (m->of_class && label)
        vit_string_add(&text, ": %s", label);
    snprintf(map->name, sizeof map->name, "%s", text.failed ? m->name : text.text);
    vit_string_free(&text);
}

static vit_status check_query(const vit_map_options *o, const vit_config *c, vit_error *error) {
    const char *name = methods[o->method]->name;
    const size_t tokens = vit_config_tokens(c), prefix = vit_config_prefix(c);
    switch (o->query) {
    case VIT_QUERY_DEFAULT:
    case VIT_QUERY_MEAN:
        return VIT_OK;
    case VIT_QUERY_TOKEN:
        if (o->token >= tokens)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "token %zu is asked for, the network has %zu, numbered from 0: %zu "
                            "before the patches, then %zu patches",
                            o->token, tokens, prefix, tokens - prefix);
        if (o->method == VIT_METHOD_POSITIONS && o->token < prefix)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "only patches have positions to compare, token %zu is none", o->token);
        return VIT_OK;
    case VIT_QUERY_POOL:
        if (vit_pools[c->pool].weighs && o->method != VIT_METHOD_POSITIONS &&
            o->method != VIT_METHOD_SIMILARITY)
            return VIT_OK;
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        vit_pools[c->pool].weighs
                            ? "%s compares tokens, and the pooling's query is none"
                            : "%s is asked for the pooling's query, and this "
                              "network does not pool by attention",
                        name);
    case VIT_QUERY_ALL:
        if (o->method != VIT_METHOD_RELEVANCE) return VIT_OK;
        break;
    case VIT_QUERY_COUNT:
        break;
    }
    return vit_fail(error, VIT_ERROR_ARGUMENT, "%s is computed for one query, not for all", name);
}

static vit_status check_choice(const vit_map_options *o, const vit_config *c, vit_error *error) {
    const vit_map_method *m = methods[o->method];
    if (o->class_index.given && m->of_class && (size_t)o->class_index.value >= c->classes)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "class %zu is asked for, the model has %zu, numbered from 0",
                        (size_t)o->class_index.value, c->classes);
    if (o->method == VIT_METHOD_POSITIONS && !vit_positions[c->positions].learned &&
        !vit_positions[c->positions].fixed)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "this network has no positions to compare (\"positions\": \"none\")");
    if (o->layer.given && m->of_layer && (size_t)o->layer.value >= c->depth)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "layer %zu is asked for, the network has %zu, numbered from 0",
                        (size_t)o->layer.value, c->depth);
    if (o->head.given && o->method == VIT_METHOD_ATTENTION &&
        (size_t)o->head.value >= vit_map_heads(o, c))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "head %zu is asked for, %s has %zu, numbered from 0", (size_t)o->head.value,
                        vit_map_of_pooling(o, c) ? "the pooling" : "a layer", vit_map_heads(o, c));
    return VIT_OK;
}

vit_status vit_map_check(const vit_map_options *o, const vit_config *c, vit_error *error) {
    if ((size_t)o->method >= VIT_METHOD_COUNT)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "method %d, expected 0 to %d", (int)o->method,
                        VIT_METHOD_COUNT - 1);
    if ((size_t)o->fuse >= VIT_FUSE_COUNT || (size_t)o->query >= VIT_QUERY_COUNT)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "unknown value of `fuse` or `query`");
    if (!(o->discard >= 0 && o->discard < 1))
        return vit_fail(error, VIT_ERROR_ARGUMENT, "discard %g, expected at least 0, below 1",
                        o->discard);
    if (o->steps > 10000)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%zu steps, expected at most 10000", o->steps);
    const vit_status status = check_choice(o, c, error);
    if (status != VIT_OK || !methods[o->method]->of_query) return status;
    return check_query(o, c, error);
}

size_t vit_map_layer(const vit_map_call *m) {
    return m->options->layer.given ? (size_t)m->options->layer.value
                                   : m->explainer->network->config.depth - 1;
}

/* ---- queries ---- */

static void weigh_evenly(float *weights, size_t first, size_t end, float all) {
    for (size_t t = first; t < end; t++) weights[t] += all / (float)(end - first);
}

const float *vit_map_pooling(const vit_map_call *m, size_t *heads, size_t *keys) {
    const vit_config *c = &m->explainer->network->config;
    const vit_pool_state *s = &m->explainer->state.pool;
    const bool attends = vit_pools[c->pool].attends;
    if (vit_pools[c->pool].refines) { /* the rows of every query */
        *heads = vit_config_pool_heads(c) * (c->class_token ? 1 : m->tokens);
        *keys = m->tokens;
        return s->prr.p;
    }
    *heads = attends ? vit_config_pool_heads(c) : 1;
    *keys = c->pool_prefix ? m->tokens : m->patches;
    return attends ? s->map.p : s->p;
}

/* The mean over heads of the pooling's attention weights. */
static void weigh_pooling(const vit_map_call *m, float *weights) {
    size_t heads, keys;
    const float *p = vit_map_pooling(m, &heads, &keys);
    const size_t skip = m->tokens - keys, row = vit_padded(keys);
    for (size_t h = 0; h < heads; h++, p += row)
        for (size_t t = 0; t < keys; t++) weights[skip + t] += p[t] / (float)heads;
}

/* The tokens that the head reads. */
static void weigh_as_head(const vit_map_call *m, float *weights) {
    const vit_config *c = &m->explainer->network->config;
    const size_t skip = c->pool_prefix ? 0 : m->prefix;
    switch (c->pool) {
    case VIT_POOL_CLASS:
        weights[0] = 1;
        break;
    case VIT_POOL_CLASS_DIST:
        weights[0] = weights[1] = .5f;
        break;
    case VIT_POOL_CLASS_MEAN:
        weights[0] = .5f;
        weigh_evenly(weights, skip, m->tokens, .5f);
        break;
    case VIT_POOL_MEAN:
    case VIT_POOL_MAX:
    case VIT_POOL_MEAN_MAX:
        weigh_evenly(weights, skip, m->tokens, 1);
        break;
    case VIT_POOL_PREFIX_MEAN:
        weigh_evenly(weights, 0, m->prefix, 1);
        break;
    case VIT_POOL_MAP:
    case VIT_POOL_SEQ:
    case VIT_POOL_PRR:
        weigh_pooling(m, weights);
        break;
    case VIT_POOL_TOKENS:
    case VIT_POOL_COUNT:
        break;
    }
}

void vit_map_weigh(const vit_map_call *m, float *weights, vit_query query) {
    memset(weights, 0, m->tokens * sizeof *weights);
    switch (query) {
    case VIT_QUERY_DEFAULT:
        weigh_as_head(m, weights);
        break;
    case VIT_QUERY_TOKEN:
        weights[m->options->token] = 1;
        break;
    case VIT_QUERY_MEAN:
        weigh_evenly(weights, m->prefix, m->tokens, 1);
        break;
    case VIT_QUERY_POOL:
        weigh_pooling(m, weights);
        break;
    case VIT_QUERY_ALL:
    case VIT_QUERY_COUNT:
        break;
    }
}

void vit_map_read(const vit_map_call *m, float *out, const float *matrix, size_t row) {
    memset(out, 0, m->patches * sizeof *out);
    for (size_t t = 0; t < m->tokens; t++) {
        const float w = m->weights[t], *from = matrix + t * row + m->prefix;
        for (size_t j = 0; j < m->patches && w != 0; j++) out[j] += w * from[j];
    }
}

void vit_map_copy(const vit_map_call *m, float *out, const float *matrix, size_t row) {
    for (size_t t = 0; t < m->tokens; t++)
        memcpy(out + t * m->tokens, matrix + t * row, m->tokens * sizeof *out);
}

/* ---- answers ---- */

double vit_map_doubt(const float *logits, size_t classes, size_t index) {
    double highest = logits[0], others = 0;
    for (size_t i = 1; i < classes; i++) highest = fmax(highest, logits[i]);
    for (size_t i = 0; i < classes; i++)
        if (i != index) others += vit_exp(logits[i] - highest);
    return others / (others + vit_exp(logits[index] - highest));
}

/* Patches whose last state is more than three times as long as the median. lengths: [2][N] of
 * scratch. */
static void mark_outliers(const vit_map_call *m, float *lengths) {
    const vit_explainer *e = m->explainer;
    const size_t dim = e->network->config.dim, n = m->patches;
    float *sorted = lengths + n;
    for (size_t i = 0; i < n; i++) {
        const float *z = e->state.z + (m->prefix + i) * dim;
        double sum = 0;
        for (size_t j = 0; j < dim; j++) sum += (double)z[j] * (double)z[j];
        lengths[i] = (float)sqrt(sum);
    }
    memcpy(sorted, lengths, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, vit_compare_floats);
    for (size_t i = 0; i < n; i++) m->map->outliers[i] = lengths[i] > 3 * sorted[n / 2];
}

/* ---- the whole ---- */

/* The shape that vit/maps.h promises. */
static void shape_map(const vit_map_call *m) {
    const vit_map_options *o = m->options;
    const vit_config *c = &m->explainer->network->config;
    const bool heads = o->method == VIT_METHOD_ATTENTION && !o->head.given && !o->fused;
    const bool all = o->query == VIT_QUERY_ALL && methods[o->method]->of_query;
    const size_t side = o->method == VIT_METHOD_POSITIONS ? m->patches : m->tokens;
    size_t *shape = m->map->shape;
    m->map->dims = heads ? 3 : 2;
    if (heads) *shape++ = vit_map_heads(o, c);
    shape[0] = all ? side : m->map->rows;
    shape[1] = all ? side : m->map->columns;
    if (o->method != VIT_METHOD_LENS) return;
    shape[0] = c->depth;
    shape[1] = c->classes;
}

static vit_status allocate(vit_map_call *m, vit_error *error) {
    const vit_map_method *method = methods[m->options->method];
    size_t count = 1;
    for (size_t i = 0; i < m->map->dims; i++) count *= m->map->shape[i];
    m->map->values = vit_alloc(count, sizeof *m->map->values);
    m->map->outliers = vit_alloc(m->patches, sizeof *m->map->outliers);
    m->weights = vit_alloc(vit_max(m->tokens, 2 * m->patches), sizeof *m->weights);
    if (method->scratch_size) m->scratch = vit_alloc(method->scratch_size(m), sizeof *m->scratch);
    if (m->map->values && m->map->outliers && m->weights && (m->scratch || !method->scratch_size))
        return VIT_OK;
    return vit_fail_memory(error, "a map", count * sizeof *m->map->values);
}

/* Gradients may exceed the largest float even if the logits do not. */
static vit_status check_values(const vit_map *map, vit_error *error) {
    size_t count = 1;
    for (size_t i = 0; i < map->dims; i++) count *= map->shape[i];
    for (size_t i = 0; i < count; i++)
        if (!isfinite(map->values[i]))
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "the map is not finite (value %zu is %s): the model's weights are "
                            "damaged or of a training that failed",
                            i, isnan(map->values[i]) ? "NaN" : "infinite");
    return VIT_OK;
}

static vit_status make(vit_map_call *m, vit_error *error) {
    const vit_map_method *method = methods[m->options->method];
    const vit_config *c = &m->explainer->network->config;
    const float *logits = m->explainer->state.head.logits;
    size_t best = 0;
    vit_status status = allocate(m, error);
    if (status != VIT_OK) return status;
    if (method->begin) method->begin(m);
    status = vit_explainer_forward(m->explainer, m->image, method->look, m, error);
    if (status != VIT_OK) return status;
    mark_outliers(m, m->weights);
    vit_top_k(logits, c->classes, 1, &best);
    m->map->class_index = m->options->class_index.given && method->of_class
                              ? (size_t)m->options->class_index.value
                              : best;
    m->map->probability = vit_score_one(logits, c->classes, m->map->class_index,
                                        m->explainer->temperature, m->explainer->scoring);
    if (method->end) status = method->end(m, error);
    return status == VIT_OK ? check_values(m->map, error) : status;
}

vit_status vit_map_make(vit_map *map, vit_explainer *e, const float *image,
                        const vit_map_options *options, vit_error *error) {
    const vit_config *c = &e->network->config;
    vit_map_call m = {.explainer = e,
                      .image = image,
                      .options = options,
                      .map = map,
                      .tokens = vit_config_tokens(c),
                      .prefix = vit_config_prefix(c),
                      .patches = vit_config_patches(c)};
    m.row = vit_padded(m.tokens);
    *map = (vit_map){.rows = c->height / c->patch, .columns = c->width / c->patch};
    shape_map(&m);
    const vit_status status = make(&m, error);
    vit_free(m.weights);
    vit_free(m.scratch);
    if (status != VIT_OK) vit_map_clear(map);
    return status;
}

void vit_map_clear(vit_map *map) {
    if (!map) return;
    vit_free(map->values);
    vit_free(map->outliers);
    *map = (vit_map){0};
}
