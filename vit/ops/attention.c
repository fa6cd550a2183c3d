#include "vit/ops/attention.h"
#include "vit/ops/gemm.h"

/* Queries whose full rows of scores are in the cache at once. A row's maximum, sum and chains run
 * over all keys, so the size of a block is not part of the result. */
#define QUERY_BLOCK 48

typedef struct attention {
    vit_exec exec; /* one thread: a head is a task */
    vit_attention_shape s;
    float *o, *p_out, *dq, *dk, *dv;
    const float *q, *k, *v, *d_o, *p;
    float *scratch;
    size_t scratch_size;
} attention;

size_t vit_attention_scratch(const vit_attention_shape *s) {
    const size_t scores = s->queries * vit_padded(s->keys); /* backward: dS of the whole head */
    return s->head_dim * vit_padded(s->keys) + scores;
}

/* Q_i K_i^T of a block of queries, times scale, or dO_i V_i^T: both [queries][padded keys]; transposed
 * columns past the last key are 0, so are those of the result. */
static void rows_by_keys(const attention *a, float *out, const float *rows, size_t row,
                         size_t count, const float *transposed, float scale) {
    const vit_epilogue e = {.scale = scale};
    const size_t padded = vit_padded(a->s.keys);
    vit_gemm(&a->exec, out, padded, count, padded, a->s.head_dim, (vit_left){rows, row, 1},
             vit_right_plain(transposed, padded), &e);
}

static void forward_task(size_t index, int thread, void *context) {
    const attention *a = context;
    const vit_attention_shape *s = &a->s;
    const size_t sample = index / s->heads, column = index % s->heads * s->head_dim;
    const float *q = a->q + sample * s->queries * s->q_row + column;
    const float *k = a->k + sample * s->keys * s->k_row + column;
    const float *v = a->v + sample * s->keys * s->v_row + column;
    float *o = a->o + sample * s->queries * s->o_row + column;
    float *transposed = a->scratch + (size_t)thread * a->scratch_size;
    const size_t padded = vit_padded(s->keys);
    float *scores = transposed + s->head_dim * padded;
    const vit_epilogue none = vit_epilogue_none();

    a->exec.kernels->transpose(transposed, padded, k, s->k_row, s->keys, s->head_dim);
    for (size_t i = 0; i < s->queries; i += QUERY_BLOCK) {
        const size_t count = s->queries - i < QUERY_BLOCK ? s->queries - i : QUERY_BLOCK;
        float *p = a->p_out ? a->p_out + (index * s->queries + i) * padded : scores;
        rows_by_keys(a, p, q + i * s->q_row, s->q_row, count, transposed, s->scale);
        a->exec.kernels->softmax(p, count, s->keys);
        vit_gemm(&a->exec, o + i * s->o_row, s->o_row, count, s->head_dim, s->keys,
                 (vit_left){p, padded, 1}, vit_right_plain(v, s->v_row), &none);
    }
}

static void run(const vit_exec *exec, attention *a, vit_task *task) {
    const vit_attention_shape *s = &a->s;
    const size_t work = 2 * s->batch * s->heads * s->queries * s->keys * s->head_dim;
    a->exec = (vit_exec){exec->kernels, 1};
    a->scratch_size = vit_attention_scratch(s);
    vit_parallel(vit_exec_threads(exec, work), s->batch * s->heads, task, a);
}

void vit_attention_forward(const vit_exec *exec, float *o, float *p, const float *q, const float *k,
                           const float *v, const vit_attention_shape *s, float *scratch) {
    attention a = {.s = *s, .o = o, .p_out = p, .q = q, .k = k, .v = v, .scratch = scratch};
    run(exec, &a, forward_task);
}

static void backward_task(size_t index, int thread, void *context) {
    const attention *a = context;
    const vit_attention_shape *s = &a->s;
    const size_t sample = index / s->heads, column = index % s->heads * s->head_dim;
    const size_t q0 = sample * s->queries * s->q_row + column;
    const size_t k0 = sample * s->keys * s->k_row + column;
    const size_t v0 = sample * s->keys * s->v_row + column;
    const float *d_o = a->d_o + sample * s->queries * s->o_row + column;
    const size_t padded = vit_padded(s->keys);
    const float *p = a->p + index * s->queries * padded;
    float *transposed = a->scratch + (size_t)thread * a->scratch_size;
    float *ds = transposed + s->head_dim * padded;
    const vit_epilogue none = vit_epilogue_none();

    /* O = P V: dV = P^T dO, dP = dO V^T */
    vit_gemm(&a->exec, a->dv + v0, s->v_row, s->keys, s->head_dim, s->queries,
             (vit_left){p, 1, padded}, vit_right_plain(d_o, s->o_row), &none);
    a->exec.kernels->transpose(transposed, padded, a->v + v0, s->v_row, s->keys, s->head_dim);
    rows_by_keys(a, ds, d_o, s->o_row, s->queries, transposed, 1);
    /* P = softmax(S scale): dS = P (dP - rowsum(P dP)) scale */
    a->exec.kernels->softmax_backward(ds, p, s->scale, s->queries, s->keys);
    /* S = Q K^T: dQ = dS K, dK = dS^T Q */
    vit_gemm(&a->exec, a->dq + q0, s->q_row, s->queries, s->head_dim, s->keys,
             (vit_left){ds, padded, 1}, vit_right_plain(a->k + k0, s->k_row), &none);
    vit_gemm(&a->exec, a->dk + k0, s->k_row, s->keys, s->head_dim, s->queries,
             (vit_left){ds, 1, padded}, vit_right_plain(a->q + q0, s->q_row), &none);
}

void vit_attention_backward(const vit_exec *exec, float *dq, float *dk, float *dv, const float *d_o,
                            const float *p, const float *q, const float *k, const float *v,
                            const vit_attention_shape *s, float *scratch) {
    attention a = {.s = *s,
                   .dq = dq,
                   .dk = dk,
                   .dv = dv,
                   .d_o = d_o,
                   .p = p,
                   .q = q,
                   .k = k,
                   .v = v,
                   .scratch = scratch};
    run(exec, &a, backward_task);
}
