#include "vit/base/sys.h"
#include "vit/weights/model_file.h"
#include <string.h>

static vit_grid grid_of(const vit_config *c) {
    return (vit_grid){c->height / c->patch, c->width / c->patch};
}

/* Tensor i of both tables: the same, but for the rows of the positions. */
static vit_status take_over(const vit_model_file *to, const vit_model_file *from, size_t i,
                            vit_error *error) {
    const vit_parameter *p = &from->table.rows[i];
    if (p->offset == VIT_ONLY_PACKED) return VIT_OK; /* packed: that is not of a size */
    const float *in = from->values + p->offset;
    float *out = to->values + to->table.rows[i].offset;
    if (p->kind != VIT_PARAMETER_POSITIONS) {
        memcpy(out, in, p->count * sizeof *out);
        return VIT_OK;
    }
    const size_t dim = from->config.dim,
                 prefix = p->count / dim - vit_config_patches(&from->config);
    return vit_positions_resample(out, in, prefix, dim, grid_of(&to->config),
                                  grid_of(&from->config), from->position_rule, error);
}

static vit_status fill(vit_model_file *to, const vit_model_file *from, vit_error *error) {
    vit_status status =
        vit_preprocessing_at(&to->preprocessing, from->config.height, from->config.width,
                             to->config.height, to->config.width, error);
    if (status == VIT_OK) status = vit_table_new(&to->table, &to->config, error);
    if (status != VIT_OK) return status;
    if (from->packed.transposed) vit_table_omit_weights(&to->table);
    to->values = vit_alloc(to->table.size, sizeof *to->values);
    if (!to->values)
        return vit_fail_memory(error, "the weights", to->table.size * sizeof *to->values);
    for (size_t i = 0; status == VIT_OK && i < from->table.count; i++)
        status = take_over(to, from, i, error);
    return status;
}

vit_status vit_model_file_resize(vit_model_file *m, size_t height, size_t width, vit_error *error) {
    vit_model_file resized = *m;
    resized.config.height = height;
    resized.config.width = width;
    resized.table = (vit_table){0};
    resized.values = NULL;
    if (height == m->config.height && width == m->config.width) return VIT_OK;
    vit_status status = vit_config_check(&resized.config, error);
    if (status == VIT_OK) status = fill(&resized, m, error);
    vit_model_file *useless = status == VIT_OK ? m : &resized;
    vit_table_free(&useless->table);
    vit_free(useless->values);
    if (status == VIT_OK) *m = resized;
    return status;
}
