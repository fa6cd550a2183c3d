/* The weights of matrix products in the order in which products read them, a parameter a task. */
#include "vit/base/size.h"
#include "vit/base/sys.h"
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
    if (vit_precisions[precision].scales) return p->int8_offset;
    return vit_precisions[precision].converts ? vit_words(precision, p->packed_offset)
                                              : p->stored_offset;
}

vit_stored vit_packed_as(const vit_parameter *p, vit_precision precision) {
    const vit_precision_row *row = &vit_precisions[precision];
    return row->converts || row->scales ? VIT_STORED_FLOATS : p->stored;
}

const float *vit_packed_of(const vit_packed_weights *packed, const vit_parameter *p) {
    const vit_precision_row *row = &vit_precisions[packed->precision];
    if (!packed->transposed) return NULL;
    return p->place && !row->converts && !row->scales
               ? p->place
               : packed->transposed + vit_packed_at(p, packed->precision);
}

size_t vit_table_words(const vit_table *table, vit_precision precision) {
    if (vit_precisions[precision].scales) return table->int8_size;
    return vit_precisions[precision].converts ? vit_words(precision, table->packed_size)
                                              : table->stored_size;
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
    vit_pack_stored(&p->exec, p->packed->transposed + at, w,
                    vit_packed_as(row, p->packed->precision), out, in, in);
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
    float *room; /* [threads][largest] */
    size_t largest;
} rounding;

/* The packed row as floats: where it is, or made in the thread's room. */
static const float *floats_of(const rounding *r, const vit_parameter *row, int thread) {
    const size_t out = row->shape[0], in = row->count / out;
    const vit_stored stored = vit_packed_as(row, r->from->precision);
    const float *from = vit_packed_of(r->from, row);
    if (!vit_stored_is_made(stored)) return from;
    float *to = r->room + (size_t)thread * r->largest;
    const vit_operand_b b = vit_b_stored(from, stored, in);
    const size_t panel = vit_panel();
    for (size_t i = 0; i < vit_ceil_div(out, panel); i++)
        vit_read_panel(r->exec.kernels, to + i * panel * in, &b, out, i, 0, in);
    return to;
}

static void round_task(size_t index, int thread, void *context) {
    const rounding *r = context;
    const vit_parameter *row = &r->table->rows[index];
    if (!row->packs) return;
    const size_t out = row->shape[0], in = row->count / out;
    float *to = r->to->transposed + vit_packed_at(row, r->to->precision);
    const float *from = floats_of(r, row, thread);
    if (is_rounded(row, r->to->precision))
        vit_int8_pack_panels(to, from, out, in);
    else if (is_rounded(row, r->from->precision))
        vit_int8_unpack_panels(to, from, out, in);
    else
        vit_pack_rounded(&r->exec, to, from, out, in);
}

vit_status vit_table_round(const vit_exec *exec, const vit_packed_weights *rounded,
                           const vit_packed_weights *packed, const vit_table *table,
                           vit_error *error) {
    rounding r = {
        .exec = exec_for(exec, rounded->precision), .to = rounded, .from = packed, .table = table};
    for (size_t i = 0; i < table->count; i++) {
        const vit_parameter *row = &table->rows[i];
        if (row->packs && vit_stored_is_made(vit_packed_as(row, packed->precision)))
            r.largest =
                vit_max(r.largest, vit_packed_size(row->shape[0], row->count / row->shape[0]));
    }
    const size_t room = (size_t)exec->threads * r.largest;
    if (room > 0) r.room = vit_alloc_unset(room, sizeof(float));
    if (room > 0 && !r.room) return vit_fail_memory(error, "weights", room * sizeof(float));
    vit_parallel(exec->threads, table->count, round_task, &r);
    vit_free(r.room);
    return VIT_OK;
}
