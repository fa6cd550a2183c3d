/* The last block of a network whose head reads the class token alone: only that token needs a
 * query, and all that follows the attention is one row per picture instead of T. Keys and values
 * are those of all tokens as ever. See block_parts.h. */
#include "vit/model/block_parts.h"
#include <math.h>
#include <string.h>

bool vit_first_only(const vit_block_call *c) {
    return c->outputs < vit_config_tokens(c->config);
}

/* first: [batch][D] = the first token of each picture of x: [batch][T][D]. */
static void gather_first(const vit_block_call *c, float *first, const float *x) {
    const size_t d = c->config->dim, picture = vit_config_tokens(c->config) * d;
    for (size_t b = 0; b < c->batch; b++) memcpy(first + b * d, x + b * picture, d * sizeof *x);
}

void vit_spread_first(const vit_block_call *c, float *x) {
    const size_t d = c->config->dim, picture = vit_config_tokens(c->config) * d;
    for (size_t b = c->batch; b-- > 0;) {
        memmove(x + b * picture, x + b * d, d * sizeof *x);
        memset(x + b * picture + d, 0, (picture - d) * sizeof *x);
    }
}

/* Of such a block, queries have an array of their own, [batch][A]; that of keys and values begins
 * with this column of [Q K V], the last at or before the keys' at which a panel of the packed
 * weights begins (VIT_PANEL columns). Else 0: Q, K, V lie in one array. */
static size_t first_column(const vit_block_call *c) {
    return vit_first_only(c) ? vit_config_attention_dim(c->config) / VIT_PANEL * VIT_PANEL : 0;
}

vit_qkv vit_qkv_of(const vit_block_call *c, float *qkv, float *first_q) {
    const size_t a = vit_config_attention_dim(c->config), first = first_column(c);
    return (vit_qkv){vit_first_only(c) ? first_q : qkv, qkv + a - first, qkv + 2 * a - first};
}

vit_attention_shape vit_block_attention_shape(const vit_block_call *call) {
    const vit_config *c = call->config;
    const size_t head_dim = vit_config_head_dim(c), attention = vit_config_attention_dim(c);
    const size_t row = 3 * attention - first_column(call);
    const size_t key_row = call->cache ? 2 * attention : row;
    const size_t scaled_by = c->attention_scale == VIT_SCALE_DIM ? c->dim : head_dim;
    return (vit_attention_shape){.batch = call->batch,
                                 .heads = c->heads,
                                 .head_dim = head_dim,
                                 .queries = call->outputs,
                                 .keys = call->cache ? call->cache->length : vit_config_tokens(c),
                                 .q_row = vit_first_only(call) ? attention : row,
                                 .k_row = key_row,
                                 .v_row = key_row,
                                 .o_row = attention,
                                 .scale = (float)(1 / sqrt((double)scaled_by)),
                                 .spans = call->spans,
                                 .causal = c->causal};
}

void vit_first_project(const vit_block_call *c, vit_block_state *s, const float *x) {
    const size_t a = vit_config_attention_dim(c->config), first = first_column(c);
    const vit_linear *qkv = &c->weights->qkv;
    const vit_linear rest = vit_linear_part(c->exec, qkv, first, 3 * a - first);
    const vit_linear q = vit_linear_part(c->exec, qkv, 0, a);
    vit_linear_forward(c->exec, s->qkv, x, &rest, NULL, vit_rows_in(c));
    gather_first(c, s->first_x, x);
    vit_linear_forward(c->exec, s->first_q, s->first_x, &q, NULL, c->batch);
    gather_first(c, s->first_z, s->z);
}

void vit_first_project_backward(const vit_block_call *c, float *dx, const vit_linear_gradient *g,
                                const vit_qkv *dy, const float *x, const float *first_x) {
    const size_t a = vit_config_attention_dim(c->config), row = 3 * a - first_column(c);
    const size_t rows = vit_rows_in(c);
    const vit_linear *qkv = &c->weights->qkv;
    const vit_linear q = vit_linear_part(c->exec, qkv, 0, a);
    const vit_linear kv = vit_linear_part(c->exec, qkv, a, 2 * a);
    const vit_linear_gradient g_kv = vit_linear_gradient_part(g, qkv, a);
    vit_linear_backward(c->exec, dx, g, dy->q, first_x, &q, c->batch);
    vit_spread_first(c, dx);
    vit_linear_weight_gradient(c->exec, &g_kv, dy->k, row, x, &kv, rows);
    vit_linear_input_gradient(c->exec, dx, true, dy->k, row, &kv, rows);
}
