/* Names here, and in the formula head = softmax(Q K^T scale) V = P V, P = softmax(S):
 *
 *     q, k, v   Q, K, V, rows with strides of their own
 *     p         first S = Q K^T scale (rows_by_keys), then, in the same memory, P (weigh)
 *     o         P V, the heads side by side: cat(head_1 ... head_h)
 *     d_o, dp   the gradients of o and of P; r->ds that of Q K^T; dq, dk, dv those of Q, K, V
 *
 * vit/lecture/passes.c:attention_forward is the formula line by line, with the same bits. */
#include "vit/ops/attention.h"
#include "vit/base/size.h"
#include "vit/ops/gemm/gemm.h"
#include <stdbool.h>
#include <string.h>

/* Queries whose full rows of scores are in the cache at once; even, as queries may be paired. The
 * result does not depend on it: the maximum, the sum and the chains of a row run over all keys, and
 * chains over queries continue from block to block. */
#define QUERY_BLOCK 72

/* The same with a causal mask, where a block computes the scores of the keys that its last query
 * sees. */
#define CAUSAL_BLOCK 8

/* The same in the arithmetic of tiles, whose chains are sums of blocks of 32 queries: multiples of
 * 32, so that none is cut. */
#define TILE_QUERY_BLOCK (2 * VIT_MOST_TURNED)
#define TILE_CAUSAL_BLOCK 32

typedef struct attention {
    const vit_exec *exec; /* whose precision is that of attention */
    vit_attention_shape s;
    float *o, *p_out, *dq, *dk, *dv, *dp_out;
    const float *q, *k, *v, *d_o, *p;
    size_t parts;    /* into which the queries of a head are divided, in the forward pass */
    size_t together; /* heads in a task */
    float *scratch;
    size_t scratch_size;
} attention;

/* The most heads in a task: an equal part of a sample's heads, which together have at most a block
 * of queries and of keys. While one head waits for a sum or a maximum, the others compute. */
static size_t heads_together(const vit_attention_shape *s, size_t most) {
    const size_t fit = QUERY_BLOCK / vit_max(s->queries, s->keys);
    size_t together = vit_max(1, vit_min(fit, vit_min(most, s->heads)));
    while (s->heads % together > 0) together--;
    return together;
}

/* Heads in a task, at most `most`. Heads side by side must not share a word. */
static size_t heads_of_task(const vit_exec *exec, const vit_attention_shape *s, size_t most) {
    const bool shares = s->head_dim % vit_precisions[exec->attention].numbers > 0;
    return shares || s->causal ? 1 : heads_together(s, most);
}

static size_t block_of(const attention *a) {
    const bool tiles = vit_products_of(a->exec)->bf16 > VIT_BF16_PAIRS;
    if (a->s.causal) return tiles ? TILE_CAUSAL_BLOCK : CAUSAL_BLOCK;
    return tiles ? TILE_QUERY_BLOCK : QUERY_BLOCK;
}

/* How many keys, from the first on, the query sees. */
static size_t seen(const vit_attention_shape *s, size_t query) {
    return s->causal ? s->keys - s->queries + query + 1 : s->keys;
}

/* The heads of one task: pointers to the data of this head of this sample, and its lengths. */
static attention part_of(const attention *a, size_t sample, size_t head) {
    const vit_attention_shape *s = &a->s;
    const vit_attention_span whole = {sample * s->queries, s->queries,
                                      sample * (s->skip + s->keys) + s->skip, s->keys};
    const vit_attention_span at = s->spans ? s->spans[sample] : whole;
    const size_t column = head * s->head_dim;
    const size_t weights =
        at.query * s->heads * vit_padded(s->keys) + head * at.queries * vit_padded(at.keys);
    attention part = *a;
    part.s.queries = at.queries;
    part.s.keys = at.keys;
    part.q += at.query * s->q_row + column;
    part.k += at.key * s->k_row + column;
    part.v += at.key * s->v_row + column;
    if (a->o) part.o += at.query * s->o_row + column;
    if (a->p_out) part.p_out += weights;
    if (a->p) part.p += weights;
    if (a->dp_out) part.dp_out += weights;
    if (a->s.bias) part.s.bias += head * a->s.bias_head;
    if (a->s.d_scores) part.s.d_scores += weights;
    if (!a->d_o) return part;
    part.d_o += at.query * s->o_row + column;
    part.dq += at.query * s->q_row + column;
    part.dk += at.key * s->k_row + column;
    part.dv += at.key * s->v_row + column;
    return part;
}

/* ---- the scratch memory of a thread ---- */

typedef struct room {
    float *start; /* NULL: only the size is wanted */
    size_t size;
    float *k_transposed, *v_transposed; /* [head_dim][padded keys] of each head */
    float *p, *ds;                      /* rows of scores of a block of queries */
    /* Converted operands, where the precision has such: of V, or of K in the backward pass; of Q or
     * dO, along and across rows; of P or dS. */
    float *keys_across, *rows_along, *rows_across, *scores_across;
} room;

static float *take(room *r, size_t count) {
    float *place = r->start ? r->start + r->size : NULL;
    r->size += count;
    return place;
}

static room room_of(const vit_attention_shape *s, size_t together, bool backward, float *start) {
    const size_t width = together * s->head_dim, count = vit_min(s->queries, QUERY_BLOCK);
    const size_t padded = vit_padded(s->keys), wide = together * vit_padded(s->head_dim);
    room r = {.start = start};
    r.k_transposed = take(&r, width * padded);
    r.p = take(&r, together * count * padded);
    r.keys_across = take(&r, vit_converted_words(s->keys) * wide);
    r.rows_along = take(&r, count * together * vit_padded(vit_converted_words(s->head_dim)));
    if (!backward) return r;
    r.v_transposed = take(&r, width * padded);
    r.ds = take(&r, together * count * padded);
    r.rows_across = take(&r, vit_converted_words(count) * wide);
    r.scores_across = take(&r, together * vit_converted_words(count) * padded);
    return r;
}

size_t vit_attention_scratch(const vit_attention_shape *s, bool backward) {
    return room_of(s, heads_together(s, s->heads), backward, NULL).size;
}

static room room_of_thread(const attention *a, bool backward, int thread) {
    return room_of(&a->s, a->together, backward, a->scratch + (size_t)thread * a->scratch_size);
}

/* ---- operands: floats where they are, or converted ones ---- */

/* An operand of the products of a task's heads, `step` words from one head to the next. */
typedef struct operand {
    const float *data;
    size_t row, step;
} operand;

static bool converts(const attention *a) {
    return vit_precisions[a->exec->precision].converts;
}

static size_t words(const attention *a, size_t k) {
    return vit_words(a->exec->precision, k);
}

/* Whether rows of an operand are loaded into registers of tiles: six times as slow where they cross
 * cache lines, as those of heads of 16 or 24 numbers side by side do. */
static bool loads_tiles(const attention *a) {
    return vit_products_of(a->exec)->tile.rows > 0;
}

/* `count` rows of Q, K, V or dO, [count][together][head_dim], as an operand read along rows. */
static operand along(const attention *a, float *to, const float *from, size_t row, size_t count) {
    const size_t n = a->s.head_dim, apart = loads_tiles(a) ? a->together : 1;
    const size_t width = a->together / apart * n, step = vit_padded(words(a, width));
    if (!converts(a)) return (operand){from, row, n};
    for (size_t h = 0; h < apart; h++)
        vit_products_of(a->exec)->copy_along(to + h * step, apart * step, from + h * n, row, count,
                                             width);
    return (operand){to, apart * step, apart > 1 ? step : words(a, n)};
}

/* The same as an operand read down columns. */
static operand across(const attention *a, float *to, const float *from, size_t row, size_t count) {
    const size_t n = a->s.head_dim, apart = loads_tiles(a) ? a->together : 1;
    const size_t width = a->together / apart * n, step = vit_padded(width);
    if (!converts(a)) return (operand){from, row, n};
    for (size_t h = 0; h < apart; h++)
        vit_products_of(a->exec)->copy_across(to + h * step, apart * step, from + h * n, row, count,
                                              width);
    return (operand){to, apart * step, apart > 1 ? step : n};
}

/* P or dS, [together][count][padded keys], as an operand read along rows; `to` may be `scores`. */
static operand scores_along(const attention *a, float *to, const float *scores, size_t count) {
    const size_t padded = vit_padded(a->s.keys), step = count * padded;
    if (!converts(a)) return (operand){scores, padded, step};
    vit_products_of(a->exec)->copy_along(to, padded, scores, padded, a->together * count,
                                         a->s.keys);
    return (operand){to, padded, step};
}

/* The same as an operand read down columns. */
static operand scores_across(const attention *a, float *to, const float *scores, size_t count) {
    const size_t padded = vit_padded(a->s.keys), step = count * padded;
    const size_t to_step = vit_converted_words(count) * padded;
    if (!converts(a)) return (operand){scores, padded, step};
    for (size_t h = 0; h < a->together; h++)
        vit_products_of(a->exec)->copy_across(to + h * to_step, padded, scores + h * step, padded,
                                              count, a->s.keys);
    return (operand){to, padded, to_step};
}

/* to = the transposed K or V of a task's heads: [together][head_dim][padded keys]. */
static void transpose_keys(const attention *a, float *to, const float *from, size_t row) {
    vit_products_of(a->exec)->transpose(to, vit_padded(a->s.keys), from, row, a->s.keys,
                                        a->together * a->s.head_dim);
}

/* ---- products ---- */

/* out = Q K^T scale or dO V^T for a block of queries and each head of the task, [count][padded
 * keys], up to the last key that one of them sees; transposed: [head_dim][padded keys] of each
 * head.
 */
static void rows_by_keys(const attention *a, float *out, operand rows, size_t first, size_t count,
                         const float *transposed, float scale) {
    const size_t padded = vit_padded(a->s.keys), k = words(a, a->s.head_dim);
    const vit_tiles products = {.count = a->together,
                                .rows = count,
                                .columns = vit_padded(seen(&a->s, first + count - 1)),
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

/* The common fields of products of P or dS: the heads' columns of out and of v are side by side. */
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

/* out = P V or dS K for a block of queries; with a causal mask query by query. */
static void keys_by_columns(const attention *a, float *out, size_t row, size_t first, size_t count,
                            operand p, operand v) {
    vit_tiles products = by_columns(a, out, row, p, v);
    products.rows = a->s.causal ? 1 : count;
    products.a_row = p.row;
    products.a_col = 1;
    for (size_t i = 0; i < count; i += products.rows) {
        products.k = words(a, seen(&a->s, first + i));
        vit_gemm_small(a->exec, &products);
        products.c += row;
        products.a += p.row;
    }
}

/* out += P^T dO or dS^T Q for a block of queries and the keys that it sees; out = the same for keys
 * that no block before it has seen. */
static void queries_by_columns(const attention *a, float *out, size_t row, size_t first,
                               size_t count, operand p, operand d_o) {
    const size_t before = first > 0 ? seen(&a->s, first - 1) : 0;
    const size_t now = seen(&a->s, first + count - 1);
    vit_tiles products = by_columns(a, out, row, p, d_o);
    products.k = words(a, count);
    products.a_row = 1;
    products.a_col = p.row;
    products.rows = before;
    products.epilogue.accumulate = true;
    if (before > 0) vit_gemm_small(a->exec, &products);
    products.rows = now - before;
    products.c += before * row;
    products.a += before;
    products.epilogue.accumulate = false;
    if (now > before) vit_gemm_small(a->exec, &products);
}

/* The scores of masked keys, in the row of this query, become 0. */
static void clear_masked(const attention *a, float *x, size_t query) {
    const size_t n = seen(&a->s, query), padded = vit_padded(a->s.keys);
    memset(x + n, 0, (padded - n) * sizeof *x);
}

/* Adds the bias of a block of queries of each head. */
static void add_bias(const attention *a, float *p, size_t first, size_t count) {
    const size_t padded = vit_padded(a->s.keys);
    for (size_t h = 0; h < a->together; h++) {
        const float *bias = a->s.bias + h * a->s.bias_head + first * padded;
        for (size_t i = 0; i < count; i++, p += padded, bias += padded)
            a->exec->kernels->add(p, bias, a->s.keys);
    }
}

/* Hands the gradients of a block's scores to the caller. */
static void keep_scores(const attention *a, const float *ds, size_t first, size_t count) {
    const size_t padded = vit_padded(a->s.keys);
    for (size_t h = 0; h < a->together; h++)
        memcpy(a->s.d_scores + (h * a->s.queries + first) * padded, ds + h * count * padded,
               count * padded * sizeof *ds);
}

/* p = softmax(Q K^T scale) for a block of queries, head after head. */
static void weigh(const attention *a, float *p, operand q, size_t first, size_t count,
                  const float *transposed) {
    const vit_kernels *kernels = a->exec->kernels;
    rows_by_keys(a, p, q, first, count, transposed, a->s.scale);
    if (a->s.bias) add_bias(a, p, first, count);
    if (!a->s.causal) kernels->softmax(p, a->together * count, a->s.keys);
    for (size_t i = first; i < first + count && a->s.causal; i++, p += vit_padded(a->s.keys)) {
        kernels->softmax(p, 1, seen(&a->s, i));
        clear_masked(a, p, i);
    }
}

/* ds = P (dP - rowsum(P dP)) scale, where ds holds dP. */
static void weigh_backward(const attention *a, float *ds, const float *p, size_t first,
                           size_t count) {
    const vit_kernels *kernels = a->exec->kernels;
    const size_t padded = vit_padded(a->s.keys);
    if (!a->s.causal) kernels->softmax_backward(ds, p, a->s.scale, a->together * count, a->s.keys);
    for (size_t i = first; i < first + count && a->s.causal; i++, p += padded, ds += padded) {
        kernels->softmax_backward(ds, p, a->s.scale, 1, seen(&a->s, i));
        clear_masked(a, ds, i);
    }
}

/* ---- passes ---- */

/* All queries of some heads, or a part of the queries of one head. */
static void forward_task(size_t index, int thread, void *context) {
    const attention *whole = context;
    const size_t groups = whole->s.heads / whole->together;
    const size_t group = index / whole->parts, part = index % whole->parts;
    const attention one = part_of(whole, group / groups, group % groups * whole->together);
    const attention *a = &one;
    const vit_attention_shape *s = &a->s;
    const size_t first = part * s->queries / a->parts, end = (part + 1) * s->queries / a->parts;
    const size_t padded = vit_padded(s->keys), block = block_of(a);
    const room r = room_of_thread(a, false, thread);
    if (first == end) return;

    transpose_keys(a, r.k_transposed, a->k, s->k_row);
    const operand v = across(a, r.keys_across, a->v, s->v_row, s->keys);
    for (size_t i = first; i < end; i += block) {
        const size_t count = vit_min(end - i, block);
        float *p = a->p_out ? a->p_out + i * padded : r.p;
        weigh(a, p, along(a, r.rows_along, a->q + i * s->q_row, s->q_row, count), i, count,
              r.k_transposed);
        keys_by_columns(a, a->o + i * s->o_row, s->o_row, i, count, scores_along(a, r.p, p, count),
                        v);
    }
}

/* How the products here run: in attention's precision. */
static vit_exec exec_of(const vit_exec *exec) {
    vit_exec own = *exec;
    own.precision = exec->attention;
    return own;
}

static size_t work_of(const vit_attention_shape *s) {
    return 2 * s->batch * s->heads * s->queries * s->keys * s->head_dim;
}

void vit_attention_forward(const vit_exec *exec, float *o, float *p, const float *q, const float *k,
                           const float *v, const vit_attention_shape *s, float *scratch) {
    const vit_exec own = exec_of(exec);
    const int threads = vit_exec_threads(exec, work_of(s));
    const size_t heads = s->batch * s->heads, some = 4 * (size_t)threads;
    /* Too few heads would leave threads idle, so their queries are divided; the price is that each
     * part transposes the keys of its head. */
    const size_t parts = threads > 1 && heads < some ? vit_min((size_t)threads, s->queries) : 1;
    const size_t together = parts > 1 ? 1 : heads_of_task(exec, s, heads / (size_t)threads);
    attention a = {.exec = &own,
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

/* Queries i .. i + count - 1 of some heads. dK and dV are sums over all queries. */
static void block_backward(const attention *a, const room *r, operand keys, size_t i,
                           size_t count) {
    const vit_attention_shape *s = &a->s;
    const size_t padded = vit_padded(s->keys);
    const float *q = a->q + i * s->q_row, *d_o = a->d_o + i * s->o_row;
    const float *p = a->p ? a->p + i * padded : r->p;

    if (!a->p)
        weigh(a, r->p, along(a, r->rows_along, q, s->q_row, count), i, count, r->k_transposed);
    /* O = P V: dV = P^T dO, dP = dO V^T */
    queries_by_columns(a, a->dv, s->v_row, i, count, scores_across(a, r->scores_across, p, count),
                       across(a, r->rows_across, d_o, s->o_row, count));
    rows_by_keys(a, r->ds, along(a, r->rows_along, d_o, s->o_row, count), i, count, r->v_transposed,
                 1);
    for (size_t h = 0; h < a->together && a->dp_out; h++)
        memcpy(a->dp_out + (h * s->queries + i) * padded, r->ds + h * count * padded,
               count * padded * sizeof *r->ds);
    /* P = softmax(S scale): dS = P (dP - rowsum(P dP)) scale */
    weigh_backward(a, r->ds, p, i, count);
    if (s->d_scores) keep_scores(a, r->ds, i, count);
    /* S = Q K^T: dK = dS^T Q, dQ = dS K */
    queries_by_columns(a, a->dk, s->k_row, i, count,
                       scores_across(a, r->scores_across, r->ds, count),
                       across(a, r->rows_across, q, s->q_row, count));
    keys_by_columns(a, a->dq + i * s->q_row, s->q_row, i, count,
                    scores_along(a, r->ds, r->ds, count), keys);
}

static void backward_task(size_t index, int thread, void *context) {
    const attention *whole = context;
    const size_t groups = whole->s.heads / whole->together;
    const attention one = part_of(whole, index / groups, index % groups * whole->together);
    const vit_attention_shape *s = &one.s;
    const room r = room_of_thread(&one, true, thread);
    const size_t block = block_of(&one);
    transpose_keys(&one, r.v_transposed, one.v, s->v_row);
    if (!one.p) transpose_keys(&one, r.k_transposed, one.k, s->k_row);
    const operand keys = across(&one, r.keys_across, one.k, s->k_row, s->keys);
    for (size_t i = 0; i < s->queries; i += block)
        block_backward(&one, &r, keys, i, vit_min(s->queries - i, block));
}

void vit_attention_backward(const vit_exec *exec, float *dq, float *dk, float *dv, const float *d_o,
                            const float *p, const float *q, const float *k, const float *v,
                            const vit_attention_shape *s, float *scratch, float *dp) {
    const vit_exec own = exec_of(exec);
    const int threads = vit_exec_threads(exec, work_of(s));
    const size_t heads = s->batch * s->heads;
    attention a = {.exec = &own,
                   .s = *s,
                   .dq = dq,
                   .dk = dk,
                   .dv = dv,
                   .dp_out = dp,
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
