#include "vit/weights/layout/save.h"

#include "vit/base/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE VIT_THEIR_NAME /* long enough for every name that a table can make */

/* A tensor that is written: a part of one of ours, with the row that it comes from. */
typedef struct piece {
    const vit_layout_row *row;
    const vit_parameter *p;
    char name[NAME_SIZE];
    size_t out, in; /* vit_layout_measure */
} piece;

typedef struct exporter {
    const vit_layout *layout;
    const vit_config *config;
    const vit_table *table;
    piece *pieces;
    size_t count, capacity;
    vit_error *error;
} exporter;

const vit_layout *vit_layout_find(const char *name) {
    const vit_layout *l = vit_layouts;
    while (strcmp(l->name, name) != 0) l++;
    return l;
}

/* ---- which pieces ---- */

static bool is_weight(const piece *p) {
    return vit_is_weight(p->p);
}

/* Adds a piece, unless another row has named the same part before. */
static vit_status add_piece(exporter *e, const vit_layout_row *row, const vit_parameter *p,
                            const char *before, const char *theirs, const char *ending) {
    for (size_t i = 0; i < e->count; i++) {
        const vit_layout_row *other = e->pieces[i].row;
        if (e->pieces[i].p == p &&
            (vit_is_whole(other) || vit_is_whole(row) || other->part == row->part))
            return VIT_OK;
    }
    if (!VIT_MAKE_ROOM(e->pieces, e->count, e->capacity, "the tensors", e->error))
        return VIT_ERROR_MEMORY;
    piece *next = &e->pieces[e->count++];
    *next = (piece){.row = row, .p = p};
    snprintf(next->name, NAME_SIZE, "%s%s%s", before, theirs, ending);
    vit_layout_measure(&next->out, &next->in, row, p);
    return VIT_OK;
}

/* A pattern without its final '@'. */
static void stem_of(char stem[NAME_SIZE], const char *pattern) {
    snprintf(stem, NAME_SIZE, "%s", pattern);
    const size_t length = strlen(stem);
    if (stem[length - 1] == '@') stem[length - 1] = '\0';
}

/* The pieces of a row. before_theirs, before_ours: what the names begin with. */
static vit_status add_row(exporter *e, const vit_layout_row *row, const char *before_theirs,
                          const char *before_ours) {
    static const char *const endings[] = {".weight", ".bias"};
    char theirs[NAME_SIZE], ours[NAME_SIZE], name[2 * NAME_SIZE + 16];
    if (!row->ours) return VIT_OK;
    stem_of(theirs, row->theirs);
    stem_of(ours, row->ours);
    const size_t count = strcmp(theirs, row->theirs) == 0 ? 1 : 2;
    for (size_t i = 0; i < count; i++) {
        const char *ending = count == 1 ? "" : endings[i];
        snprintf(name, sizeof name, "%s%s%s", before_ours, ours, ending);
        const vit_parameter *p = vit_table_find(e->table, name);
        if (!p) continue;
        const vit_status status = add_piece(e, row, p, before_theirs, theirs, ending);
        if (status != VIT_OK) return status;
    }
    return VIT_OK;
}

static vit_status add_rows(exporter *e, const vit_layout_rows *rows, const char *before_theirs,
                           const char *before_ours) {
    for (size_t i = 0; i < rows->count; i++) {
        const vit_status status = add_row(e, &rows->rows[i], before_theirs, before_ours);
        if (status != VIT_OK) return status;
    }
    return VIT_OK;
}

static vit_status add_blocks(exporter *e, const char *prefix) {
    const char *pattern = e->layout->blocks[0], *number = strchr(pattern, '%');
    for (size_t i = 0; i < e->config->depth; i++) {
        char theirs[NAME_SIZE], ours[32];
        snprintf(theirs, sizeof theirs, "%s%.*s%zu%s", prefix, (int)(number - pattern), pattern, i,
                 number + 1);
        snprintf(ours, sizeof ours, "blocks.%zu.", i);
        const vit_status status = add_rows(e, &e->layout->in_block, theirs, ours);
        if (status != VIT_OK) return status;
    }
    return VIT_OK;
}

/* All pieces. */
static vit_status collect(exporter *e) {
    const bool is_distilled = vit_pools[e->config->pool].dist;
    const char *prefix = e->layout->wraps ? e->layout->prefixes[is_distilled ? 1 : 0] : "";
    vit_status status = add_rows(e, &e->layout->beside, prefix, "");
    if (status == VIT_OK) status = add_rows(e, &e->layout->stems[0], prefix, "");
    if (status == VIT_OK) status = add_rows(e, &e->layout->heads[is_distilled ? 1 : 0], "", "");
    return status == VIT_OK ? add_blocks(e, prefix) : status;
}

/* ---- shapes ---- */

/* Google's tensors have the heads as a dimension: [in][h][d] and [h][d] of Q, K and V, [h][d][out]
 * of W^O.
 */
static void split_heads(vit_tensor *t, const exporter *e, const piece *p) {
    if (!strchr(p->name, '/') || !strstr(p->p->name, "attn")) return;
    const size_t heads = e->config->heads, width = vit_config_head_dim(e->config);
    if (strstr(p->p->name, ".proj.weight")) {
        memmove(t->shape + 2, t->shape + 1, sizeof *t->shape);
        t->shape[0] = heads;
        t->shape[1] = width;
        t->dims = 3;
    } else if (strstr(p->p->name, ".qkv.") || strstr(p->p->name, ".q.") ||
               strstr(p->p->name, ".kv.")) {
        t->shape[t->dims - 1] = heads;
        t->shape[t->dims++] = width;
    }
}

static void set_shape(vit_tensor *t, const exporter *e, const piece *p) {
    const size_t *shape = p->p->shape, patch = e->config->patch, channels = e->config->channels;
    const vit_layout_row *row = p->row;
    t->dims = p->p->dims;
    memcpy(t->shape, shape, t->dims * sizeof *shape);
    if (is_weight(p) && strcmp(p->p->name, "patch_embed.proj.weight") == 0) {
        const size_t conv[4] = {p->out, channels, patch, patch};
        const size_t pixels[4] = {patch, patch, channels, p->out};
        memcpy(t->shape, vit_reshapes[row->reshape].turns_pixels ? pixels : conv, sizeof conv);
        t->dims = 4;
    } else if (is_weight(p) && vit_reshapes[row->reshape].transposes) {
        t->shape[0] = p->in;
        t->shape[1] = p->out;
        t->dims = 2;
    } else {
        if (vit_joins[row->join].rows) t->shape[0] /= row->parts;
        if (vit_joins[row->join].columns && is_weight(p)) t->shape[t->dims - 1] /= row->parts;
    }
    split_heads(t, e, p);
    t->count = 1;
    for (size_t i = 0; i < t->dims; i++) t->count *= t->shape[i];
}

/* ---- elements ---- */

/* to = the piece's elements of our tensor `from`. Of two heads whose mean is the answer, each gets
 * its half doubled, and both get the bias. */
static void take_matrix(float *to, const piece *p, const float *from) {
    const vit_layout_row *row = p->row;
    const bool columns = vit_joins[row->join].columns && is_weight(p);
    const bool is_transposed = is_weight(p) && vit_reshapes[row->reshape].transposes;
    const size_t stride = columns ? p->in * row->parts : p->in;
    const float factor = columns ? (float)row->parts : 1;
    if (vit_joins[row->join].rows) from += row->part * p->out * p->in;
    if (columns) from += row->part * p->in;
    for (size_t o = 0; o < p->out; o++)
        for (size_t i = 0; i < p->in; i++)
            to[is_transposed ? i * p->out + o : o * p->in + i] = factor * from[o * stride + i];
}

static bool are_pixels(vit_patch_order order) {
    switch (order) {
    case VIT_PATCH_PIXEL:
        return true;
    case VIT_PATCH_CONV:
    case VIT_PATCH_COUNT:
        break;
    }
    return false;
}

/* As above, of the patch embedding: ours is [D][C][P][P] or, in the order "pixel", [D][P][P][C]. */
static void take_patches(float *to, const exporter *e, const piece *p, const float *from) {
    const size_t channels = e->config->channels, area = e->config->patch * e->config->patch;
    const bool theirs_pixels = vit_reshapes[p->row->reshape].turns_pixels;
    const bool ours_pixels = are_pixels(e->config->patch_order);
    for (size_t o = 0; o < p->out; o++)
        for (size_t c = 0; c < channels; c++)
            for (size_t i = 0; i < area; i++) {
                const size_t ours = ours_pixels ? i * channels + c : c * area + i;
                const size_t theirs =
                    theirs_pixels ? (i * channels + c) * p->out + o : (o * channels + c) * area + i;
                to[theirs] = from[o * p->in + ours];
            }
}

/* ---- the whole ---- */

static int compare_tensors(const void *a, const void *b) {
    return strcmp(((const vit_tensor *)a)->name, ((const vit_tensor *)b)->name);
}

static vit_status name_all(vit_exported *out, const exporter *e) {
    out->tensors = vit_alloc(e->count, sizeof *out->tensors);
    out->names = vit_alloc(e->count, NAME_SIZE);
    out->how = vit_alloc(e->count, sizeof *out->how);
    if (!out->tensors || !out->names || !out->how)
        return vit_fail_memory(e->error, "the tensors", e->count * NAME_SIZE);
    for (size_t i = 0; i < e->count; i++) {
        char *name = out->names + i * NAME_SIZE;
        memcpy(name, e->pieces[i].name, NAME_SIZE);
        out->tensors[i] = (vit_tensor){.name = name, .dtype = VIT_F32};
        set_shape(&out->tensors[i], e, &e->pieces[i]);
    }
    out->count = e->count;
    return VIT_OK;
}

/* The scales of integers that the piece was made of, in *m; NULL: it was not. */
static const float *scales_of(const vit_model_file *m, const piece *p) {
    if (!m->scales || !p->p->rounds) return NULL;
    const size_t first = vit_joins[p->row->join].rows ? p->row->part * p->out : 0;
    return m->scales + p->p->scale_offset + first;
}

/* What becomes of the sorted tensors in 8 bits: pieces and tensors have their elements in common.
 */
static void note_rounding(vit_exported *out, const exporter *e, const vit_model_file *m) {
    const float *at = out->elements;
    for (size_t i = 0; i < e->count; i++) {
        const piece *p = &e->pieces[i];
        size_t k = 0;
        while (out->tensors[k].data != at) k++;
        out->how[k] = (vit_to_round){p->p->rounds, scales_of(m, p)};
        at += out->tensors[k].count;
    }
}

static vit_status fill_all(vit_exported *out, const exporter *e, const vit_model_file *m) {
    size_t elements = 0;
    for (size_t i = 0; i < e->count; i++) elements += out->tensors[i].count;
    float *at = out->elements = vit_alloc(elements, sizeof *at);
    if (!at) return vit_fail_memory(e->error, "the tensors", elements * sizeof *at);
    for (size_t i = 0; i < e->count; i++) {
        const piece *p = &e->pieces[i];
        const float *from = m->values + p->p->offset;
        if (is_weight(p) && strcmp(p->p->name, "patch_embed.proj.weight") == 0)
            take_patches(at, e, p, from);
        else
            take_matrix(at, p, from);
        out->tensors[i].data = at;
        at += out->tensors[i].count;
    }
    qsort(out->tensors, out->count, sizeof *out->tensors, compare_tensors);
    note_rounding(out, e, m);
    return VIT_OK;
}

vit_status vit_export(vit_exported *out, const vit_layout *layout, const vit_model_file *m,
                      vit_error *error) {
    const vit_table *table = &m->table;
    exporter e = {.layout = layout, .config = &m->config, .table = table, .error = error};
    *out = (vit_exported){0};
    vit_status status = collect(&e);
    if (status == VIT_OK) status = name_all(out, &e);
    if (status == VIT_OK) status = fill_all(out, &e, m);
    for (size_t i = 0; i < table->count && status == VIT_OK; i++) {
        size_t k = 0;
        while (k < e.count && e.pieces[k].p != &table->rows[i]) k++;
        if (k < e.count) continue;
        if (!out->lost) out->lost = table->rows[i].name;
        out->lost_count++;
    }
    if (status != VIT_OK) vit_exported_free(out);
    vit_free(e.pieces);
    return status;
}

void vit_exported_free(vit_exported *out) {
    vit_free(out->tensors);
    vit_free(out->how);
    vit_free(out->elements);
    vit_free(out->names);
    *out = (vit_exported){0};
}
