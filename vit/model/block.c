#include "vit/model/network.h"
#include "vit/ops/gelu.h"
#include <math.h>

static vit_attention_shape attention_shape(const vit_config *c, size_t batch) {
    const size_t head_dim = c->dim / c->heads, tokens = vit_config_tokens(c);
    const size_t scaled_by = c->attention_scale == VIT_SCALE_DIM ? c->dim : head_dim;
    return (vit_attention_shape){.batch = batch,
                                 .heads = c->heads,
                                 .head_dim = head_dim,
                                 .queries = tokens,
                                 .keys = tokens,
                                 .q_row = 3 * c->dim,
                                 .k_row = 3 * c->dim,
                                 .v_row = 3 * c->dim,
                                 .o_row = c->dim,
                                 .scale = (float)(1 / sqrt((double)scaled_by))};
}

void vit_block_forward(const vit_exec *exec, float *z_next, vit_block_state *s,
                       const vit_block_weights *w, const vit_config *config, size_t batch,
                       float *scratch) {
    const size_t rows = batch * vit_config_tokens(config), d = config->dim;
    const vit_attention_shape shape = attention_shape(config, batch);
    /* z' = MSA(LN(z)) + z */
    vit_layernorm_forward(exec, s->norm1, &s->stats1, s->z, &w->norm1, rows);
    vit_linear_forward(exec, s->qkv, s->norm1, &w->qkv, NULL, rows);
    vit_attention_forward(exec, s->o, s->p, s->qkv, s->qkv + d, s->qkv + 2 * d, &shape, scratch);
    vit_linear_forward(exec, s->mid, s->o, &w->proj, s->z, rows);
    /* z_next = MLP(LN(z')) + z' */
    vit_layernorm_forward(exec, s->norm2, &s->stats2, s->mid, &w->norm2, rows);
    vit_linear_forward(exec, s->hidden, s->norm2, &w->fc1, NULL, rows);
    vit_gelu_forward(exec, s->active, s->hidden, rows * config->mlp);
    vit_linear_forward(exec, z_next, s->active, &w->fc2, s->mid, rows);
}

void vit_block_backward(const vit_exec *exec, vit_state *s, const vit_block_state *b,
                        const vit_block_weights *w, const vit_block_gradients *g,
                        const vit_config *config) {
    const size_t rows = s->batch * vit_config_tokens(config), d = config->dim;
    const vit_attention_shape shape = attention_shape(config, s->batch);
    float *d_qkv = s->d_wide, *d_hidden = s->d_wide;
    /* z_next = MLP(LN(z')) + z': d_z is both paths' gradient, the norm's is added to it. */
    vit_linear_backward(exec, d_hidden, &g->fc2, s->d_z, b->active, &w->fc2, rows);
    vit_gelu_backward(exec, d_hidden, d_hidden, b->hidden, rows * config->mlp);
    vit_linear_backward(exec, s->d_narrow, &g->fc1, d_hidden, b->norm2, &w->fc1, rows);
    vit_layernorm_backward(exec, s->d_z, &g->norm2, s->d_narrow, b->mid, &b->stats2, &w->norm2,
                           rows);
    /* z' = MSA(LN(z)) + z */
    vit_linear_backward(exec, s->d_narrow, &g->proj, s->d_z, b->o, &w->proj, rows);
    vit_attention_backward(exec, d_qkv, d_qkv + d, d_qkv + 2 * d, s->d_narrow, b->p, b->qkv,
                           b->qkv + d, b->qkv + 2 * d, &shape, s->scratch);
    vit_linear_backward(exec, s->d_narrow, &g->qkv, d_qkv, b->norm1, &w->qkv, rows);
    vit_layernorm_backward(exec, s->d_z, &g->norm1, s->d_narrow, b->z, &b->stats1, &w->norm1, rows);
}
