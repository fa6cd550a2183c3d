/* The tensors of a model, one by one: as they are loaded, weights of products are packed. */
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/ops/int8.h"
#include "vit/weights/file/model_file.h"

/* Tensors that are loaded at the same time, at most: each is copied to room of its own, or packed
 * from the file's pages, which together take at most this part of what the weights take. */
enum { MOST_ROOMS = 8, ROOMS_PART = 32 };

const vit_exec *vit_packs_for(vit_exec *room, const vit_exec *packs, const vit_tensors *file) {
    if (!packs || packs->precision != VIT_PRECISION_F32) return packs;
    for (size_t i = 0; i < vit_tensors_count(file); i++) {
        if (!vit_tensors_scales(file, vit_tensors_at(file, i))) continue;
        *room = *packs;
        room->precision = VIT_PRECISION_INT8;
        return room;
    }
    return packs;
}

bool vit_packs_floats(const vit_exec *packs, const vit_tensors *file) {
    vit_exec room;
    return packs && vit_packs_for(&room, packs, file)->precision == VIT_PRECISION_F32;
}

static vit_status make_panels(vit_store *s, vit_model_file *m, const vit_exec *packs, size_t spare,
                              vit_error *error) {
    vit_table_store(&m->table);
    const size_t words = vit_table_words(&m->table, packs->precision) + spare;
    size_t outputs = 0, placed = 0;
    size_t largest = 1, read = 1; /* of one weight: floats that are copied, words that are read */
    for (size_t i = 0; i < m->table.count; i++) {
        const vit_parameter *p = &m->table.rows[i];
        if (!vit_is_weight(p)) continue;
        if (p->place)
            placed += vit_stored_words(p->stored, p->count);
        else
            read = vit_max(read, p->integers ? p->count / sizeof(float) : p->count);
        if (!p->place && !p->integers && !p->floats) largest = vit_max(largest, p->count);
        outputs = vit_max(outputs, p->shape[0]);
    }
    vit_table_omit_weights(&m->table);
    if (!m->packed.transposed)
        m->packed =
            (vit_packed_weights){.precision = packs->precision,
                                 .transposed = vit_alloc_unset(vit_max(words, 1), sizeof(float))};
    s->largest = largest;
    s->outputs = outputs;
    s->rooms = vit_min(vit_min((size_t)packs->threads, MOST_ROOMS),
                       vit_max((words + placed) / (ROOMS_PART * read), 1));
    s->weight = vit_alloc_unset(s->rooms * largest, sizeof(float));
    s->scales = vit_alloc_unset(s->rooms * outputs, sizeof(float));
    if (m->packed.transposed && s->weight && s->scales) return VIT_OK;
    return vit_fail_memory(error, "the weights", (words + s->rooms * largest) * sizeof(float));
}

vit_status vit_store_open(vit_store *s, vit_model_file *m, const vit_exec *packs, size_t spare,
                          vit_error *error) {
    *s = (vit_store){.table = &m->table, .packs = packs, .rooms = 1};
    const vit_status status = packs ? make_panels(s, m, packs, spare, error) : VIT_OK;
    if (status == VIT_OK) m->values = vit_alloc(m->table.size, sizeof(float));
    if (status == VIT_OK && !m->values)
        return vit_fail_memory(error, "the weights", m->table.size * sizeof(float));
    s->values = m->values;
    s->packed = m->packed;
    if (packs || status != VIT_OK || m->table.scale_size == 0) return status;
    s->scales = m->scales = vit_alloc_unset(m->table.scale_size, sizeof(float));
    if (!m->scales) return vit_fail_memory(error, "scales", m->table.scale_size * sizeof(float));
    return VIT_OK;
}

float *vit_store_scales(const vit_store *s, const vit_parameter *p) {
    return !p->rounds ? NULL : s->packs ? s->scales : s->scales + p->scale_offset;
}

float *vit_store_place(const vit_store *s, const vit_parameter *p) {
    float *scales = vit_store_scales(s, p);
    for (size_t o = 0; scales && o < p->shape[0]; o++) scales[o] = -1;
    return p->offset == VIT_ONLY_PACKED ? s->weight : s->values + p->offset;
}

void vit_store_keep(const vit_store *s, const vit_parameter *p) {
    vit_parameter weight = *p;
    if (!p->packs || p->place || !s->packed.transposed) return;
    if (p->rounds && vit_precisions[s->packed.precision].scales) {
        float *to = s->packed.transposed + vit_packed_at(p, s->packed.precision);
        const size_t out = p->shape[0], in = p->count / out;
        if (p->integers)
            vit_int8_pack_integers(to, p->integers, s->scales, out, in);
        else
            vit_int8_pack(to, p->floats ? p->floats : s->weight, s->scales, out, in);
        return;
    }
    weight.offset = 0;
    vit_table_pack(s->packs, &s->packed, p->floats ? p->floats : vit_store_place(s, p),
                   &(vit_table){.rows = &weight, .count = 1});
}

/* ---- all of them ---- */

/* The first row of the table that a thread could not load. */
typedef struct failure {
    size_t row;
    vit_error error; /* status VIT_OK: there is none */
} failure;

typedef struct filling {
    const vit_store *store;
    vit_store_load *load;
    const void *context;
    failure *failures; /* [rooms] */
} filling;

static void fill_task(size_t index, int thread, void *context) {
    const filling *f = context;
    failure *own = &f->failures[thread], now = {.row = index};
    vit_store s = *f->store;
    if (s.packs) {
        s.weight += (size_t)thread * s.largest;
        s.scales += (size_t)thread * s.outputs;
    }
    const vit_status status = f->load(&s, &s.table->rows[index], f->context, &now.error);
    if (status == VIT_OK || (own->error.status != VIT_OK && own->row < index)) return;
    now.error.status = status;
    *own = now;
}

vit_status vit_store_fill(const vit_store *s, vit_store_load *load, const void *context,
                          vit_error *error) {
    filling f = {s, load, context, vit_alloc(s->rooms, sizeof *f.failures)};
    const failure *first = NULL;
    if (!f.failures) return vit_fail_memory(error, "the weights", s->rooms * sizeof *f.failures);
    vit_parallel((int)s->rooms, s->table->count, fill_task, &f);
    for (size_t i = 0; i < s->rooms; i++) {
        const failure *one = &f.failures[i];
        if (one->error.status != VIT_OK && (!first || one->row < first->row)) first = one;
    }
    const vit_status status = first ? first->error.status : VIT_OK;
    if (first && error) *error = first->error;
    vit_free(f.failures);
    return status;
}

void vit_store_close(vit_store *s) {
    vit_free(s->weight);
    if (s->packs) vit_free(s->scales);
    *s = (vit_store){0};
}
