#include "vit/ops/relative.h"
#include "vit/base/math.h"
#include <string.h>

size_t vit_relative_tokens(const vit_relative_shape *s) {
    return s->rows * s->columns + s->class_token;
}

size_t vit_relative_distances(const vit_relative_shape *s) {
    return (2 * s->rows - 1) * (2 * s->columns - 1);
}

size_t vit_relative_rows(const vit_relative_shape *s) {
    return vit_relative_distances(s) + (s->class_token ? 3 : 0);
}

size_t vit_relative_index(const vit_relative_shape *s, size_t query, size_t key) {
    const size_t count = vit_relative_distances(s), first = s->class_token;
    if (query < first) return count + (key < first ? 2 : 0);
    if (key < first) return count + 1;
    query -= first;
    key -= first;
    const size_t down = query / s->columns + s->rows - 1 - key / s->columns;
    const size_t across = query % s->columns + s->columns - 1 - key % s->columns;
    return down * (2 * s->columns - 1) + across;
}

/* sign(i - most) log(1 + |i - most|) */
static float signed_log(size_t i, size_t most) {
    const size_t size = i < most ? most - i : i - most;
    const float log = (float)vit_log((double)(1 + size));
    return i < most ? -log : log;
}

void vit_relative_places(float *places, const vit_relative_shape *s) {
    const size_t width = 2 * s->columns - 1;
    for (size_t i = 0; i < vit_relative_distances(s); i++) {
        places[2 * i] = signed_log(i / width, s->rows - 1);
        places[2 * i + 1] = signed_log(i % width, s->columns - 1);
    }
}

typedef struct job {
    const vit_relative_shape *s;
    float *bias;
    const float *table;
    float *d_table;
    const float *d_scores;
    float factor;
    size_t batch, queries;
} job;

static void forward_head(size_t head, int thread, void *context) {
    (void)thread;
    const job *j = context;
    const size_t tokens = vit_relative_tokens(j->s), padded = vit_padded(tokens);
    const size_t first = j->s->class_token, columns = j->s->columns, heads = j->s->heads;
    float *bias = j->bias + head * tokens * padded;
    for (size_t q = 0; q < tokens; q++, bias += padded) {
        if (first) bias[0] = j->table[vit_relative_index(j->s, q, 0) * heads + head];
        for (size_t k = first; k < tokens; k += columns) { /* rows of keys */
            const float *table = j->table + head;
            const size_t at = vit_relative_index(j->s, q, k), step = q < first ? 0 : 1;
            for (size_t i = 0; i < columns; i++) bias[k + i] = table[(at - i * step) * heads];
        }
        memset(bias + tokens, 0, (padded - tokens) * sizeof *bias);
    }
}

void vit_relative_forward(const vit_exec *exec, float *bias, const float *table,
                          const vit_relative_shape *s) {
    const size_t tokens = vit_relative_tokens(s);
    job j = {.s = s, .bias = bias, .table = table};
    vit_parallel(vit_exec_threads(exec, s->heads * tokens * tokens * 8), s->heads, forward_head,
                 &j);
}

static void backward_head(size_t head, int thread, void *context) {
    (void)thread;
    const job *j = context;
    const size_t heads = j->s->heads, tokens = vit_relative_tokens(j->s);
    const size_t padded = vit_padded(tokens);
    for (size_t b = 0; b < j->batch; b++) {
        const float *d = j->d_scores + (b * heads + head) * j->queries * padded;
        for (size_t q = 0; q < j->queries; q++, d += padded)
            for (size_t k = 0; k < tokens; k++)
                j->d_table[vit_relative_index(j->s, q, k) * heads + head] += j->factor * d[k];
    }
}

void vit_relative_backward(const vit_exec *exec, float *d_table, const float *d_scores,
                           float factor, size_t batch, size_t queries,
                           const vit_relative_shape *s) {
    const size_t tokens = vit_relative_tokens(s);
    job j = {.s = s,
             .d_table = d_table,
             .d_scores = d_scores,
             .factor = factor,
             .batch = batch,
             .queries = queries};
    vit_parallel(vit_exec_threads(exec, batch * s->heads * queries * tokens * 8), s->heads,
                 backward_head, &j);
}
