/* The weights of matrix products in the order in which products read them, a parameter a task. */
#include "vit/model/parameters.h"

typedef struct packing {
    vit_exec exec;
    const vit_packed_weights *packed;
    const float *values;
    const vit_table *table;
} packing;

static void pack_task(size_t index, int thread, void *context) {
    (void)thread;
    const packing *p = context;
    const vit_parameter *row = &p->table->rows[index];
    if (!row->packs) return;
    const size_t out = row->shape[0], in = row->count / out;
    const size_t at = vit_words(p->exec.precision, row->packed_offset);
    const float *w = p->values + row->offset;
    vit_pack_transposed(&p->exec, p->packed->transposed + at, w, out, in, in);
    if (p->packed->rows && row->layer > 0)
        vit_pack_rows(&p->exec, p->packed->rows + at, w, in, out, in);
}

void vit_table_pack(const vit_exec *exec, const vit_packed_weights *packed, const float *values,
                    const vit_table *table) {
    packing p = {*exec, packed, values, table};
    p.exec.precision = packed->precision;
    vit_parallel(exec->threads, table->count, pack_task, &p);
}

typedef struct rounding {
    vit_exec exec;
    float *to;
    const float *from;
    const vit_table *table;
} rounding;

static void round_task(size_t index, int thread, void *context) {
    (void)thread;
    const rounding *r = context;
    const vit_parameter *row = &r->table->rows[index];
    if (!row->packs) return;
    vit_pack_rounded(&r->exec, r->to + vit_words(r->exec.precision, row->packed_offset),
                     r->from + row->packed_offset, row->shape[0], row->count / row->shape[0]);
}

void vit_table_round(const vit_exec *exec, const vit_packed_weights *rounded,
                     const vit_packed_weights *packed, const vit_table *table) {
    rounding r = {*exec, rounded->transposed, packed->transposed, table};
    r.exec.precision = rounded->precision;
    vit_parallel(exec->threads, table->count, round_task, &r);
}
