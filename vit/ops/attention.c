#include "vit/ops/attention.h"
#include "vit/base/size.h"
#include "vit/ops/gemm.h"
#include <stdbool.h>

/* Queries whose full rows of scores are in the cache at once. A row's maximum, sum and chains run
 * over all keys, and chains over queries go on from block to block, at a pair's first if they are
 * of pairs, so the size of a block is not part of the result. */
#define QUERY_BLOCK 72

typedef struct attention {
    const vit_exec *exec;
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

/* Side by side, heads of an odd width would be in each other's pairs. */
static size_t heads_of_task(const vit_exec *exec, const vit_attention_shape *s, size_t most) {
    const bool odd = exec->precision == VIT_PRECISION_BF16 && s->head_dim % 2 > 0;
    return odd ? 1 : heads_together(s, most);
}

/* ---- a thread's room ---- */

typedef struct room {
    float *start; /* NULL: only the size is wanted */
    size_t size;
    float *k_transposed, *v_transposed; /* [head_dim][padded keys] of each head */
    float *p, *ds;                      /* rows of scores of a block of queries */
    /* Pairs that a product begins with instead of floats: of values, or keys in the backward pass;
     * of queries or dO, in both ways; of P or dS. */
    float *keys_across, *rows_along, *rows_across, *scores_across;
} room;

static float *take(room *r, size_t count) {
    float *place = r->start ? r->start + r->size : NULL;
    r->size += count;
    return place;
}

static size_t pairs_of(size_t n) {
    return vit_words(VIT_PRECISION_BF16, n);
}

static room room_of(const vit_attention_shape *s, size_t together, bool backward, float *start) {
    const size_t width = together * s->head_dim, count = vit_min(s->queries, QUERY_BLOCK);
    const size_t padded = vit_padded(s->keys), wide = vit_padded(width);
    room r = {.start = start};
    r.k_transposed = take(&r, width * padded);
    r.p = take(&r, together * count * padded);
    r.keys_across = take(&r, pairs_of(s->keys) * wide);
    r.rows_along = take(&r, count * vit_padded(pairs_of(width)));
    if (!backward) return r;
    r.v_transposed = take(&r, width * padded);
    r.ds = take(&r, together * count * padded);
    r.rows_across = take(&r, pairs_of(count) * wide);
    r.scores_across = take(&r, together * pairs_of(count) * padded);
    return r;
}

size_t vit_attention_scratch(const vit_attention_shape *s, bool backward) {
    return room_of(s, heads_together(s, s->heads), backward, NULL).size;
}

static room room_of_thread(const attention *a, bool backward, int thread) {
    return room_of(&a->s, a->together, backward, a->scratch + (size_t)thread * a->scratch_size);
}

/* Where head `index` of the batch begins in arrays of `tokens` rows. */
static size_t head_at(const vit_attention_shape *s, size_t index, size_t tokens, size_t row) {
    return index / s->heads * tokens * row + index % s->heads * s->head_dim;
}

/* The same in those of keys and values. */
static size_t key_at(const vit_attention_shape *s, size_t index, size_t row) {
    return head_at(s, index, s->skip + s->keys, row) + s->skip * row;
}

/* ---- operands: floats where they lie, or what pairs are made of them ---- */

/* Of some heads, `step` words from one to the next. */
typedef struct operand {
    const float *data;
    size_t row, step;
} operand;

static bool is_pairs(const attention *a) {
    return a->exec->precision == VIT_PRECISION_BF16;
}

static size_t words(const attention *a, size_t k) {
    return vit_words(a->exec->precision, k);
}

/* Queries, keys, values or dO, [count][together][head_dim]: to be read along a row. */
static operand along(const attention *a, float *to, const float *from, size_t row, size_t count) {
    const size_t n = a->s.head_dim, width = a->together * n, to_row = vit_padded(pairs_of(width));
    if (!is_pairs(a)) return (operand){from, row, n};
    a->exec->kernels->pairs->copy_along(to, to_row, from, row, count, width);
    return (operand){to, to_row, n / 2};
}

/* The same across rows, down a column. */
static operand across(const attention *a, float *to, const float *from, size_t row, size_t count) {
    const size_t n = a->s.head_dim, width = a->together * n, to_row = vit_padded(width);
    if (!is_pairs(a)) return (operand){from, row, n};
    a->exec->kernels->pairs->copy_across(to, to_row, from, row, count, width);
    return (operand){to, to_row, n};
}

/* P or dS, [together][count][padded keys]: along rows, which may be where they lie. */
static operand scores_along(const attention *a, float *to, const float *scores, size_t count) {
    const size_t padded = vit_padded(a->s.keys), step = count * padded;
    if (!is_pairs(a)) return (operand){scores, padded, step};
    a->exec->kernels->pairs->copy_along(to, padded, scores, padded, a->together * count, a->s.keys);
    return (operand){to, padded, step};
}

static operand scores_across(const attention *a, float *to, const float *scores, size_t count) {
    const size_t padded = vit_padded(a->s.keys), step = count * padded;
    const size_t to_step = pairs_of(count) * padded;
    if (!is_pairs(a)) return (operand){scores, padded, step};
    for (size_t h = 0; h < a->together; h++)
        a->exec->kernels->pairs->copy_across(to + h * to_step, padded, scores + h * step, padded,
                                             count, a->s.keys);
    return (operand){to, padded, to_step};
}

static void transpose_keys(const attention *a, float *to, const float *from, size_t row) {
    vit_products_of(a->exec)->transpose(to, vit_padded(a->s.keys), from, row, a->s.keys,
                                        a->together * a->s.head_dim);
}

/* ---- products ---- */

/* Q_i K_i^T of a block of queries, times scale, or dO_i V_i^T: both [count][padded keys];
 * transposed: [head_dim][padded keys]. Of some heads, whose rows lie side by side. */
static void rows_by_keys(const attention *a, float *out, operand rows, size_t count,
                         const float *transposed, float scale) {
    const size_t padded = vit_padded(a->s.keys), k = words(a, a->s.head_dim);
    const vit_tiles products = {.count = a->together,
                                .rows = count,
                                .columns = padded,
                                .k = k,
                                .c = out,
                                .a = rows.data,
                                .b = transposed,
                                .c_row = padded,
                                .a_row = rows.row,
                                .a_col = 1,
                                .b_row = padded,
                                .down = count,
                                .a_step = rows.step,
                                .b_step = k * padded,
                                .epilogue = {.scale = scale}};
    vit_gemm_small(a->exec, &products);
}

/* What the products of P or dS of a block of queries have in common: columns of out and of v, which
 * those of some heads lie side by side in. */
static vit_tiles by_columns(const attention *a, float *out, size_t row, operand p, operand v) {
    const size_t n = a->s.head_dim;
    return (vit_tiles){.count = a->together,
                       .columns = n,
                       .c = out,
                       .a = p.data,
                       .b = v.data,
                       .c_row = row,
                       .b_row = v.row,
                       .right = n,
                       .a_step = p.step,
                       .b_step = v.step,
                       .epilogue = {.scale = 1}};
}

/* out = P V or dS K of a block of queries. */
static void keys_by_columns(const attention *a, float *out, size_t row, size_t count, operand p,
                            operand v) {
    vit_tiles products = by_columns(a, out, row, p, v);
    products.rows = count;
    products.k = words(a, a->s.keys);
    products.a_row = p.row;
    products.a_col = 1;
    vit_gemm_small(a->exec, &products);
}

/* out += P^T dO or dS^T Q of a block of queries, of which the first only sets it. */
static void queries_by_columns(const attention *a, float *out, size_t row, size_t count, operand p,
                               operand d_o, bool first) {
    vit_tiles products = by_columns(a, out, row, p, d_o);
    products.rows = a->s.keys;
    products.k = words(a, count);
    products.a_row = 1;
    products.a_col = p.row;
    products.epilogue.accumulate = !first;
    vit_gemm_small(a->exec, &products);
}

/* p = softmax(Q_i K_i^T scale) of a block of queries, of some heads one below the other. */
static void weigh(const attention *a, float *p, operand q, size_t count, const float *transposed) {
    rows_by_keys(a, p, q, count, transposed, a->s.scale);
    a->exec->kernels->softmax(p, a->together * count, a->s.keys);
}

/* ---- passes ---- */

/* All queries of some heads, or a part of one head's. */
static void forward_task(size_t index, int thread, void *context) {
    const attention *a = context;
    const vit_attention_shape *s = &a->s;
    const size_t head = index / a->parts * a->together, part = index % a->parts;
    const size_t first = part * s->queries / a->parts, end = (part + 1) * s->queries / a->parts;
    const size_t padded = vit_padded(s->keys);
    const float *q = a->q + head_at(s, head, s->queries, s->q_row);
    float *o = a->o + head_at(s, head, s->queries, s->o_row);
    const room r = room_of_thread(a, false, thread);

    transpose_keys(a, r.k_transposed, a->k + key_at(s, head, s->k_row), s->k_row);
    const operand v = across(a, r.keys_across, a->v + key_at(s, head, s->v_row), s->v_row, s->keys);
    for (size_t i = first; i < end; i += QUERY_BLOCK) {
        const size_t count = vit_min(end - i, QUERY_BLOCK);
        float *p = a->p_out ? a->p_out + (head * s->queries + i) * padded : r.p;
        weigh(a, p, along(a, r.rows_along, q + i * s->q_row, s->q_row, count), count,
              r.k_transposed);
        keys_by_columns(a, o + i * s->o_row, s->o_row, count, scores_along(a, r.p, p, count), v);
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
    const size_t together = parts > 1 ? 1 : heads_of_task(exec, s, heads / (size_t)threads);
    attention a = {.exec = exec,
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
    operand keys;
    room r;
} head;

static head head_of(const attention *a, size_t index, int thread) {
    const vit_attention_shape *s = &a->s;
    const size_t q = head_at(s, index, s->queries, s->q_row), padded = vit_padded(s->keys);
    const size_t k = key_at(s, index, s->k_row);
    const size_t v = key_at(s, index, s->v_row);
    return (head){.q = a->q + q,
                  .k = a->k + k,
                  .v = a->v + v,
                  .d_o = a->d_o + head_at(s, index, s->queries, s->o_row),
                  .p = a->p ? a->p + index * s->queries * padded : NULL,
                  .dq = a->dq + q,
                  .dk = a->dk + k,
                  .dv = a->dv + v,
                  .r = room_of_thread(a, true, thread)};
}

/* Queries i .. i + count - 1 of some heads. dK and dV are sums over all queries. */
static void block_backward(const attention *a, const head *h, size_t i, size_t count) {
    const vit_attention_shape *s = &a->s;
    const room *r = &h->r;
    const float *q = h->q + i * s->q_row, *d_o = h->d_o + i * s->o_row;
    const float *p = h->p ? h->p + i * vit_padded(s->keys) : r->p;

    if (!h->p) weigh(a, r->p, along(a, r->rows_along, q, s->q_row, count), count, r->k_transposed);
    /* O = P V: dV = P^T dO, dP = dO V^T */
    queries_by_columns(a, h->dv, s->v_row, count, scores_across(a, r->scores_across, p, count),
                       across(a, r->rows_across, d_o, s->o_row, count), i == 0);
    rows_by_keys(a, r->ds, along(a, r->rows_along, d_o, s->o_row, count), count, r->v_transposed,
                 1);
    /* P = softmax(S scale): dS = P (dP - rowsum(P dP)) scale */
    a->exec->kernels->softmax_backward(r->ds, p, s->scale, a->together * count, s->keys);
    /* S = Q K^T: dK = dS^T Q, dQ = dS K */
    queries_by_columns(a, h->dk, s->k_row, count, scores_across(a, r->scores_across, r->ds, count),
                       across(a, r->rows_across, q, s->q_row, count), i == 0);
    keys_by_columns(a, h->dq + i * s->q_row, s->q_row, count, scores_along(a, r->ds, r->ds, count),
                    h->keys);
}

static void backward_task(size_t index, int thread, void *context) {
    const attention *a = context;
    const vit_attention_shape *s = &a->s;
    head h = head_of(a, index * a->together, thread);
    transpose_keys(a, h.r.v_transposed, h.v, s->v_row);
    if (!h.p) transpose_keys(a, h.r.k_transposed, h.k, s->k_row);
    h.keys = across(a, h.r.keys_across, h.k, s->k_row, s->keys);
    for (size_t i = 0; i < s->queries; i += QUERY_BLOCK)
        block_backward(a, &h, i, vit_min(s->queries - i, QUERY_BLOCK));
}

void vit_attention_backward(const vit_exec *exec, float *dq, float *dk, float *dv, const float *d_o,
                            const float *p, const float *q, const float *k, const float *v,
                            const vit_attention_shape *s, float *scratch) {
    const int threads = vit_exec_threads(exec, work_of(s));
    const size_t heads = s->batch * s->heads;
    attention a = {.exec = exec,
                   .s = *s,
                   .dq = dq,
                   .dk = dk,
                   .dv = dv,
                   .d_o = d_o,
                   .p = p,
                   .q = q,
                   .k = k,
                   .v = v,
                   .together = heads_of_task(exec, s, heads / (size_t)threads),
                   .scratch = scratch,
                   .scratch_size = vit_attention_scratch(s, true)};
    vit_parallel(threads, heads / a.together, backward_task, &a);
}
