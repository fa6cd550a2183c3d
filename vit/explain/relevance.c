/* Maps of a class by gradients inside the network. */
#include "vit/base/size.h"
#include "vit/explain/maps.h"
#include <string.h>

/* ---- relevance (Chefer, Gur, Wolf: Generic Attention-model Explainability, ICCV 2021,
 * section 3.1)
 *
 * R = I; for each layer, the first first, R += Abar R, where Abar is the mean over heads of
 * max(0, dy/dA * A), y being the class's logit. One row r of R can be computed from the last layer
 * to the first, in the order of the backward pass: r = a row of I, or what the pooling reads; r +=
 * r Abar ---- */

/* m->scratch: r, what a layer adds to it, a row of Abar. */
static size_t relevance_scratch(const vit_map_call *m) {
    return 3 * m->row;
}

/* row: [keys] += factor / heads * sum over heads of max(0, dA * A); heads of p and d_p are `step`
 * floats apart. */
static void add_relevance(float *row, const float *p, const float *d_p, size_t heads, size_t step,
                          size_t keys, float factor) {
    for (size_t h = 0; h < heads; h++, p += step, d_p += step)
        for (size_t j = 0; j < keys; j++) {
            const float product = p[j] * d_p[j];
            row[j] += product > 0 ? factor / (float)heads * product : 0;
        }
}

typedef struct layer_call {
    const vit_map_call *call;
    const vit_seen *seen;
} layer_call;

enum { COLUMNS = 64 }; /* of one task */

/* Some columns of r Abar; each is one sum over queries and heads, so the threads do not meet. */
static void layer_task(size_t i, int thread, void *context) {
    (void)thread;
    const layer_call *l = context;
    const vit_map_call *m = l->call;
    const size_t heads = m->explainer->network->config.heads, step = m->tokens * m->row;
    const size_t first = i * COLUMNS, count = vit_min(m->tokens - first, (size_t)COLUMNS);
    const float *r = m->scratch;
    float *more = m->scratch + m->row + first;
    memset(more, 0, count * sizeof *more);
    for (size_t t = 0; t < m->tokens; t++)
        if (r[t] != 0)
            add_relevance(more, l->seen->p + t * m->row + first, l->seen->d_p + t * m->row + first,
                          heads, step, count, r[t]);
}

static void relevance_look(const vit_seen *seen, void *context) {
    vit_map_call *m = context;
    const vit_exec *exec = &m->explainer->exec;
    const size_t work = m->explainer->network->config.heads * m->tokens * m->tokens;
    layer_call l = {m, seen};
    vit_parallel(vit_exec_threads(exec, work), vit_ceil_div(m->tokens, COLUMNS), layer_task, &l);
    for (size_t t = 0; t < m->tokens; t++) m->scratch[t] += m->scratch[m->row + t];
}

/* Pooling by attention is like a layer with one query: r is the one row of its Abar. Called when
 * the head's gradients are there, before those of the last block. */
static void begin_at_pooling(vit_map_call *m) {
    const vit_explainer *e = m->explainer;
    const vit_config *c = &e->network->config;
    const vit_state *s = &e->state;
    size_t heads, keys;
    const float *p = vit_map_pooling(m, &heads, &keys);
    const size_t skip = m->tokens - keys, dim = c->dim;
    float *r = m->scratch + skip, *d_p = m->scratch + 2 * m->row;
    memset(m->scratch, 0, m->row * sizeof *r);
    for (size_t t = 0; t < keys && !vit_pools[c->pool].attends; t++) { /* y = sum of p[t] x[t] */
        const float *x = s->pool.normed + (skip + t) * dim;
        double sum = 0;
        for (size_t j = 0; j < dim; j++) sum += (double)x[j] * (double)s->pool.d_pooled[j];
        d_p[t] = (float)sum;
    }
    add_relevance(r, p, vit_pools[c->pool].attends ? e->d_map_p : d_p, heads, vit_padded(keys),
                  keys, 1);
}

static vit_status relevance_end(vit_map_call *m, vit_error *error) {
    (void)error;
    const vit_query query = m->options->query;
    const bool pooling = vit_pools[m->explainer->network->config.pool].weighs &&
                         (query == VIT_QUERY_DEFAULT || query == VIT_QUERY_POOL);
    vit_explainer_backward_head(m->explainer, m->map->class_index);
    if (pooling)
        begin_at_pooling(m);
    else
        vit_map_weigh(m, m->scratch, query);
    vit_explainer_backward_blocks(m->explainer, relevance_look, m);
    memcpy(m->map->values, m->scratch + m->prefix, m->patches * sizeof *m->map->values);
    return VIT_OK;
}

const vit_map_method vit_map_relevance = {.name = "relevance",
                                          .begins = true,
                                          .of_class = true,
                                          .of_query = true,
                                          .scratch_size = relevance_scratch,
                                          .end = relevance_end};

/* ---- Grad-CAM (Selvaraju et al.) over tokens: max(0, sum over features of a patch's feature times
 * the mean over patches of that feature's gradient). The features are the output of the first norm
 * of the last block in which the patches have a gradient ---- */

typedef struct cam {
    vit_map_call *call;
    bool done; /* that block was found */
} cam;

static void gradcam_look(const vit_seen *seen, void *context) {
    cam *c = context;
    const vit_map_call *m = c->call;
    const size_t dim = m->explainer->network->config.dim, n = m->patches;
    const float *d = seen->d_norm + m->prefix * dim, *x = seen->norm + m->prefix * dim;
    bool any = false;
    for (size_t i = 0; i < n * dim && !any; i++) any = d[i] != 0;
    if (c->done || !any) return;
    c->done = true;
    memset(m->scratch, 0, dim * sizeof *m->scratch);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < dim; j++) m->scratch[j] += d[i * dim + j] / (float)n;
    for (size_t i = 0; i < n; i++) {
        float sum = 0;
        for (size_t j = 0; j < dim; j++) sum += m->scratch[j] * x[i * dim + j];
        m->map->values[i] = sum > 0 ? sum : 0;
    }
}

/* [D], the mean over patches of the features' gradients. */
static size_t gradcam_scratch(const vit_map_call *m) {
    return m->explainer->network->config.dim;
}

static vit_status gradcam_end(vit_map_call *m, vit_error *error) {
    (void)error;
    cam c = {m, false};
    vit_explainer_backward_head(m->explainer, m->map->class_index);
    vit_explainer_backward_blocks(m->explainer, gradcam_look, &c);
    return VIT_OK;
}

const vit_map_method vit_map_gradcam = {
    .name = "gradcam", .of_class = true, .scratch_size = gradcam_scratch, .end = gradcam_end};
