#include "vit/ops/attention.h"
#include "vit/base/size.h"
#include "vit/ops/gemm.h"
#include <stdbool.h>

/* Queries whose full rows of scores are in the cache at once. A row's maximum, sum and chains run
 * over all keys, and chains over queries go on from block to block, so the size of a block is not
 * part of the result. */
#define QUERY_BLOCK 72

typedef struct attention {
    const vit_kernels *kernels;
    vit_attention_shape s;
    float *o, *p_out, *dq, *dk, *dv;
    const float *q, *k, *v, *d_o, *p;
    size_t parts, together; /* of a head's queries, in the forward pass; heads of a task */
    float *scratch;
    size_t scratch_size;
} attention;

/* A task's heads, at most: those of a picture in equal parts, with no more queries than a block,
 * and no more keys. While one waits for a sum or a maximum, the others have something to compute.
 */
static size_t heads_together(const vit_attention_shape *s, size_t most) {
    const size_t fit = QUERY_BLOCK / vit_max(s->queries, s->keys);
    size_t together = vit_max(1, vit_min(fit, vit_min(most, s->heads)));
    while (s->heads % together > 0) together--;
    return together;
}

/* Of one thread: transposed matrices and a block of rows of scores; backward, another of each. */
size_t vit_attention_scratch(const vit_attention_shape *s, bool backward) {
    const size_t together = heads_together(s, s->heads);
    const size_t rows = together * s->head_dim + vit_min(together * s->queries, QUERY_BLOCK);
    return (backward ? 2 : 1) * rows * vit_padded(s->keys);
}

/* Where head `index` of the batch begins in arrays of `tokens` rows. */
static size_t head_at(const vit_attention_shape *s, size_t index, size_t tokens, size_t row) {
    return index / s->heads * tokens * row + index % s->heads * s->head_dim;
}

/* The same in those of keys and values. */
static size_t key_at(const vit_attention_shape *s, size_t index, size_t row) {
    return head_at(s, index, s->skip + s->keys, row) + s->skip * row;
}

/* Q_i K_i^T of a block of queries, times scale, or dO_i V_i^T: both [count][padded keys];
 * transposed: [head_dim][padded keys]. Of some heads, whose rows lie side by side. */
static void rows_by_keys(const attention *a, float *out, const float *rows, size_t row,
                         size_t count, const float *transposed, float scale) {
    const size_t padded = vit_padded(a->s.keys), n = a->s.head_dim;
    const vit_tiles products = {.count = a->together,
                                .rows = count,
                                .columns = padded,
                                .k = n,
                                .c = out,
                                .a = rows,
                                .b = transposed,
                                .c_row = padded,
                                .a_row = row,
                                .a_col = 1,
                                .b_row = padded,
                                .down = count,
                                .a_step = n,
                                .b_step = n * padded,
                                .epilogue = {.scale = scale}};
    vit_gemm_small(a->kernels, &products);
}

/* What the products of P or dS of a block of queries have in common: columns of out and of v, which
 * those of some heads lie side by side in. */
static vit_tiles by_columns(const attention *a, float *out, size_t row, size_t count,
                            const float *p, const float *v, size_t v_row) {
    const size_t n = a->s.head_dim;
    return (vit_tiles){.count = a->together,
                       .columns = n,
                       .c = out,
                       .a = p,
                       .b = v,
                       .c_row = row,
                       .b_row = v_row,
                       .right = n,
                       .a_step = count * vit_padded(a->s.keys),
                       .b_step = n,
                       .epilogue = {.scale = 1}};
}

/* out = P V or dS K of a block of queries. */
static void keys_by_columns(const attention *a, float *out, size_t row, size_t count,
                            const float *p, const float *v, size_t v_row) {
    vit_tiles products = by_columns(a, out, row, count, p, v, v_row);
    products.rows = count;
    products.k = a->s.keys;
    products.a_row = vit_padded(a->s.keys);
    products.a_col = 1;
    vit_gemm_small(a->kernels, &products);
}

/* out += P^T dO or dS^T Q of a block of queries, of which the first only sets it. */
static void queries_by_columns(const attention *a, float *out, size_t row, size_t count,
                               const float *p, const float *d_o, size_t d_o_row, bool first) {
    vit_tiles products = by_columns(a, out, row, count, p, d_o, d_o_row);
    products.rows = a->s.keys;
    products.k = count;
    products.a_row = 1;
    products.a_col = vit_padded(a->s.keys);
    products.epilogue.accumulate = !first;
    vit_gemm_small(a->kernels, &products);
}

/* p = softmax(Q_i K_i^T scale) of a block of queries, of some heads one below the other. */
static void weigh(const attention *a, float *p, const float *q, size_t count,
                  const float *transposed) {
    rows_by_keys(a, p, q, a->s.q_row, count, transposed, a->s.scale);
    a->kernels->softmax(p, a->together * count, a->s.keys);
}

/* All queries of some heads, or a part of one head's. */
static void forward_task(size_t index, int thread, void *context) {
    const attention *a = context;
    const vit_attention_shape *s = &a->s;
    const size_t head = index / a->parts * a->together, part = index % a->parts;
    const size_t first = part * s->queries / a->parts, end = (part + 1) * s->queries / a->parts;
    const size_t padded = vit_padded(s->keys), n = s->head_dim;
    const float *q = a->q + head_at(s, head, s->queries, s->q_row);
    const float *v = a->v + key_at(s, head, s->v_row);
    float *o = a->o + head_at(s, head, s->queries, s->o_row);
    float *transposed = a->scratch + (size_t)thread * a->scratch_size;
    float *scores = transposed + a->together * n * padded;

    a->kernels->floats.transpose(transposed, padded, a->k + key_at(s, head, s->k_row), s->k_row,
                                 s->keys, a->together * n);
    for (size_t i = first; i < end; i += QUERY_BLOCK) {
        const size_t count = vit_min(end - i, QUERY_BLOCK);
        float *p = a->p_out ? a->p_out + (head * s->queries + i) * padded : scores;
        weigh(a, p, q + i * s->q_row, count, transposed);
        keys_by_columns(a, o + i * s->o_row, s->o_row, count, p, v, s->v_row);
    }
}

static size_t work_of(const vit_attention_shape *s) {
    return 2 * s->batch * s->heads * s->queries * s->keys * s->head_dim;
}

void vit_attention_forward(const vit_exec *exec, float *o, float *p, const float *q, const float *k,
                           const float *v, const vit_attention_shape *s, float *scratch) {
    const int threads = vit_exec_threads(exec, work_of(s));
    const size_t heads = s->batch * s->heads, some = 4 * (size_t)threads;
    /* Few heads would leave threads idle; parts of one transpose its keys each. */
    const size_t parts = threads > 1 && heads < some ? vit_min((size_t)threads, s->queries) : 1;
    const size_t together = parts > 1 ? 1 : heads_together(s, heads / (size_t)threads);
    attention a = {.kernels = exec->kernels,
                   .s = *s,
                   .o = o,
                   .p_out = p,
                   .q = q,
                   .k = k,
                   .v = v,
                   .parts = parts,
                   .together = together,
                   .scratch = scratch,
                   .scratch_size = vit_attention_scratch(s, false)};
    vit_parallel(threads, heads / together * parts, forward_task, &a);
}

/* What the backward pass of some heads reads and writes: of the first. */
typedef struct head {
    const float *q, *k, *v, *d_o, *p;
    float *dq, *dk, *dv;
    float *k_transposed, *v_transposed, *p_room, *ds;
} head;

static head head_of(const attention *a, size_t index, int thread) {
    const vit_attention_shape *s = &a->s;
    const size_t q = head_at(s, index, s->queries, s->q_row), padded = vit_padded(s->keys);
    const size_t transposed = a->together * s->head_dim * padded;
    const size_t k = key_at(s, index, s->k_row);
    const size_t v = key_at(s, index, s->v_row);
    float *room = a->scratch + (size_t)thread * a->scratch_size, *rest = room + a->scratch_size / 2;
    return (head){.q = a->q + q,
                  .k = a->k + k,
                  .v = a->v + v,
                  .d_o = a->d_o + head_at(s, index, s->queries, s->o_row),
                  .p = a->p ? a->p + index * s->queries * padded : NULL,
                  .dq = a->dq + q,
                  .dk = a->dk + k,
                  .dv = a->dv + v,
                  .k_transposed = room,
                  .p_room = room + transposed,
                  .v_transposed = rest,
                  .ds = rest + transposed};
}

/* Queries i .. i + count - 1 of some heads. dK and dV are sums over all queries. */
static void block_backward(const attention *a, const head *h, size_t i, size_t count) {
    const vit_attention_shape *s = &a->s;
    const size_t padded = vit_padded(s->keys);
    const float *q = h->q + i * s->q_row, *d_o = h->d_o + i * s->o_row;
    const float *p = h->p ? h->p + i * padded : h->p_room;

    if (!h->p) weigh(a, h->p_room, q, count, h->k_transposed);
    /* O = P V: dV = P^T dO, dP = dO V^T */
    queries_by_columns(a, h->dv, s->v_row, count, p, d_o, s->o_row, i == 0);
    rows_by_keys(a, h->ds, d_o, s->o_row, count, h->v_transposed, 1);
    /* P = softmax(S scale): dS = P (dP - rowsum(P dP)) scale */
    a->kernels->softmax_backward(h->ds, p, s->scale, a->together * count, s->keys);
    /* S = Q K^T: dQ = dS K, dK = dS^T Q */
    keys_by_columns(a, h->dq + i * s->q_row, s->q_row, count, h->ds, h->k, s->k_row);
    queries_by_columns(a, h->dk, s->k_row, count, h->ds, q, s->q_row, i == 0);
}

static void backward_task(size_t index, int thread, void *context) {
    const attention *a = context;
    const vit_attention_shape *s = &a->s;
    const size_t padded = vit_padded(s->keys), n = a->together * s->head_dim;
    const head h = head_of(a, index * a->together, thread);
    const vit_kernels *kernels = a->kernels;
    kernels->floats.transpose(h.v_transposed, padded, h.v, s->v_row, s->keys, n);
    if (!h.p) kernels->floats.transpose(h.k_transposed, padded, h.k, s->k_row, s->keys, n);
    for (size_t i = 0; i < s->queries; i += QUERY_BLOCK)
        block_backward(a, &h, i, vit_min(s->queries - i, QUERY_BLOCK));
}

void vit_attention_backward(const vit_exec *exec, float *dq, float *dk, float *dv, const float *d_o,
                            const float *p, const float *q, const float *k, const float *v,
                            const vit_attention_shape *s, float *scratch) {
    const int threads = vit_exec_threads(exec, work_of(s));
    const size_t heads = s->batch * s->heads;
    attention a = {.kernels = exec->kernels,
                   .s = *s,
                   .dq = dq,
                   .dk = dk,
                   .dv = dv,
                   .d_o = d_o,
                   .p = p,
                   .q = q,
                   .k = k,
                   .v = v,
                   .together = heads_together(s, heads / (size_t)threads),
                   .scratch = scratch,
                   .scratch_size = vit_attention_scratch(s, true)};
    vit_parallel(threads, heads / a.together, backward_task, &a);
}
