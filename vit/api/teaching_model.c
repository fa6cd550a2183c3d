/* The model that a teaching makes: the backbone's weights and the head that was learnt. */
#include "vit/api/teaching.h"
#include "vit/base/fpmode.h"
#include "vit/base/sys.h"
#include "vit/formats/json_out.h"
#include "vit/ops/int8.h"
#include "vit/weights/file/backbone.h"
#include "vit/weights/file/labels.h"
#include <string.h>

static char *write_recipe(const vit_teaching *t) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "head", t->solver->name);
    if (t->data[0]) vit_json_text(&json, "data", t->data);
    if (t->checksum[0]) vit_json_text(&json, "taught_sha256", t->checksum);
    vit_json_count(&json, "pictures", t->learnt.pictures);
    vit_json_count(&json, "views", t->views);
    vit_json_bool(&json, "balance", t->balance);
    vit_json_number(&json, "strength", t->learnt.strength);
    vit_json_text(&json, "left_out", t->learnt.left_out);
    vit_json_number(&json, "accuracy", t->learnt.accuracy);
    vit_json_raw(&json, "backbone", t->backbone->file.recipe ? t->backbone->file.recipe : "{}");
    vit_json_close(&json, '}');
    return vit_json_take(&json);
}

/* All of the model but its weights. */
static vit_status describe(vit_model_file *f, const vit_teaching *t, vit_error *error) {
    const vit_model_file *from = &t->backbone->file;
    *f = (vit_model_file){.config = from->config,
                          .preprocessing = from->preprocessing,
                          .position_rule = from->position_rule,
                          .recipe = write_recipe(t),
                          .temperature = t->learnt.temperature,
                          .threshold = t->learnt.threshold,
                          .scoring = VIT_SCORING_SOFTMAX};
    f->config.head = VIT_HEAD_LINEAR;
    f->config.head_bias = true;
    f->config.classes = t->learnt_classes;
    if (!f->recipe) return vit_fail_memory(error, "a recipe", 0);
    const vit_status status = vit_table_new(&f->table, &f->config, error);
    return status == VIT_OK ? vit_labels_copy(&f->labels, (const char *const *)t->classes,
                                              t->learnt_classes, error)
                            : status;
}

/* out: [p->count] = the elements of a tensor of the backbone, p being its row there. */
static void copy_tensor(float *out, const vit_kernels *kernels, const vit_model_file *from,
                        const vit_parameter *p) {
    if (p->offset != VIT_ONLY_PACKED) {
        memcpy(out, from->values + p->offset, p->count * sizeof *out);
        return;
    }
    const vit_precision precision = from->packed.precision;
    const float *packed = from->packed.transposed + vit_packed_at(p, precision);
    const size_t outputs = p->shape[0], inputs = p->count / outputs;
    if (p->rounds && vit_precisions[precision].scales)
        vit_int8_unpack(out, packed, outputs, inputs);
    else
        vit_unpack_transposed(kernels, out, packed, vit_packed_as(p, precision), outputs, inputs);
}

static vit_status fill_tensor(float *out, const vit_teaching *t, const vit_parameter *p,
                              vit_error *error) {
    const vit_linear_head *head = &t->solution.head;
    const bool is_weight = strcmp(p->name, "head.weight") == 0;
    const vit_parameter *from = vit_table_find(&t->backbone->file.table, p->name);
    if (is_weight || strcmp(p->name, "head.bias") == 0) {
        const double *values = is_weight ? head->weights : head->bias;
        for (size_t i = 0; i < p->count; i++) out[i] = (float)values[i];
        return VIT_OK;
    }
    if (!from || from->count != p->count)
        return vit_fail(error, VIT_ERROR_MISMATCH, "the backbone has no tensor %s of that size",
                        p->name);
    copy_tensor(out, t->session->kernels, &t->backbone->file, from);
    return VIT_OK;
}

static vit_status check(const vit_teaching *t, vit_error *error) {
    const vit_status status = vit_teaching_needs_head(t, error);
    if (status != VIT_OK || !vit_precisions[t->backbone->file.packed.precision].converts)
        return status;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "the backbone was opened for %s, which rounds its weights: open it for f32 to "
                    "make a model of it",
                    vit_precision_names[t->backbone->file.packed.precision]);
}

vit_status vit_teaching_model(vit_model **out, const vit_teaching *t, vit_error *error) {
    const vit_fpmode host = vit_fpmode_enter();
    const vit_exec packs = {.kernels = t->session->kernels, .threads = 1};
    vit_model_file f = {0};
    vit_store store = {0};
    *out = NULL;
    vit_status status = check(t, error);
    if (status == VIT_OK) status = describe(&f, t, error);
    if (status == VIT_OK) status = vit_store_open(&store, &f, &packs, error);
    for (size_t i = 0; status == VIT_OK && i < f.table.count; i++) {
        const vit_parameter *p = &f.table.rows[i];
        status = fill_tensor(vit_store_place(&store, p), t, p, error);
        if (status == VIT_OK) vit_store_keep(&store, p);
    }
    vit_store_close(&store);
    if (status == VIT_OK) status = vit_model_from_file(out, &f, error);
    vit_model_file_clear(&f);
    vit_fpmode_leave(host);
    return status;
}

/* backbone: the file that the backbone is read from; NULL: its weights are written, too. */
static vit_status save(const vit_teaching *t, const char *path, const char *backbone,
                       vit_error *error) {
    const vit_fpmode host = vit_fpmode_enter();
    vit_model_file f = {0};
    vit_status status = check(t, error);
    if (status == VIT_OK) status = describe(&f, t, error);
    if (status == VIT_OK && backbone) status = vit_backbone_refer(&f.backbone, backbone, error);
    if (status == VIT_OK) {
        f.values = vit_alloc_unset(f.table.size, sizeof *f.values);
        if (!f.values) status = vit_fail_memory(error, "weights", f.table.size * sizeof *f.values);
    }
    for (size_t i = 0; status == VIT_OK && i < f.table.count; i++) {
        const vit_parameter *p = &f.table.rows[i];
        status = fill_tensor(f.values + p->offset, t, p, error);
    }
    if (status == VIT_OK) status = vit_model_file_save(path, &f, error);
    vit_model_file_clear(&f);
    vit_fpmode_leave(host);
    return status;
}

vit_status vit_teaching_save(const vit_teaching *t, const char *path, vit_error *error) {
    return save(t, path, NULL, error);
}

vit_status vit_teaching_save_head(const vit_teaching *t, const char *path, const char *backbone,
                                  vit_error *error) {
    return save(t, path, backbone, error);
}
