/* Forward and backward, a matrix after the other, each by the library's operator. Attention goes in
 * its single steps, S, P, P V, whose bits are those of vit_attention_forward: a product is a chain
 * of fused multiply-adds. */
#include <string.h>

#include "vit/base/fused.h"
#include "vit/lecture/inside.h"
#include "vit/ops/attention.h"
#include "vit/ops/embed.h"
#include "vit/ops/loss.h"

/* ---- matrices ---- */

static float *values_of(const vit_lecture *l, size_t block, vit_lecture_id id) {
    return vit_lecture_of(l, block, id)->values;
}

/* Head h of a matrix, and the same transposed. */
static vit_lecture_matrix head_of(const vit_lecture *l, size_t block, vit_lecture_id id, size_t h) {
    vit_lecture_matrix m = *vit_lecture_of(l, block, id);
    m.values += h * m.head;
    return m;
}

static vit_lecture_matrix turned(vit_lecture_matrix m) {
    const vit_lecture_matrix before = m;
    m.rows = before.columns;
    m.columns = before.rows;
    m.row = before.column;
    m.column = before.row;
    return m;
}

/* c = a b scale */
static void multiply(const vit_lecture_matrix *c, const vit_lecture_matrix *a,
                     const vit_lecture_matrix *b, float scale) {
    for (size_t i = 0; i < c->rows; i++)
        for (size_t j = 0; j < c->columns; j++) {
            float sum = 0;
            for (size_t k = 0; k < a->columns; k++)
                sum = vit_fused(a->values[i * a->row + k * a->column],
                                b->values[k * b->row + j * b->column], sum);
            c->values[i * c->row + j * c->column] = sum * scale;
        }
}

/* The same for every head. */
typedef struct factor {
    vit_lecture_id id;
    bool turned;
} factor;

static void multiply_heads(const vit_lecture *l, size_t block, vit_lecture_id to, factor a,
                           factor b, float scale) {
    for (size_t h = 0; h < l->network.config.heads; h++) {
        const vit_lecture_matrix c = head_of(l, block, to, h);
        vit_lecture_matrix x = head_of(l, block, a.id, h), y = head_of(l, block, b.id, h);
        if (a.turned) x = turned(x);
        if (b.turned) y = turned(y);
        multiply(&c, &x, &y, scale);
    }
}

static float scale_of(const vit_lecture *l) {
    return (float)(1 / sqrt((double)l->network.config.dim));
}

/* ---- forward ---- */

static void tokens_forward(vit_lecture *l) {
    const vit_weights *w = &l->network.weights;
    const vit_config *c = &l->network.config;
    const vit_patch_shape patch = vit_config_patch_shape(c);
    const size_t patches = vit_config_patches(c);
    const vit_embed_shape shape = {
        .batch = 1, .dim = c->dim, .patches = patches, .prefix = {1}, .prefix_positions = true};
    float *x_p = values_of(l, 0, LECTURE_PATCHES), *e = values_of(l, 0, LECTURE_EMBEDDED);
    vit_lecture_computed(l, 0, LECTURE_PICTURE);
    vit_patch_extract(x_p, values_of(l, 0, LECTURE_PICTURE), &patch);
    vit_lecture_computed(l, 0, LECTURE_PATCHES);
    vit_linear_forward(&l->exec, e, x_p, &w->patch_embed, NULL, patches);
    vit_lecture_computed(l, 0, LECTURE_EMBEDDED);
    vit_embed_forward(values_of(l, 0, LECTURE_Z), e, w->prefix, w->positions, &shape);
    vit_lecture_computed(l, 0, LECTURE_Z);
}

/* head = softmax(Q K^T / sqrt(D)) V */
static void attention_forward(vit_lecture *l, size_t b) {
    const vit_lecture_matrix *s = vit_lecture_of(l, b, LECTURE_S);
    float *p = values_of(l, b, LECTURE_P);
    multiply_heads(l, b, LECTURE_S, (factor){LECTURE_Q, false}, (factor){LECTURE_K, true},
                   scale_of(l));
    vit_lecture_computed(l, b, LECTURE_S);
    memcpy(p, s->values, s->heads * s->head * sizeof *p);
    l->exec.kernels->softmax(p, s->heads * s->rows, s->columns);
    vit_lecture_computed(l, b, LECTURE_P);
    multiply_heads(l, b, LECTURE_HEAD, (factor){LECTURE_P, false}, (factor){LECTURE_V, false}, 1);
    vit_lecture_computed(l, b, LECTURE_HEAD);
    vit_lecture_computed(l, b, LECTURE_CAT);
}

static void block_forward(vit_lecture *l, size_t b) {
    const vit_block_weights *w = &l->network.weights.blocks[b - 1];
    const vit_lecture_section *s = &l->sections[b];
    const size_t rows = vit_config_tokens(&l->network.config);
    const float *z = values_of(l, b - 1, LECTURE_Z);
    float *x = values_of(l, b, LECTURE_X), *x_prime = values_of(l, b, LECTURE_X_PRIME);
    float *z_prime = values_of(l, b, LECTURE_Z_PRIME);
    float *hidden = values_of(l, b, LECTURE_H), *active = values_of(l, b, LECTURE_G);
    const vit_residual_sum sum = {.residual = z}, sum_prime = {.residual = z_prime};
    vit_layernorm_forward(&l->exec, x, &s->stats[0], z, &w->norm1, rows);
    vit_lecture_computed(l, b, LECTURE_X);
    vit_linear_forward(&l->exec, s->qkv, x, &w->qkv, NULL, rows);
    vit_lecture_computed(l, b, LECTURE_Q);
    vit_lecture_computed(l, b, LECTURE_K);
    vit_lecture_computed(l, b, LECTURE_V);
    attention_forward(l, b);
    vit_linear_forward(&l->exec, z_prime, s->cat, &w->proj, &sum, rows);
    vit_lecture_computed(l, b, LECTURE_Z_PRIME);
    vit_layernorm_forward(&l->exec, x_prime, &s->stats[1], z_prime, &w->norm2, rows);
    vit_lecture_computed(l, b, LECTURE_X_PRIME);
    vit_linear_forward(&l->exec, hidden, x_prime, &w->fc1, NULL, rows);
    vit_lecture_computed(l, b, LECTURE_H);
    vit_activation_forward(&l->exec, VIT_GELU, active, hidden, rows * w->fc1.out);
    vit_lecture_computed(l, b, LECTURE_G);
    vit_linear_forward(&l->exec, values_of(l, b, LECTURE_Z), active, &w->fc2, &sum_prime, rows);
    vit_lecture_computed(l, b, LECTURE_Z);
}

static void head_forward(vit_lecture *l) {
    const vit_linear *head = l->network.weights.head;
    const size_t last = l->network.config.depth + 1;
    float *hidden = values_of(l, last, LECTURE_HIDDEN),
          *active = values_of(l, last, LECTURE_ACTIVE);
    float *logits = values_of(l, last, LECTURE_LOGITS);
    vit_lecture_computed(l, last, LECTURE_Y);
    vit_linear_forward(&l->exec, hidden, values_of(l, last, LECTURE_Y), &head[0], NULL, 1);
    vit_lecture_computed(l, last, LECTURE_HIDDEN);
    vit_activation_forward(&l->exec, VIT_GELU, active, hidden, head[0].out);
    vit_lecture_computed(l, last, LECTURE_ACTIVE);
    vit_linear_forward(&l->exec, logits, active, &head[1], NULL, 1);
    vit_lecture_computed(l, last, LECTURE_LOGITS);
    vit_softmax(values_of(l, last, LECTURE_PROBABILITIES), logits, head[1].out);
    *values_of(l, last, LECTURE_LOSS) =
        (float)vit_cross_entropy(values_of(l, last, LECTURE_D_LOGITS), logits, head[1].out,
                                 l->label, l->recipe.label_smoothing, 1);
}

void vit_lecture_forward(vit_lecture *l) {
    vit_table_pack(&l->exec, &l->packed, l->values, &l->table);
    tokens_forward(l);
    for (size_t b = 1; b <= l->network.config.depth; b++) block_forward(l, b);
    head_forward(l);
}

/* ---- backward ---- */

static void head_backward(vit_lecture *l) {
    const vit_linear *head = l->network.weights.head;
    const vit_gradients *g = &l->gradient_view;
    const size_t depth = l->network.config.depth, last = depth + 1;
    const vit_lecture_matrix *d_z = vit_lecture_of(l, depth, LECTURE_D_Z);
    const float *d_logits = values_of(l, last, LECTURE_D_LOGITS);
    float *d_active = values_of(l, last, LECTURE_D_ACTIVE);
    float *d_hidden = values_of(l, last, LECTURE_D_HIDDEN), *d_y = values_of(l, last, LECTURE_D_Y);
    vit_lecture_computed(l, last, LECTURE_D_LOGITS);
    vit_linear_backward(&l->exec, d_active, &g->head[1], d_logits,
                        values_of(l, last, LECTURE_ACTIVE), &head[1], 1);
    vit_lecture_computed(l, last, LECTURE_D_ACTIVE);
    vit_activation_backward(&l->exec, VIT_GELU, d_hidden, NULL, d_active,
                            values_of(l, last, LECTURE_HIDDEN), head[0].out);
    vit_lecture_computed(l, last, LECTURE_D_HIDDEN);
    vit_linear_backward(&l->exec, d_y, &g->head[0], d_hidden, values_of(l, last, LECTURE_Y),
                        &head[0], 1);
    vit_lecture_computed(l, last, LECTURE_D_Y);
    memset(d_z->values, 0, d_z->head * sizeof *d_z->values);
    memcpy(d_z->values, d_y, d_z->columns * sizeof *d_y);
    vit_lecture_computed(l, depth, LECTURE_D_Z);
}

/* dV = P^T dhead; dP = dhead V^T; d(Q K^T) = P (dP - sum(P dP)) / sqrt(D); dQ = d(Q K^T) K;
 * dK = d(Q K^T)^T Q */
static void attention_backward(vit_lecture *l, size_t b) {
    const vit_lecture_matrix *p = vit_lecture_of(l, b, LECTURE_P);
    float *d_s = values_of(l, b, LECTURE_D_S);
    multiply_heads(l, b, LECTURE_D_V, (factor){LECTURE_P, true}, (factor){LECTURE_D_HEAD, false},
                   1);
    vit_lecture_computed(l, b, LECTURE_D_V);
    multiply_heads(l, b, LECTURE_D_P, (factor){LECTURE_D_HEAD, false}, (factor){LECTURE_V, true},
                   1);
    vit_lecture_computed(l, b, LECTURE_D_P);
    memcpy(d_s, values_of(l, b, LECTURE_D_P), p->heads * p->head * sizeof *d_s);
    l->exec.kernels->softmax_backward(d_s, p->values, scale_of(l), p->heads * p->rows, p->columns);
    vit_lecture_computed(l, b, LECTURE_D_S);
    multiply_heads(l, b, LECTURE_D_Q, (factor){LECTURE_D_S, false}, (factor){LECTURE_K, false}, 1);
    vit_lecture_computed(l, b, LECTURE_D_Q);
    multiply_heads(l, b, LECTURE_D_K, (factor){LECTURE_D_S, true}, (factor){LECTURE_Q, false}, 1);
    vit_lecture_computed(l, b, LECTURE_D_K);
}

/* to = from + what the norm hands back of dy */
static void norm_backward(vit_lecture *l, size_t b, size_t which, float *to, const float *from,
                          const float *dy, const float *x) {
    const vit_block_weights *w = &l->network.weights.blocks[b - 1];
    const vit_block_gradients *g = &l->gradient_view.blocks[b - 1];
    const size_t rows = vit_config_tokens(&l->network.config);
    memcpy(to, from, rows * w->norm1.dim * sizeof *to);
    vit_layernorm_backward(&l->exec, to, which == 0 ? &g->norm1 : &g->norm2, dy, x,
                           &l->sections[b].stats[which], which == 0 ? &w->norm1 : &w->norm2, rows);
}

static void block_backward(vit_lecture *l, size_t b) {
    const vit_block_weights *w = &l->network.weights.blocks[b - 1];
    const vit_block_gradients *g = &l->gradient_view.blocks[b - 1];
    const vit_lecture_section *s = &l->sections[b];
    const size_t rows = vit_config_tokens(&l->network.config);
    const float *d_z = values_of(l, b, LECTURE_D_Z), *x = values_of(l, b, LECTURE_X);
    float *d_g = values_of(l, b, LECTURE_D_G), *d_h = values_of(l, b, LECTURE_D_H);
    float *d_x_prime = values_of(l, b, LECTURE_D_X_PRIME), *d_x = values_of(l, b, LECTURE_D_X);
    float *d_z_prime = values_of(l, b, LECTURE_D_Z_PRIME);
    vit_linear_backward(&l->exec, d_g, &g->fc2, d_z, values_of(l, b, LECTURE_G), &w->fc2, rows);
    vit_lecture_computed(l, b, LECTURE_D_G);
    vit_activation_backward(&l->exec, VIT_GELU, d_h, NULL, d_g, values_of(l, b, LECTURE_H),
                            rows * w->fc1.out);
    vit_lecture_computed(l, b, LECTURE_D_H);
    vit_linear_backward(&l->exec, d_x_prime, &g->fc1, d_h, values_of(l, b, LECTURE_X_PRIME),
                        &w->fc1, rows);
    vit_lecture_computed(l, b, LECTURE_D_X_PRIME);
    norm_backward(l, b, 1, d_z_prime, d_z, d_x_prime, values_of(l, b, LECTURE_Z_PRIME));
    vit_lecture_computed(l, b, LECTURE_D_Z_PRIME);
    vit_linear_backward(&l->exec, s->d_cat, &g->proj, d_z_prime, s->cat, &w->proj, rows);
    vit_lecture_computed(l, b, LECTURE_D_HEAD);
    attention_backward(l, b);
    vit_linear_backward(&l->exec, d_x, &g->qkv, s->d_qkv, x, &w->qkv, rows);
    vit_lecture_computed(l, b, LECTURE_D_X);
    norm_backward(l, b, 0, values_of(l, b - 1, LECTURE_D_Z), d_z_prime, d_x,
                  values_of(l, b - 1, LECTURE_Z));
    vit_lecture_computed(l, b - 1, LECTURE_D_Z);
}

static void tokens_backward(vit_lecture *l) {
    const vit_config *c = &l->network.config;
    const vit_gradients *g = &l->gradient_view;
    const size_t patches = vit_config_patches(c);
    const vit_embed_shape shape = {
        .batch = 1, .dim = c->dim, .patches = patches, .prefix = {1}, .prefix_positions = true};
    float *d_e = values_of(l, 0, LECTURE_D_EMBEDDED);
    vit_embed_backward(&l->exec, d_e, g->prefix, g->positions, values_of(l, 0, LECTURE_D_Z),
                       &shape);
    vit_lecture_computed(l, 0, LECTURE_D_EMBEDDED);
    vit_linear_backward(&l->exec, NULL, &g->patch_embed, d_e, values_of(l, 0, LECTURE_PATCHES),
                        &l->network.weights.patch_embed, patches);
}

void vit_lecture_backward(vit_lecture *l) {
    vit_gradients_clear(l->gradients, &l->table);
    head_backward(l);
    for (size_t b = l->network.config.depth; b > 0; b--) block_backward(l, b);
    tokens_backward(l);
}

/* ---- attention alone ---- */

const float *vit_lecture_attend(vit_lecture *l, size_t block, bool whole_width, bool causal) {
    const vit_config *c = &l->network.config;
    const size_t tokens = vit_config_tokens(c), d = c->dim;
    const size_t width = whole_width ? d : vit_config_head_dim(c);
    const float *qkv = l->sections[block].qkv;
    const vit_attention_shape shape = {.batch = 1,
                                       .heads = c->heads,
                                       .head_dim = vit_config_head_dim(c),
                                       .queries = tokens,
                                       .keys = tokens,
                                       .q_row = 3 * d,
                                       .k_row = 3 * d,
                                       .v_row = 3 * d,
                                       .o_row = d,
                                       .scale = (float)(1 / sqrt((double)width)),
                                       .causal = causal};
    vit_attention_forward(&l->exec, l->attended, NULL, qkv, qkv + d, qkv + 2 * d, &shape,
                          l->scratch);
    return l->attended;
}
