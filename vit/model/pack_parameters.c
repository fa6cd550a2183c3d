/* The weights of matrix products in the order in which products read them, a parameter a task. */
#include "vit/model/parameters.h"
#include "vit/ops/int8.h"

/* Whether this row is in 8-bit integers in this precision. */
static bool is_rounded(const vit_parameter *row, vit_precision precision) {
    return row->rounds && vit_precisions[precision].scales;
}

/* The exec for rows that are no such integers. */
static vit_exec exec_for(const vit_exec *exec, vit_precision precision) {
    vit_exec floats = *exec;
    floats.precision = vit_precisions[precision].outside;
    return floats;
}

size_t vit_packed_at(const vit_parameter *p, vit_precision precision) {
    return vit_precisions[precision].scales ? p->int8_offset
                                            : vit_words(precision, p->packed_offset);
}

size_t vit_table_words(const vit_table *table, vit_precision precision) {
    return vit_precisions[precision].scales ? table->int8_size
                                            : vit_words(precision, table->packed_size);
}

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
    const size_t at = vit_packed_at(row, p->packed->precision);
    const float *w = p->values + row->offset;
    if (is_rounded(row, p->packed->precision)) {
        vit_int8_pack(p->packed->transposed + at, w, NULL, out, in);
        return;
    }
    vit_pack_transposed(&p->exec, p->packed->transposed + at, w, out, in, in);
    if (p->packed->rows && row->layer > 0)
        vit_pack_rows(&p->exec, p->packed->rows + at, w, in, out, in);
}

void vit_table_pack(const vit_exec *exec, const vit_packed_weights *packed, const float *values,
                    const vit_table *table) {
    packing p = {exec_for(exec, packed->precision), packed, values, table};
    vit_parallel(exec->threads, table->count, pack_task, &p);
}

typedef struct rounding {
    vit_exec exec;
    const vit_packed_weights *to, *from;
    const vit_table *table;
} rounding;

static void round_task(size_t index, int thread, void *context) {
    (void)thread;
    const rounding *r = context;
    const vit_parameter *row = &r->table->rows[index];
    if (!row->packs) return;
    const size_t out = row->shape[0], in = row->count / out;
    float *to = r->to->transposed + vit_packed_at(row, r->to->precision);
    const float *from = r->from->transposed + vit_packed_at(row, r->from->precision);
    if (is_rounded(row, r->to->precision))
        vit_int8_pack_panels(to, from, out, in);
    else if (is_rounded(row, r->from->precision))
        vit_int8_unpack_panels(to, from, out, in);
    else
        vit_pack_rounded(&r->exec, to, from, out, in);
}

void vit_table_round(const vit_exec *exec, const vit_packed_weights *rounded,
                     const vit_packed_weights *packed, const vit_table *table) {
    rounding r = {exec_for(exec, rounded->precision), rounded, packed, table};
    vit_parallel(exec->threads, table->count, round_task, &r);
}
