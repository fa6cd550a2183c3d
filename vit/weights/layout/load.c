/* From the tensors of a file to those of the parameter table: their shapes are checked, elements
 * reordered, parts joined. */
#include "vit/base/sys.h"
#include "vit/weights/layout/layout.h"
#include <string.h>

/* A tensor of the file and where its elements go. */
typedef struct place {
    const vit_binding *binding;
    const vit_table *table;
    const char *config;
    const vit_parameter *p;
    const vit_source *s;
    size_t out, in; /* vit_layout_measure */
} place;

/* ---- shapes ---- */

/* out = shape without dimensions of 1; returns how many are left. */
static size_t squeeze(size_t out[VIT_MAX_DIMS], const size_t *shape, size_t dims) {
    size_t n = 0;
    for (size_t i = 0; i < dims; i++)
        if (shape[i] != 1) out[n++] = shape[i];
    return n;
}

static size_t registers_of(const vit_table *table) {
    const vit_parameter *p = vit_table_find(table, "reg_token");
    return p ? p->shape[1] : 0;
}

/* Of positions of rows and of columns, whose product is the number of patches: rows of the tensor;
 * 0 if the other one does not fit. */
static size_t outer_rows(const place *at) {
    const size_t dim = at->p->shape[2], patches = at->p->shape[1];
    const size_t rows = at->s->tensor->count / dim;
    const size_t both = vit_binding_elements(at->binding, "pos_embed") / dim;
    return rows > 0 && rows * (both - rows) == patches ? rows : 0;
}

/* The shape that the file's tensor should have. */
static size_t expected_shape(size_t shape[VIT_MAX_DIMS], const place *at) {
    const vit_parameter *p = at->p;
    const vit_layout_row *row = at->s->row;
    const bool is_weight = vit_is_weight(p);
    memcpy(shape, p->shape, p->dims * sizeof *shape);
    if (vit_reshapes[row->reshape].inserts_registers && at->s->tensor->count != p->count)
        shape[1] -= registers_of(at->table); /* the file has no positions for them */
    if (is_weight && vit_reshapes[row->reshape].transposes) {
        shape[0] = at->in;
        shape[1] = at->out;
        return 2;
    }
    if (is_weight && vit_reshapes[row->reshape].turns_pixels && p->dims == 4) {
        const size_t turned[4] = {p->shape[2], p->shape[3], p->shape[1], p->shape[0]};
        memcpy(shape, turned, sizeof turned);
        return 4;
    }
    if (vit_joins[row->join].rows) shape[0] /= row->parts;
    if (vit_joins[row->join].cuts) shape[0] = shape[0] / row->taken * row->parts;
    if (vit_joins[row->join].outer) shape[1] = outer_rows(at);
    if (vit_joins[row->join].slices) {
        const vit_parameter *other = vit_layout_other(row, p, at->table);
        shape[0] += other ? other->shape[0] : 0;
    }
    if (vit_joins[row->join].columns && is_weight) shape[p->dims - 1] /= row->parts;
    return p->dims;
}

/* Whether t has the shape, apart from dimensions that are split: Google's kernels and biases have
 * the heads as a dimension of their own, [in][h][d], [h][d]. */
static bool splits(const vit_tensor *t, const size_t *shape, size_t dims) {
    size_t product = 1, k = 0;
    for (size_t i = 0; i < t->dims && k < dims; i++) {
        product *= t->shape[i];
        if (product > shape[k]) return false;
        if (product == shape[k]) {
            product = 1;
            k++;
        }
    }
    size_t count = 1;
    for (size_t i = 0; i < dims; i++) count *= shape[i];
    return k == dims && t->count == count;
}

static vit_status check_shape(const place *at, vit_error *error) {
    size_t shape[VIT_MAX_DIMS], a[VIT_MAX_DIMS], b[VIT_MAX_DIMS];
    char found[128], expected[128], name[VIT_NAME_TEXT];
    const vit_tensor *t = at->s->tensor;
    const size_t dims = expected_shape(shape, at);
    const size_t count = squeeze(a, t->shape, t->dims);
    if (count == squeeze(b, shape, dims) && memcmp(a, b, count * sizeof *a) == 0) return VIT_OK;
    const bool may_split = strchr(t->name, '/') || vit_reshapes[at->s->row->reshape].splits;
    if (may_split && splits(t, shape, dims)) return VIT_OK;
    vit_shape_text(found, t->shape, t->dims);
    vit_shape_text(expected, shape, dims);
    return vit_fail(error, VIT_ERROR_MISMATCH, "%s: tensor %s has shape %s, by %s it should be %s",
                    vit_tensors_name(at->binding->file), vit_name_text(name, t->name), found,
                    at->config, expected);
}

/* ---- elements ---- */

/* Puts the file's tensor `from`, as a part or the whole, into our tensor `to`. */
static void put_matrix(float *to, const place *at, const float *from) {
    const vit_layout_row *row = at->s->row;
    const bool is_weight = vit_is_weight(at->p);
    const bool is_transposed = is_weight && vit_reshapes[row->reshape].transposes;
    const size_t stride = vit_joins[row->join].columns && is_weight ? at->in * row->parts : at->in;
    if (vit_joins[row->join].rows) to += row->part * at->out * at->in;
    if (vit_joins[row->join].cuts) from += row->part * (at->out / row->taken) * at->in;
    if (vit_joins[row->join].columns && is_weight) to += row->part * at->in;
    if (vit_joins[row->join].slices && row->part > 0) /* the last rows */
        from += at->s->tensor->count - at->out * at->in;
    const float factor = vit_joins[row->join].columns ? 1 / (float)row->parts : 1;
    const bool adds = vit_joins[row->join].columns && !is_weight && row->part > 0;
    for (size_t o = 0; o < at->out; o++)
        for (size_t i = 0; i < at->in; i++) {
            const float x = factor * (is_transposed ? from[i * at->out + o] : from[o * at->in + i]);
            to[o * stride + i] = adds ? to[o * stride + i] + x : x;
        }
}

/* [P][P][C][out] -> [out][C][P][P] */
static void put_pixels(float *to, const vit_parameter *p, const float *from) {
    const size_t out = p->shape[0], channels = p->shape[1], area = p->shape[2] * p->shape[3];
    for (size_t o = 0; o < out; o++)
        for (size_t c = 0; c < channels; c++)
            for (size_t i = 0; i < area; i++) *to++ = from[(i * channels + c) * out + o];
}

/* Adds positions of rows, or those of columns. */
static void put_outer(float *to, const place *at, const float *from) {
    const size_t dim = at->p->shape[2], patches = at->p->shape[1];
    const size_t rows = at->s->tensor->count / dim;
    const bool columns = at->s->row->part > 0;
    for (size_t i = 0; i < patches; i++) {
        const float *add = from + (columns ? i % rows : i / (patches / rows)) * dim;
        for (size_t j = 0; j < dim; j++) to[i * dim + j] += add[j];
    }
}

/* Positions without the registers', after which zeros for these are inserted. */
static void put_around_registers(float *to, const place *at, const float *from) {
    const size_t dim = at->p->shape[2], none = registers_of(at->table) * dim;
    size_t before = vit_table_find(at->table, "cls_token") ? dim : 0;
    if (vit_table_find(at->table, "dist_token")) before += dim;
    memcpy(to, from, before * sizeof *to);
    memset(to + before, 0, none * sizeof *to);
    memcpy(to + before + none, from + before, (at->p->count - none - before) * sizeof *to);
}

/* Whether the file's tensor is our tensor p as it is. */
static bool is_plain(const vit_source *s, const vit_parameter *p) {
    const vit_layout_row *row = s->row;
    return vit_is_whole(row) && s->tensor->count == p->count &&
           !vit_reshapes[row->reshape].transposes && !vit_reshapes[row->reshape].turns_pixels;
}

/* Whether the file's tensor is the part of our tensor's rows as they are: queries, keys, values. */
static bool are_rows(const place *at) {
    const vit_layout_row *row = at->s->row;
    return vit_joins[row->join].rows && at->s->tensor->count == at->out * at->in &&
           !(vit_is_weight(at->p) && vit_reshapes[row->reshape].transposes) &&
           !vit_reshapes[row->reshape].turns_pixels;
}

/* Checks the tensor's shape, and puts it into our tensor `to`; NULL: only checks. */
static vit_status load_source(float *to, const place *at, vit_error *error) {
    const vit_tensor *t = at->s->tensor;
    const vit_layout_row *row = at->s->row;
    vit_status status = check_shape(at, error);
    if (status != VIT_OK || !to) return status;
    if (is_plain(at->s, at->p)) return vit_parameter_read(to, at->p, at->binding->file, t, error);
    if (are_rows(at))
        return vit_parameter_read(to + row->part * t->count, at->p, at->binding->file, t, error);
    float *from = vit_alloc_unset(t->count, sizeof *from);
    if (!from) return vit_fail_memory(error, "a tensor", t->count * sizeof *from);
    status = vit_parameter_read(from, at->p, at->binding->file, t, error);
    if (status == VIT_OK) {
        switch (row->reshape) {
        case VIT_SAME:
        case VIT_TRANSPOSED:
        case VIT_GRID:
            if (vit_joins[row->join].outer)
                put_outer(to, at, from);
            else
                put_matrix(to, at, from);
            break;
        case VIT_FROM_PIXELS:
            put_pixels(to, at->p, from);
            break;
        case VIT_AROUND_REGISTERS:
            put_around_registers(to, at, from);
            break;
        case VIT_RESHAPE_COUNT:
            break;
        }
    }
    vit_free(from);
    return status;
}

/* Of integers that were read: puts their scales where those of the outputs go; NULL: nowhere. */
static vit_status load_scales(float *scales, const place *at, vit_error *error) {
    const vit_tensors *file = at->binding->file;
    const vit_layout_row *row = at->s->row;
    const bool plain = !vit_reshapes[row->reshape].transposes && !vit_joins[row->join].columns;
    if (!scales || !plain || !vit_tensors_scales(file, at->s->tensor)) return VIT_OK;
    if (vit_joins[row->join].rows) scales += row->part * at->out;
    return vit_tensors_read_scales(file, at->s->tensor, scales, error);
}

/* ---- rows of the table ---- */

/* Whether `ours`, a name that a layout gives, is the row of that name. Two tensors have two names
 * each: the norm after pooling ("norm", "fc_norm"), and a distillation token without a head of its
 * own, which is a register. */
static bool means(const char *ours, const char *row) {
    if (strcmp(ours, row) == 0) return true;
    if (strcmp(ours, "dist_token") == 0) return strcmp(row, "reg_token") == 0;
    const char *a = strncmp(ours, "fc_norm.", 8) == 0 ? ours + 3 : ours;
    const char *b = strncmp(row, "fc_norm.", 8) == 0 ? row + 3 : row;
    return strcmp(a, b) == 0;
}

/* The row's name without "decoder."; NULL: it belongs to the part that is not bound. */
static const char *name_here(const vit_binding *b, const vit_parameter *p) {
    if (b->words && strncmp(p->name, "head.", 5) == 0) return NULL;
    const size_t n = sizeof VIT_PART_DECODER - 1;
    const bool decodes = strncmp(p->name, VIT_PART_DECODER, n) == 0;
    if (decodes != b->layout->decodes) return NULL;
    return decodes ? p->name + n : p->name;
}

static vit_status missing(const vit_binding *b, const char *ours, const char *config,
                          vit_error *error) {
    char name[VIT_THEIR_NAME];
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s: tensor %s is missing: by %s there should be one",
                    vit_tensors_name(b->file), vit_binding_name(name, b, ours), config);
}

/* One row of the table, from all its parts. to: as in load_source; scales: as in load_scales. */
static vit_status load_row(float *to, float *scales, const vit_binding *b, const vit_table *table,
                           const vit_parameter *p, const char *config, vit_error *error) {
    const char *ours = name_here(b, p);
    const bool lacks = p->zeros[1] > 0; /* the part of the keys */
    size_t found = 0, parts = 1;
    if (!ours) return VIT_OK;
    for (size_t i = 0; i < b->count; i++) {
        place at = {b, table, config, p, &b->sources[i], 0, 0};
        if (!means(at.s->ours, ours)) continue;
        if (!vit_is_whole(at.s->row)) parts = at.s->row->parts;
        vit_layout_measure(&at.out, &at.in, at.s->row, p);
        if (to && found == 0 && vit_joins[at.s->row->join].outer)
            memset(to, 0, p->count * sizeof *to);
        vit_status status = load_source(to, &at, error);
        if (status == VIT_OK) status = load_scales(scales, &at, error);
        if (status != VIT_OK) return status;
        found += !lacks || parts == 1 || at.s->row->part != 1;
    }
    if (lacks && parts > 1) parts--;
    if (to && lacks) memset(to + p->zeros[0], 0, p->zeros[1] * sizeof *to);
    return found == parts ? VIT_OK : missing(b, ours, config, error);
}

static vit_status check_unused(const vit_binding *b, const vit_table *table, const char *config,
                               vit_error *error) {
    char name[VIT_NAME_TEXT];
    for (size_t i = 0; i < b->count; i++) {
        size_t k = 0;
        if (strncmp(b->sources[i].ours, "pre_logits.", 11) == 0 && b->layout->usual) continue;
        for (; k < table->count; k++) {
            const char *ours = name_here(b, &table->rows[k]);
            if (ours && means(b->sources[i].ours, ours)) break;
        }
        if (k == table->count)
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "%s: tensor %s does not belong to the network that %s describes",
                            vit_tensors_name(b->file),
                            vit_name_text(name, b->sources[i].tensor->name), config);
    }
    return VIT_OK;
}

vit_status vit_binding_check(const vit_binding *b, const vit_table *table, const char *config,
                             vit_error *error) {
    for (size_t i = 0; i < table->count; i++) {
        const vit_status status = load_row(NULL, NULL, b, table, &table->rows[i], config, error);
        if (status != VIT_OK) return status;
    }
    return check_unused(b, table, config, error);
}

void vit_binding_stored(const vit_binding *b, vit_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        vit_parameter *p = &table->rows[i];
        const char *ours = name_here(b, p);
        const vit_tensor *first = NULL;
        const float *stays = NULL;
        bool copies = true;
        for (size_t j = 0; ours && j < b->count; j++) {
            const vit_source *s = &b->sources[j];
            if (!means(s->ours, ours)) continue;
            if (!first) first = s->tensor;
            if (is_plain(s, p)) stays = vit_tensors_place(b->file, s->tensor);
            copies = copies && s->tensor->dtype == first->dtype && !vit_joins[s->row->join].columns;
        }
        if (first && copies) vit_parameter_store(p, first->dtype, stays);
    }
}

bool vit_binding_rounds(const vit_binding *b, const vit_table *table, const char *tensor) {
    for (size_t j = 0; j < b->count; j++) {
        const vit_source *s = &b->sources[j];
        if (strcmp(s->tensor->name, tensor) != 0) continue;
        for (size_t i = 0; i < table->count; i++) {
            const char *ours = table->rows[i].rounds ? name_here(b, &table->rows[i]) : NULL;
            if (ours && means(s->ours, ours))
                return !vit_reshapes[s->row->reshape].transposes &&
                       !vit_joins[s->row->join].columns;
        }
    }
    return false;
}

typedef struct reading {
    const vit_binding *binding;
    const char *config;
} reading;

/* A vit_store_load. */
static vit_status load_bound(const vit_store *store, const vit_parameter *p, const void *context,
                             vit_error *error) {
    const reading *r = context;
    if (!name_here(r->binding, p)) return VIT_OK;
    const vit_status status = load_row(vit_store_place(store, p), vit_store_scales(store, p),
                                       r->binding, store->table, p, r->config, error);
    if (status == VIT_OK) vit_store_keep(store, p);
    return status;
}

vit_status vit_binding_load(const vit_store *store, const vit_binding *b, const char *config,
                            vit_error *error) {
    const reading r = {b, config};
    return vit_store_fill(store, load_bound, &r, error);
}
