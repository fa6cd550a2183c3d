#include "vit/lecture/lecture.h"

#include <math.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/lecture/inside.h"
#include "vit/ops/attention.h"
#include "vit/train/recipe/preset.h"

enum { SIDE = 28, DIGITS = 10, MATRICES_OF_A_SECTION = 128 };

/* ---- making one ---- */

/* UNSUPPORTED unless its config is that of the preset. */
static vit_status check_network(const vit_config *preset, const vit_model_file *model,
                                vit_error *error) {
    char *want = vit_config_write(preset), *found = vit_config_write(&model->config);
    vit_status status = VIT_OK;
    if (!want || !found)
        status = vit_fail_memory(error, "a config", 1);
    else if (strcmp(want, found) != 0)
        status =
            vit_fail(error, VIT_ERROR_UNSUPPORTED,
                     "the model's network is %s, and the steps of the lecture are those of %s: "
                     "train one with vit-train --data digits --preset lecture",
                     found, want);
    vit_free(want);
    vit_free(found);
    return status;
}

static vit_status make_arrays(vit_lecture *l, vit_error *error) {
    const vit_config *c = &l->network.config;
    const size_t n = l->table.size, sections = c->depth + 2;
    float **const arrays[] = {&l->values, &l->loaded, &l->before, &l->gradients, &l->m, &l->v};
    const vit_attention_shape shape = {.heads = c->heads,
                                       .head_dim = vit_config_head_dim(c),
                                       .queries = vit_config_tokens(c),
                                       .keys = vit_config_tokens(c)};
    bool is_full = true;
    for (size_t i = 0; i < VIT_COUNT(arrays); i++)
        is_full &= (*arrays[i] = vit_alloc(n, sizeof **arrays[i])) != NULL;
    l->packed = (vit_packed_weights){
        .transposed = vit_alloc(l->table.packed_size, sizeof *l->packed.transposed)};
    l->exec.room = vit_alloc(VIT_GEMM_ROOM, sizeof *l->exec.room);
    l->scratch = vit_alloc(vit_attention_scratch(&shape, false), sizeof *l->scratch);
    l->sections = vit_alloc(sections, sizeof *l->sections);
    l->matrices = vit_alloc(sections * MATRICES_OF_A_SECTION, sizeof *l->matrices);
    if (!is_full || !l->packed.transposed || !l->exec.room || !l->scratch || !l->sections ||
        !l->matrices)
        return vit_fail_memory(error, "the lecture's network", 8 * n * sizeof(float));
    return VIT_OK;
}

vit_status vit_lecture_new(vit_lecture **out, const vit_model_file *model, vit_error *error) {
    vit_preset preset;
    *out = NULL;
    vit_status status = vit_preset_load(&preset, "lecture", error);
    if (status == VIT_OK) {
        preset.config.height = preset.config.width = SIDE;
        preset.config.channels = 1;
        preset.config.classes = DIGITS;
        status = check_network(&preset.config, model, error);
    }
    if (status != VIT_OK) return status;
    vit_lecture *l = vit_alloc(1, sizeof *l);
    if (!l) return vit_fail_memory(error, "a lecture", sizeof *l);
    l->network.config = model->config;
    l->recipe = preset.recipe;
    l->exec = (vit_exec){.kernels = vit_kernels_choose(vit_cpu_detect()),
                         .threads = 1,
                         .precision = VIT_PRECISION_F32,
                         .attention = VIT_PRECISION_F32};
    status = vit_table_new(&l->table, &model->config, error);
    if (status == VIT_OK) status = make_arrays(l, error);
    if (status == VIT_OK) status = vit_chunks_new(&l->chunks, &l->table, &l->recipe, error);
    if (status == VIT_OK)
        status = vit_weights_view(&l->network.weights, &model->config, &l->table, l->values,
                                  &l->packed, error);
    if (status == VIT_OK)
        status = vit_gradients_view(&l->gradient_view, &model->config, &l->table, l->gradients,
                                    true, error);
    if (status == VIT_OK)
        status = vit_arena_fit(&l->arena, vit_lecture_carve, l, "the lecture's matrices", error);
    if (status != VIT_OK) {
        vit_lecture_free(l);
        return status;
    }
    float table[3][256];
    vit_normalize_table(table, &model->preprocessing, 1);
    memcpy(l->normalise, table[0], sizeof l->normalise);
    memcpy(l->loaded, model->values, l->table.size * sizeof *l->loaded);
    vit_lecture_reset(l);
    *out = l;
    return VIT_OK;
}

void vit_lecture_free(vit_lecture *l) {
    if (!l) return;
    vit_weights_free(&l->network.weights);
    vit_gradients_free(&l->gradient_view);
    vit_chunks_free(&l->chunks);
    vit_arena_free(&l->arena);
    vit_table_free(&l->table);
    void *const arrays[] = {l->values,
                            l->loaded,
                            l->before,
                            l->gradients,
                            l->m,
                            l->v,
                            l->scratch,
                            l->packed.transposed,
                            l->exec.room,
                            l->sections,
                            l->matrices,
                            l->changes,
                            l};
    for (size_t i = 0; i < VIT_COUNT(arrays); i++) vit_free(arrays[i]);
}

/* ---- passes ---- */

void vit_lecture_show(vit_lecture *l, const uint8_t *pixels, size_t label) {
    const vit_lecture_matrix *x = vit_lecture_of(l, 0, LECTURE_PICTURE);
    for (size_t i = 0; i < x->rows * x->columns; i++) x->values[i] = l->normalise[pixels[i]];
    l->label = label;
    l->change_count = 0;
}

void vit_lecture_run(vit_lecture *l) {
    vit_lecture_forward(l);
    vit_lecture_backward(l);
}

void vit_lecture_step(vit_lecture *l, double lr) {
    const vit_adamw_state state = {
        .values = l->values, .m = l->m, .v = l->v, .gradient = l->gradients};
    double squares = 0;
    memcpy(l->before, l->values, l->table.size * sizeof *l->before);
    for (size_t i = 0; i < l->chunks.count; i++)
        squares += (double)l->exec.kernels->square_sum(l->gradients + l->chunks.list[i].offset,
                                                       l->chunks.list[i].count);
    vit_adamw_update(&l->chunks, l->exec.kernels, 1, &state, &l->recipe, lr, sqrt(squares),
                     l->step++);
}

void vit_lecture_reset(vit_lecture *l) {
    memcpy(l->values, l->loaded, l->table.size * sizeof *l->values);
    memcpy(l->before, l->loaded, l->table.size * sizeof *l->before);
    memset(l->m, 0, l->table.size * sizeof *l->m);
    memset(l->v, 0, l->table.size * sizeof *l->v);
    l->step = 0;
    l->change_count = 0;
}

/* ---- matrices ---- */

size_t vit_lecture_count(const vit_lecture *l) {
    return l->count;
}

const vit_lecture_matrix *vit_lecture_matrix_at(const vit_lecture *l, size_t index) {
    return &l->matrices[index];
}

const vit_lecture_matrix *vit_lecture_find(const vit_lecture *l, size_t block, const char *symbol) {
    for (size_t i = 0; i < l->count; i++)
        if (l->matrices[i].block == block && strcmp(l->matrices[i].symbol, symbol) == 0)
            return &l->matrices[i];
    return NULL;
}

void vit_lecture_computed(vit_lecture *l, size_t block, vit_lecture_id id) {
    const size_t index = l->sections[block].at[id];
    for (size_t i = 0; i < l->change_count; i++)
        if (l->changes[i].index == index)
            l->matrices[index].values[l->changes[i].offset] = l->changes[i].value;
}

vit_status vit_lecture_set(vit_lecture *l, size_t index, size_t head, size_t i, size_t j,
                           float value, vit_error *error) {
    const vit_lecture_matrix *m = index < l->count ? &l->matrices[index] : NULL;
    if (!m || head >= m->heads || i >= m->rows || j >= m->columns)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "matrix %zu has no element (%zu, %zu) of head %zu", index, i, j, head);
    if (m->is_fixed || m->pass == VIT_LECTURE_STEP)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s cannot be changed, since it is computed from what can", m->symbol);
    const vit_lecture_change change = {index, head * m->head + i * m->row + j * m->column, value};
    if (m->pass == VIT_LECTURE_GIVEN) {
        m->values[change.offset] = value;
        return VIT_OK;
    }
    if (!VIT_MAKE_ROOM(l->changes, l->change_count, l->change_room, "changed numbers", error))
        return VIT_ERROR_MEMORY;
    l->changes[l->change_count++] = change;
    return VIT_OK;
}

void vit_lecture_copy(const vit_lecture_matrix *m, float *to) {
    for (size_t h = 0; h < m->heads; h++)
        for (size_t i = 0; i < m->rows; i++)
            for (size_t j = 0; j < m->columns; j++)
                *to++ = m->values[h * m->head + i * m->row + j * m->column];
}
