#include "vit/model/run/migrate.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/model/run/infer.h"
#include <math.h>
#include <string.h>

enum { MOST_SITES = 4, MOST_READERS = 2 };

/* A norm, its output x, and the linear layers that read it. */
typedef struct site {
    const vit_norm *norm;
    const vit_linear *readers[MOST_READERS]; /* NULL: no more */
    const float *x; /* [T][norm->dim] after the block was computed; NULL: gone, and made again */
} site;

struct vit_migration {
    vit_network network;
    float *values, *packed;
    int threads;
    vit_exec exec;
    vit_arena arena;
    vit_state state;
    const float *image;
    float *most; /* [depth][MOST_SITES][width], the largest |x| of each channel */
    size_t width;
    float *columns; /* [width] */
};

/* Returns how many the block has. */
static size_t find_sites(site sites[MOST_SITES], const vit_config *c, const vit_block_weights *w,
                         const vit_block_state *s) {
    size_t count = 0;
    switch (c->norm) {
    case VIT_NORM_PRE: /* both norms are in one array, that of the second is there */
        sites[count++] = (site){&w->norm2, {&w->fc1}, s->norm};
        sites[count++] = (site){&w->norm1, {&w->qkv}, NULL};
        break;
    case VIT_NORM_PARALLEL:
        sites[count++] = (site){&w->norm1, {&w->qkv, &w->fc1}, s->norm};
        break;
    case VIT_NORM_POST:
    case VIT_NORM_RES_POST:
    case VIT_NORM_COUNT:
        break;
    }
    if (c->attention_norm) sites[count++] = (site){&w->attention_norm, {&w->proj}, s->o_normed};
    if (c->mlp_norm) sites[count++] = (site){&w->mlp_norm, {&w->fc2}, s->mlp.normed};
    return count;
}

/* Norms within the branches. */
static size_t norms_within(const vit_config *c) {
    return (c->attention_norm ? 1u : 0u) + (c->mlp_norm ? 1u : 0u);
}

size_t vit_migration_norms(const vit_config *config) {
    static const vit_block_weights no_weights;
    static const vit_block_state no_state;
    site sites[MOST_SITES];
    return find_sites(sites, config, &no_weights, &no_state);
}

bool vit_migration_is_whole(const vit_config *config) {
    return vit_migration_norms(config) > norms_within(config);
}

static float *most_of(const vit_migration *m, size_t block, size_t i) {
    return m->most + (block * MOST_SITES + i) * m->width;
}

/* ---- memory ---- */

static void carve(vit_arena *arena, void *context) {
    vit_migration *m = context;
    vit_state_carve(&m->state, arena, &m->network.config, 1, m->threads, VIT_KEPT_TOKENS, 0);
}

vit_status vit_migration_new(vit_migration **out, const vit_config *config, const vit_table *table,
                             float *values, const vit_kernels *kernels, int threads,
                             vit_error *error) {
    const vit_exec packs = {.kernels = kernels, .threads = threads};
    const size_t words = vit_table_words(table, packs.precision);
    vit_migration *m = *out = vit_alloc(1, sizeof *m);
    if (!m) return vit_fail_memory(error, "a calibration", sizeof *m);
    m->network.config = *config;
    m->values = values;
    m->threads = threads;
    m->width = vit_max(vit_max(config->dim, config->mlp), vit_config_attention_dim(config));
    m->packed = vit_alloc_unset(words, sizeof *m->packed);
    m->most = vit_alloc(config->depth * MOST_SITES, m->width * sizeof *m->most);
    m->columns = vit_alloc(m->width, sizeof *m->columns);
    const vit_packed_weights packed = {.transposed = m->packed, .precision = packs.precision};
    vit_status status = VIT_OK;
    if (!m->packed || !m->most || !m->columns)
        status = vit_fail_memory(error, "a calibration", words * sizeof *m->packed);
    if (status == VIT_OK) vit_table_pack(&packs, &packed, values, table);
    if (status == VIT_OK)
        status = vit_weights_view(&m->network.weights, config, table, values, &packed, error);
    if (status == VIT_OK) status = vit_arena_fit(&m->arena, carve, m, "a calibration", error);
    if (status == VIT_OK) {
        m->exec = vit_network_exec(&m->network, &m->state, kernels, threads);
        return VIT_OK;
    }
    vit_migration_free(m);
    *out = NULL;
    return status;
}

void vit_migration_free(vit_migration *m) {
    if (!m) return;
    vit_weights_free(&m->network.weights);
    vit_arena_free(&m->arena);
    vit_free(m->packed);
    vit_free(m->most);
    vit_free(m->columns);
    vit_free(m);
}

/* ---- seeing ---- */

static void look(vit_migration *m, const vit_block_call *call, size_t block) {
    const vit_block_state *s = &m->state.blocks[block];
    site sites[MOST_SITES];
    const size_t count = find_sites(sites, call->config, call->weights, s);
    for (size_t i = 0; i < count; i++) {
        const size_t dim = sites[i].norm->dim;
        float *most = most_of(m, block, i);
        const float *x = sites[i].x;
        if (!x) {
            vit_layernorm_recompute(call->exec, s->norm, &s->stats1, s->z, sites[i].norm,
                                    vit_rows_in(call));
            x = s->norm;
        }
        for (size_t r = 0; r < vit_rows_in(call); r++, x += dim)
            for (size_t j = 0; j < dim; j++) most[j] = fmaxf(most[j], fabsf(x[j]));
    }
}

static void forward(void *context) {
    vit_migration *m = context;
    vit_state *s = &m->state;
    const size_t depth = m->network.config.depth;
    s->batch = 1;
    s->rows = vit_config_tokens(&m->network.config);
    vit_tokens_forward(&m->network, &m->exec, s, m->image);
    for (size_t i = 0; i < depth; i++) {
        const vit_block_call call = vit_network_block(&m->network, &m->exec, s, NULL, i);
        vit_block_forward(&call, i + 1 < depth ? s->blocks[i + 1].z : s->z, &s->blocks[i]);
        look(m, &call, i);
    }
}

vit_status vit_migration_see(vit_migration *m, const float *image, vit_error *error) {
    m->image = image;
    vit_with_team(m->threads, forward, m);
    for (size_t i = 0; i < m->state.rows * m->network.config.dim; i++)
        if (!isfinite(m->state.z[i])) return vit_fail_answer(error, "");
    return VIT_OK;
}

/* ---- folding ---- */

/* The values that a view shows. */
static float *own(const vit_migration *m, const float *seen) {
    return m->values + (seen - m->values);
}

/* most: [dim], replaced by the scales. A channel that is 0 in all pictures, or of no weight, is
 * left alone. */
static void find_scales(const vit_migration *m, float *most, const site *at) {
    const size_t dim = at->norm->dim;
    memset(m->columns, 0, dim * sizeof *m->columns);
    for (size_t k = 0; k < MOST_READERS && at->readers[k]; k++) {
        const float *w = at->readers[k]->weight;
        for (size_t o = 0; o < at->readers[k]->out; o++, w += dim)
            for (size_t j = 0; j < dim; j++) m->columns[j] = fmaxf(m->columns[j], fabsf(w[j]));
    }
    for (size_t j = 0; j < dim; j++) {
        const float s = m->columns[j] > 0 ? sqrtf(most[j] / m->columns[j]) : 0;
        most[j] = s > 0 && isfinite(s) ? s : 1;
    }
}

static void fold(const vit_migration *m, const float *scales, const site *at) {
    const size_t dim = at->norm->dim;
    float *gamma = own(m, at->norm->gamma);
    float *beta = at->norm->beta ? own(m, at->norm->beta) : NULL;
    for (size_t j = 0; j < dim; j++) gamma[j] /= scales[j];
    for (size_t j = 0; beta && j < dim; j++) beta[j] /= scales[j];
    for (size_t k = 0; k < MOST_READERS && at->readers[k]; k++) {
        float *w = own(m, at->readers[k]->weight);
        for (size_t o = 0; o < at->readers[k]->out; o++, w += dim)
            for (size_t j = 0; j < dim; j++) w[j] *= scales[j];
    }
}

void vit_migration_fold(vit_migration *m) {
    const vit_config *c = &m->network.config;
    for (size_t block = 0; block < c->depth; block++) {
        site sites[MOST_SITES];
        const size_t count =
            find_sites(sites, c, &m->network.weights.blocks[block], &m->state.blocks[block]);
        for (size_t i = 0; i < count; i++) {
            find_scales(m, most_of(m, block, i), &sites[i]);
            fold(m, most_of(m, block, i), &sites[i]);
        }
    }
}
