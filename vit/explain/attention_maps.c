/* Maps of attention: of one layer as it is, and combined over all layers (rollout). */
#include "vit/base/size.h"
#include "vit/explain/maps.h"
#include "vit/ops/gemm/gemm.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- attention ---- */

static float fuse_two(vit_fuse fuse, float a, float b) {
    switch (fuse) {
    case VIT_FUSE_MEAN:
        return a + b;
    case VIT_FUSE_MAX:
        return fmaxf(a, b);
    case VIT_FUSE_MIN:
        return fminf(a, b);
    case VIT_FUSE_COUNT:
        break;
    }
    return a;
}

static size_t attention_scratch(const vit_map_call *m) {
    const size_t heads = vit_map_heads(m->options, &m->explainer->network->config);
    return heads * (m->options->query == VIT_QUERY_ALL ? m->tokens * m->tokens : m->patches);
}

/* Makes every head's map in m->scratch, then the map that was asked for. p: [heads] matrices, or of
 * a pooling [heads] rows. */
static void keep_heads(const vit_map_call *m, const float *p, size_t heads, bool pooling) {
    const vit_map_options *o = m->options;
    const bool all = o->query == VIT_QUERY_ALL;
    const size_t size = all ? m->tokens * m->tokens : m->patches;
    const vit_config *c = &m->explainer->network->config;
    const size_t shown = o->head.given || o->fused ? 1 : vit_map_heads(o, c);
    const size_t skip = c->pool_prefix ? m->prefix : 0; /* of the pooling's keys */
    for (size_t h = 0; h < heads; h++) {
        float *out = m->scratch + h * size;
        if (pooling)
            memcpy(out, p + h * vit_padded(m->patches + skip) + skip, size * sizeof *out);
        else if (all)
            vit_map_copy(m, out, p + h * m->tokens * m->row, m->row);
        else
            vit_map_read(m, out, p + h * m->tokens * m->row, m->row);
    }
    for (size_t h = 1; h < heads && o->fused; h++)
        for (size_t i = 0; i < size; i++)
            m->scratch[i] = fuse_two(o->fuse, m->scratch[i], m->scratch[h * size + i]);
    for (size_t i = 0; i < size && o->fused && o->fuse == VIT_FUSE_MEAN; i++)
        m->scratch[i] /= (float)heads;
    const float *from =
        m->scratch + (o->head.given ? vit_min((size_t)o->head.value, heads - 1) * size : 0);
    /* sequence pooling has one head, and all of the map's show it */
    for (size_t h = 0; h < shown; h++)
        memcpy(m->map->values + h * size, from + (h < heads ? h : 0) * size, size * sizeof *from);
}

static bool of_pooling(const vit_map_call *m) {
    return vit_map_of_pooling(m->options, &m->explainer->network->config);
}

static void attention_begin(vit_map_call *m) {
    const bool weighs = vit_pools[m->explainer->network->config.pool].weighs;
    const bool pooled = m->options->query == VIT_QUERY_DEFAULT && weighs;
    if (!of_pooling(m)) vit_map_weigh(m, m->weights, pooled ? VIT_QUERY_MEAN : m->options->query);
}

static void attention_look(const vit_seen *seen, void *context) {
    vit_map_call *m = context;
    if (of_pooling(m) || seen->layer != vit_map_layer(m)) return;
    keep_heads(m, seen->p, m->explainer->network->config.heads, false);
}

static vit_status attention_end(vit_map_call *m, vit_error *error) {
    (void)error;
    size_t heads, keys;
    const float *p = vit_map_pooling(m, &heads, &keys);
    if (of_pooling(m)) keep_heads(m, p, heads, true);
    return VIT_OK;
}

const vit_map_method vit_map_attention = {.name = "attention",
                                          .begins = true,
                                          .of_query = true,
                                          .of_layer = true,
                                          .scratch_size = attention_scratch,
                                          .begin = attention_begin,
                                          .look = attention_look,
                                          .end = attention_end};

/* ---- rollout ---- */

/* The arguments of the tasks below, one row each. */
typedef struct fusing {
    float *a;
    const float *p;
    size_t heads, tokens, row, dropped;
    vit_fuse fuse;
} fusing;

static size_t count_below(const float *a, size_t n, float limit) {
    size_t count = 0;
    for (size_t j = 0; j < n; j++) count += a[j] < limit;
    return count;
}

/* The smallest `dropped` of n numbers become 0, of equal ones the first. None is negative; the bits
 * of such floats, read as integers, have the same order, so the limit is found by bisection, bit by
 * bit. */
static void drop_smallest(float *a, size_t n, size_t dropped) {
    uint32_t bits = 0;
    float limit = 0;
    for (uint32_t bit = UINT32_C(1) << 30; bit > 0; bit >>= 1) {
        const uint32_t next = bits | bit;
        float value;
        memcpy(&value, &next, sizeof value);
        if (!(count_below(a, n, value) <= dropped)) continue;
        bits = next;
        limit = value;
    }
    size_t equals = dropped - count_below(a, n, limit);
    for (size_t j = 0; j < n; j++) {
        const bool equal = a[j] == limit && equals > 0;
        equals -= equal;
        if (a[j] < limit || equal) a[j] = 0;
    }
}

/* Row t of A is divided by its sum. */
static void normalise_task(size_t t, int thread, void *context) {
    (void)thread;
    const fusing *f = context;
    float *a = f->a + t * f->row;
    double sum = 0;
    for (size_t j = 0; j < f->tokens; j++) sum += (double)a[j];
    for (size_t j = 0; j < f->tokens; j++) a[j] = (float)((double)a[j] / sum);
}

/* Row t of A: the heads combined, the smallest left out, plus I, divided by its sum. */
static void fuse_task(size_t t, int thread, void *context) {
    const fusing *f = context;
    float *a = f->a + t * f->row;
    memcpy(a, f->p + t * f->row, f->row * sizeof *a);
    for (size_t h = 1; h < f->heads; h++) {
        const float *p = f->p + (h * f->tokens + t) * f->row;
        for (size_t j = 0; j < f->tokens; j++) a[j] = fuse_two(f->fuse, a[j], p[j]);
    }
    for (size_t j = 0; j < f->tokens && f->fuse == VIT_FUSE_MEAN; j++) a[j] /= (float)f->heads;
    if (f->dropped > 0) drop_smallest(a, f->tokens, f->dropped);
    a[t] += 1;
    normalise_task(t, thread, context);
    memset(a + f->tokens, 0, (f->row - f->tokens) * sizeof *a);
}

void vit_rollout_matrix(const vit_exec *exec, float *a, const float *p, size_t heads, size_t tokens,
                        vit_fuse fuse, double discard) {
    const size_t dropped = vit_min((size_t)(discard * (double)tokens), tokens - 1);
    fusing f = {a, p, heads, tokens, vit_padded(tokens), dropped, fuse};
    vit_parallel(vit_exec_threads(exec, heads * tokens * tokens), tokens, fuse_task, &f);
}

void vit_rollout_step(const vit_exec *exec, float *next, const float *a, const float *r,
                      size_t tokens) {
    const size_t row = vit_padded(tokens);
    const vit_epilogue none = vit_epilogue_none();
    fusing f = {.a = next, .tokens = tokens, .row = row};
    vit_gemm(exec, next, row, tokens, row, tokens, (vit_operand_a){a, row, 1}, vit_b_plain(r, row),
             &none);
    vit_parallel(vit_exec_threads(exec, tokens * tokens), tokens, normalise_task, &f);
}

/* m->scratch: three matrices, A of a layer, the product so far, and the next product. */
static size_t rollout_scratch(const vit_map_call *m) {
    return 3 * m->tokens * m->row;
}

static float *rollout_part(const vit_map_call *m, size_t i) {
    return m->scratch + i * m->tokens * m->row;
}

static void rollout_begin(vit_map_call *m) {
    for (size_t t = 0; t < m->tokens; t++) rollout_part(m, 1)[t * m->row + t] = 1;
}

static void rollout_look(const vit_seen *seen, void *context) {
    vit_map_call *m = context;
    const vit_exec *exec = &m->explainer->exec;
    const size_t now = 1 + seen->layer % 2, next = 3 - now;
    vit_rollout_matrix(exec, rollout_part(m, 0), seen->p, m->explainer->network->config.heads,
                       m->tokens, m->options->fuse, m->options->discard);
    vit_rollout_step(exec, rollout_part(m, next), rollout_part(m, 0), rollout_part(m, now),
                     m->tokens);
}

static vit_status rollout_end(vit_map_call *m, vit_error *error) {
    (void)error;
    const float *r = rollout_part(m, 1 + m->explainer->network->config.depth % 2);
    if (m->options->query == VIT_QUERY_ALL) {
        vit_map_copy(m, m->map->values, r, m->row);
        return VIT_OK;
    }
    vit_map_weigh(m, m->weights, m->options->query);
    vit_map_read(m, m->map->values, r, m->row);
    return VIT_OK;
}

const vit_map_method vit_map_rollout = {.name = "rollout",
                                        .begins = true,
                                        .of_query = true,
                                        .scratch_size = rollout_scratch,
                                        .begin = rollout_begin,
                                        .look = rollout_look,
                                        .end = rollout_end};
