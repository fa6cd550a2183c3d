#include "vit/explain/explainer.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/model/run/infer.h"
#include <string.h>

/* ---- memory ---- */

static size_t packed_rows_size(const vit_linear *w) {
    return w->out > 0 ? vit_packed_size(w->in, w->out) : 0;
}

/* The linear layers of a block, and those outside the blocks. */
enum { BLOCK_LAYERS = 4, OTHER_LAYERS = 9 + VIT_MOST_CONVS };

static void list_block(vit_linear *layers[BLOCK_LAYERS], vit_block_weights *w) {
    vit_linear *const all[BLOCK_LAYERS] = {&w->qkv, &w->proj, &w->fc1, &w->fc2};
    memcpy(layers, all, sizeof all);
}

static void list_others(vit_linear *layers[OTHER_LAYERS], vit_weights *w) {
    vit_map_weights *map = &w->map;
    vit_linear *const all[] = {&w->patch_embed, &w->attention_pool, &w->head[0], &w->head[1],
                               &map->q,         &map->kv,           &map->proj,  &map->fc1,
                               &map->fc2};
    memcpy(layers, all, sizeof all);
    for (size_t i = 0; i < VIT_MOST_CONVS; i++)
        layers[OTHER_LAYERS - VIT_MOST_CONVS + i] = &w->convs[i];
}

static size_t sum_sizes(vit_linear *const *layers, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++) size += packed_rows_size(layers[i]);
    return size;
}

static void carve(vit_arena *arena, void *context) {
    vit_explainer *e = context;
    const vit_config *c = &e->network->config;
    const size_t tokens = vit_config_tokens(c), row = vit_padded(tokens);
    vit_state_carve(&e->state, arena, c, 1, e->threads, VIT_KEPT_TOKENS, 0);
    e->d_p = vit_arena_floats(arena, c->heads * tokens * row);
    e->d_map_p = vit_arena_floats(arena, vit_config_pool_heads(c) * row);
    e->d_norm = vit_arena_floats(arena, tokens * c->dim);
    e->unpacked = vit_arena_floats(arena, e->unpacked_size);
}

vit_status vit_explainer_new(vit_explainer **out, const vit_network *network,
                             const vit_kernels *kernels, int threads, vit_error *error) {
    vit_explainer *e = *out = vit_alloc(1, sizeof *e);
    if (!e) return vit_fail_memory(error, "an explanation", sizeof *e);
    e->network = network;
    e->temperature = 1;
    e->threads = threads;
    vit_weights weights = network->weights;
    vit_linear *layers[OTHER_LAYERS];
    list_others(layers, &weights);
    e->unpacked_size = sum_sizes(layers, OTHER_LAYERS);
    for (size_t i = 0; i < network->config.depth; i++) {
        list_block(layers, &weights.blocks[i]);
        e->unpacked_size = vit_max(e->unpacked_size, sum_sizes(layers, BLOCK_LAYERS));
    }
    const vit_status status = vit_arena_fit(&e->arena, carve, e, "an explanation", error);
    if (status != VIT_OK) {
        vit_free(e);
        *out = NULL;
        return status;
    }
    e->exec = vit_network_exec(network, &e->state, kernels, threads);
    return VIT_OK;
}

void vit_explainer_free(vit_explainer *e) {
    if (!e) return;
    vit_arena_free(&e->arena);
    vit_free(e);
}

/* ---- weights for dx = dy W ---- */

/* A model keeps only W^T, packed for y = x W^T. The backward pass needs W, which is made for one
 * block at a time, panel by panel. */
typedef struct unpacking {
    const vit_explainer *explainer;
    const vit_linear *w;
    float *to;
} unpacking;

/* Panel i of W: vit_panel() inputs of all outputs. */
static void unpack_task(size_t i, int thread, void *context) {
    (void)thread;
    const unpacking *u = context;
    const vit_kernels *kernels = u->explainer->exec.kernels;
    const size_t in = u->w->in, out = u->w->out, panel = vit_panel(), first = i * panel;
    const size_t count = vit_min(in - first, panel);
    const vit_operand_b b = vit_b_stored(u->w->packed, u->w->stored, in);
    float *to = u->to + first * out, block[VIT_MOST_PANEL * VIT_MOST_PANEL];
    for (size_t o = 0; o < out; o += panel) {
        vit_read_panel(kernels, block, &b, out, o / panel, first, count);
        kernels->products[VIT_PRECISION_F32]->transpose(to + o * panel, panel, block, panel, count,
                                                        vit_min(out - o, panel));
    }
}

/* Sets packed_rows of the layers, one after the other in e->unpacked. */
static void unpack(const vit_explainer *e, vit_linear *const *layers, size_t count) {
    float *at = e->unpacked;
    for (size_t i = 0; i < count; i++) {
        vit_linear *w = layers[i];
        if (w->out == 0) continue;
        unpacking u = {e, w, at};
        vit_parallel(vit_exec_threads(&e->exec, w->in * w->out), vit_ceil_div(w->in, vit_panel()),
                     unpack_task, &u);
        w->weight = NULL;
        w->packed_rows = vit_b_packed(at, w->out);
        at += packed_rows_size(w);
    }
}

/* *w becomes a copy of the weights whose layers outside the blocks are unpacked. */
static void unpack_others(const vit_explainer *e, vit_weights *w) {
    vit_linear *layers[OTHER_LAYERS];
    *w = e->network->weights;
    list_others(layers, w);
    unpack(e, layers, OTHER_LAYERS);
}

/* ---- passes ---- */

/* The arguments of the functions that vit_with_team runs. */
typedef struct pass {
    vit_explainer *explainer;
    const float *image;
    size_t index;
    vit_look *look;
    void *context;
} pass;

static void forward(void *context) {
    const pass *p = context;
    vit_explainer *e = p->explainer;
    const vit_network *n = e->network;
    vit_state *s = &e->state;
    const size_t depth = n->config.depth;
    s->batch = 1;
    s->rows = vit_config_tokens(&n->config);
    vit_tokens_forward(n, &e->exec, s, p->image);
    for (size_t i = 0; i < depth; i++) {
        const vit_block_call call = vit_network_block(n, &e->exec, s, NULL, i);
        float *z = i + 1 < depth ? s->blocks[i + 1].z : s->z;
        vit_block_forward(&call, z, &s->blocks[i]);
        if (p->look) p->look(&(vit_seen){.layer = i, .p = s->blocks[i].p, .z = z}, p->context);
    }
    vit_logits_forward(n, &e->exec, s);
}

vit_status vit_explainer_forward(vit_explainer *e, const float *image, vit_look *look,
                                 void *context, vit_error *error) {
    pass p = {.explainer = e, .image = image, .look = look, .context = context};
    vit_with_team(e->exec.threads, forward, &p);
    return vit_check_answer(e->state.head.logits, e->network->config.classes, NULL, 0, error);
}

static void block_backward(const pass *p, size_t i) {
    vit_explainer *e = p->explainer;
    vit_state *s = &e->state;
    const size_t depth = e->network->config.depth;
    vit_block_weights weights = e->network->weights.blocks[i];
    vit_block_call call = vit_network_block(e->network, &e->exec, s, NULL, i);
    vit_linear *layers[BLOCK_LAYERS];
    list_block(layers, &weights);
    unpack(e, layers, BLOCK_LAYERS);
    call.weights = &weights;
    call.d_p = e->d_p;
    call.d_norm1 = e->d_norm;
    if (i + 1 < depth) vit_block_recompute(&call, s->blocks[i + 1].z, &s->blocks[i]);
    vit_block_backward(&call, &s->back, &s->blocks[i], &(vit_block_gradients){0});
    if (p->look)
        p->look(&(vit_seen){.layer = i,
                            .p = s->blocks[i].p,
                            .d_p = e->d_p,
                            .norm = s->blocks[i].norm,
                            .d_norm = e->d_norm},
                p->context);
}

static void head_backward(void *context) {
    const pass *p = context;
    vit_explainer *e = p->explainer;
    vit_state *s = &e->state;
    vit_network network = *e->network;
    memset(s->head.d_logits, 0, network.config.classes * sizeof *s->head.d_logits);
    s->head.d_logits[p->index] = 1;
    s->pool.map.d_p = e->d_map_p;
    unpack_others(e, &network.weights);
    vit_logits_backward(&network, &e->exec, s, &(vit_gradients){0});
}

void vit_explainer_backward_head(vit_explainer *e, size_t index) {
    pass p = {.explainer = e, .index = index};
    vit_with_team(e->exec.threads, head_backward, &p);
}

static void blocks_backward(void *context) {
    const pass *p = context;
    for (size_t i = p->explainer->network->config.depth; i-- > 0;) block_backward(p, i);
}

void vit_explainer_backward_blocks(vit_explainer *e, vit_look *look, void *context) {
    pass p = {.explainer = e, .look = look, .context = context};
    vit_with_team(e->exec.threads, blocks_backward, &p);
}

static void picture_backward(void *context) {
    const pass *p = context;
    vit_explainer *e = p->explainer;
    vit_network network = *e->network;
    unpack_others(e, &network.weights);
    vit_tokens_backward(&network, &e->exec, &e->state, &(vit_gradients){0});
}

void vit_explainer_backward_picture(vit_explainer *e) {
    pass p = {.explainer = e};
    vit_with_team(e->exec.threads, picture_backward, &p);
}

typedef struct head_call {
    const vit_explainer *explainer;
    vit_state state;
} head_call;

static void head(void *context) {
    head_call *c = context;
    vit_logits_forward(c->explainer->network, &c->explainer->exec, &c->state);
}

void vit_explainer_head(vit_explainer *e, float *logits, float *z) {
    head_call c = {e, e->state};
    if (c.state.pool.normed == c.state.z) c.state.pool.normed = z;
    c.state.z = z;
    c.state.batch = 1;
    c.state.rows = vit_config_tokens(&e->network->config);
    vit_with_team(e->exec.threads, head, &c);
    memcpy(logits, c.state.head.logits, e->network->config.classes * sizeof *logits);
}
