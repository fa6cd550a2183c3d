/* The matrices of an answer: vit/maps.h. */
#include "vit/api/internal.h"
#include "vit/api/maps.h"
#include "vit/base/fpmode.h"
#include "vit/base/fused.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/explain/explainer.h"
#include "vit/maps.h"
#include "vit/ops/gemm/gemm.h"
#include "vit/tensors/npz_write.h"
#include <stdio.h>
#include <string.h>

/* What a look at a block adds to; a failure is kept until the pass is over. */
typedef struct collection {
    vit_answer_matrices *out;
    const vit_explainer *explainer;
    vit_error *error;
    vit_status status;
} collection;

/* Adds a matrix whose rows are `stride` floats apart. */
static void add(collection *c, const char *name, size_t rows, size_t columns, const float *from,
                size_t stride, bool across) {
    vit_answer_matrices *m = c->out;
    if (c->status != VIT_OK || !from) return;
    if (!VIT_MAKE_ROOM(m->items, m->count, m->capacity, "matrices", c->error)) {
        c->status = VIT_ERROR_MEMORY;
        return;
    }
    vit_answer_matrix *to = &m->items[m->count];
    *to =
        (vit_answer_matrix){.rows = rows,
                            .columns = columns,
                            .token_rows = rows == vit_config_tokens(&c->explainer->network->config),
                            .token_columns = across,
                            .values = vit_alloc_unset(rows, columns * sizeof(float))};
    if (!to->values) {
        c->status = vit_fail_memory(c->error, name, rows * columns);
        return;
    }
    snprintf(to->name, sizeof to->name, "%s", name);
    for (size_t i = 0; i < rows; i++)
        memcpy(to->values + i * columns, from + i * stride, columns * sizeof(float));
    m->count++;
}

/* S = Q K^T scale, each product a chain of fused sums over the head's width. */
static void add_scores(collection *c, const char *name, const float *q, const float *k,
                       size_t stride, size_t tokens, size_t width) {
    const vit_config *config = &c->explainer->network->config;
    const float scale = (float)vit_qkv_scale(config);
    float *scores = vit_alloc_unset(tokens, tokens * sizeof *scores);
    if (!scores) c->status = vit_fail_memory(c->error, name, tokens * tokens);
    for (size_t i = 0; i < tokens && scores; i++)
        for (size_t j = 0; j < tokens; j++) {
            float sum = 0;
            for (size_t n = 0; n < width; n++)
                sum = vit_fused(q[i * stride + n], k[j * stride + n], sum);
            scores[i * tokens + j] = sum * scale;
        }
    if (scores) add(c, name, tokens, tokens, scores, tokens, true);
    vit_free(scores);
}

/* Q, K, V, S, P and O of each head. */
static void add_heads(collection *c, size_t layer, const vit_block_state *s) {
    const vit_config *config = &c->explainer->network->config;
    const size_t tokens = vit_config_tokens(config), heads = config->heads;
    const size_t width = vit_config_head_dim(config), all = heads * width;
    const size_t padded = vit_padded(tokens);
    for (size_t h = 0; h < heads; h++) {
        const float *q = s->qkv.values + h * width, *k = q + all, *v = k + all;
        const struct {
            const char *symbol;
            const float *from;
            size_t columns, stride;
        } rows[] = {{"Q", q, width, 3 * all},
                    {"K", k, width, 3 * all},
                    {"V", v, width, 3 * all},
                    {"P", s->p + h * tokens * padded, tokens, padded},
                    {"O", s->o + h * width, width, all}};
        char name[48];
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            if (i == 3) {
                snprintf(name, sizeof name, "layer%zu.head%zu.S", layer, h);
                add_scores(c, name, q, k, 3 * all, tokens, width);
            }
            snprintf(name, sizeof name, "layer%zu.head%zu.%s", layer, h, rows[i].symbol);
            add(c, name, tokens, rows[i].columns, rows[i].from, rows[i].stride, i == 3);
        }
    }
}

static void look(const vit_seen *seen, void *context) {
    collection *c = context;
    const vit_config *config = &c->explainer->network->config;
    const vit_block_state *s = &c->explainer->state.blocks[seen->layer];
    const size_t tokens = vit_config_tokens(config), dim = config->dim;
    char name[48];
    snprintf(name, sizeof name, "layer%zu.z", seen->layer);
    add(c, name, tokens, dim, s->z, dim, false);
    add_heads(c, seen->layer, s);
    snprintf(name, sizeof name, "layer%zu.z'", seen->layer);
    add(c, name, tokens, dim, s->sum1, dim, false);
    snprintf(name, sizeof name, "layer%zu.out", seen->layer);
    add(c, name, tokens, dim, seen->z, dim, false);
}

vit_status vit_explain_matrices(vit_session *s, const uint8_t *pixels, const float *values,
                                vit_answer_matrices *out, vit_error *error) {
    VIT_ENTRY;
    const vit_config *config = &s->model->file.config;
    vit_explainer *e;
    float *image = NULL;
    *out = (vit_answer_matrices){0};
    vit_status status = vit_session_explainer(&e, s, error);
    if (status == VIT_OK) status = vit_session_image(&image, s, pixels, values, error);
    if (status != VIT_OK) return status;
    out->prefix = vit_config_prefix(config);
    out->class_token = config->class_token;
    const size_t patches = vit_config_patches(config);
    out->grid_rows = config->height / config->patch;
    out->grid_columns = out->grid_rows > 0 ? patches / out->grid_rows : patches;
    collection c = {.out = out, .explainer = e, .error = error};
    status = vit_explainer_forward(e, image, look, &c, error);
    if (c.status != VIT_OK) status = c.status;
    if (status == VIT_OK)
        add(&c, "logits", 1, config->classes, e->state.head.logits, config->classes, false);
    vit_free(image);
    if (status == VIT_OK) status = c.status;
    if (status != VIT_OK) vit_matrices_clear(out);
    return status;
}

void vit_matrices_clear(vit_answer_matrices *matrices) {
    if (!matrices) return;
    for (size_t i = 0; i < matrices->count; i++) vit_free(matrices->items[i].values);
    vit_free(matrices->items);
    *matrices = (vit_answer_matrices){0};
}

/* ---- files ---- */

/* "class", "reg0", "0,1": a patch's row and column. */
static void add_token(vit_string *t, const vit_answer_matrices *m, size_t i) {
    const size_t registers = i - (m->class_token ? 1 : 0);
    if (i < m->prefix && m->class_token && i == 0)
        vit_string_add(t, "class");
    else if (i < m->prefix)
        vit_string_add(t, "reg%zu", registers);
    else
        vit_string_add(t, "\"%zu,%zu\"", (i - m->prefix) / m->grid_columns,
                       (i - m->prefix) % m->grid_columns);
}

static void add_table(vit_string *t, const vit_answer_matrices *m, const vit_answer_matrix *x) {
    char number[32];
    for (size_t j = 0; j < x->columns; j++) {
        vit_string_add(t, ",");
        if (x->token_columns)
            add_token(t, m, j);
        else
            vit_string_add(t, "%zu", j);
    }
    vit_string_add(t, "\n");
    for (size_t i = 0; i < x->rows; i++) {
        if (x->token_rows)
            add_token(t, m, i);
        else
            vit_string_add(t, "%zu", i);
        for (size_t j = 0; j < x->columns; j++)
            vit_string_add(t, ",%s", vit_format_float(number, x->values[i * x->columns + j]));
        vit_string_add(t, "\n");
    }
}

static vit_status save_tables(const vit_answer_matrices *m, const char *path, vit_error *error) {
    vit_status status = vit_make_directory(path, error);
    for (size_t i = 0; i < m->count && status == VIT_OK; i++) {
        vit_string table = {0}, file = {0};
        vit_string_add(&file, "%s/%s.csv", path, m->items[i].name);
        add_table(&table, m, &m->items[i]);
        status = table.failed || file.failed
                     ? vit_fail_memory(error, "a table", table.length)
                     : vit_write_file(file.text, table.text, table.length, error);
        vit_string_free(&table);
        vit_string_free(&file);
    }
    return status;
}

vit_status vit_matrices_save(const vit_answer_matrices *m, const char *path, vit_error *error) {
    VIT_ENTRY;
    if (!vit_has_ending(path, ".npz")) return save_tables(m, path, error);
    vit_tensor *tensors = vit_alloc(m->count, sizeof *tensors);
    if (!tensors) return vit_fail_memory(error, "matrices", m->count * sizeof *tensors);
    for (size_t i = 0; i < m->count; i++)
        tensors[i] = (vit_tensor){.name = m->items[i].name,
                                  .dtype = VIT_F32,
                                  .dims = 2,
                                  .shape = {m->items[i].rows, m->items[i].columns},
                                  .count = m->items[i].rows * m->items[i].columns,
                                  .data = m->items[i].values};
    const vit_status status = vit_npz_write(path, tensors, m->count, error);
    vit_free(tensors);
    return status;
}
