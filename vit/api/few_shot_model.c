/* The model that a teaching makes: the backbone's weights and the head that was learnt. */
#include "vit/api/few_shot.h"
#include "vit/base/fpmode.h"
#include "vit/base/math.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/few_shot/numbers.h"
#include "vit/formats/json_out.h"
#include "vit/ops/int8.h"
#include "vit/weights/file/backbone.h"
#include "vit/weights/file/labels.h"
#include <math.h>
#include <string.h>

static char *write_recipe(const vit_few_shot *t) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "head", t->solver->name);
    if (t->data[0]) vit_json_text(&json, "data", t->data);
    if (t->checksum[0]) vit_json_text(&json, "taught_sha256", t->checksum);
    if (t->corrected[0]) vit_json_text(&json, "corrected_sha256", t->corrected);
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
static vit_status describe(vit_model_file *f, const vit_few_shot *t, vit_error *error) {
    const vit_model_file *from = &t->backbone->file;
    *f = (vit_model_file){.config = from->config,
                          .preprocessing = from->preprocessing,
                          .position_rule = from->position_rule,
                          .recipe = write_recipe(t),
                          .temperature = t->learnt.temperature,
                          .threshold = t->learnt.threshold,
                          .scoring = VIT_SCORING_SOFTMAX,
                          .has_checksum = true};
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
    const float *packed = vit_packed_of(&from->packed, p);
    const size_t outputs = p->shape[0], inputs = p->count / outputs;
    if (p->rounds && vit_precisions[precision].scales)
        vit_int8_unpack(out, packed, outputs, inputs);
    else
        vit_unpack_transposed(kernels, out, packed, vit_packed_as(p, precision), outputs, inputs);
}

static vit_status fill_tensor(float *out, const vit_few_shot *t, const vit_parameter *p,
                              vit_error *error) {
    const vit_linear_head *head = &t->solution.head;
    const vit_parameter *from = vit_table_find(&t->backbone->file.table, p->name);
    if (vit_is_of_head(p->name)) {
        const double *values = strcmp(p->name, "head.bias") == 0 ? head->bias : head->weights;
        for (size_t i = 0; i < p->count; i++) out[i] = (float)values[i];
        return VIT_OK;
    }
    if (!from || from->count != p->count)
        return vit_fail(error, VIT_ERROR_MISMATCH, "the backbone has no tensor %s of that size",
                        p->name);
    copy_tensor(out, t->session->kernels, &t->backbone->file, from);
    return VIT_OK;
}

static vit_status check(const vit_few_shot *t, vit_error *error) {
    const vit_status status = vit_few_shot_needs_head(t, error);
    if (status != VIT_OK || !vit_precisions[t->backbone->file.packed.precision].converts)
        return status;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "the backbone was opened for %s, which rounds its weights: open it for f32 to "
                    "make a model of it",
                    vit_precision_names[t->backbone->file.packed.precision]);
}

/* The scales of the backbone's integers, if it was packed as such. */
static void copy_scales(float *scales, const vit_model_file *from, const vit_parameter *p) {
    const vit_precision precision = from->packed.precision;
    const vit_parameter *row = vit_table_find(&from->table, p->name);
    if (!scales || !vit_precisions[precision].scales) return;
    const float *packed = from->packed.transposed + vit_packed_at(row, precision);
    memcpy(scales, vit_int8_scales(packed, p->shape[0], p->count / p->shape[0]),
           p->shape[0] * sizeof *scales);
}

vit_status vit_few_shot_model(vit_model **out, const vit_few_shot *t, vit_error *error) {
    VIT_ENTRY;
    const vit_model_file *from = &t->backbone->file;
    const vit_exec packs = {
        .kernels = t->session->kernels, .threads = 1, .precision = from->packed.precision};
    vit_model_file f = {0};
    vit_store store = {0};
    *out = NULL;
    vit_status status = check(t, error);
    if (status == VIT_OK) status = describe(&f, t, error);
    for (size_t i = 0; status == VIT_OK && i < f.table.count; i++) {
        vit_parameter *p = &f.table.rows[i];
        const vit_parameter *row = vit_table_find(&from->table, p->name);
        if (row && !vit_is_of_head(p->name)) p->stored = row->stored;
    }
    if (status == VIT_OK) status = vit_store_open(&store, &f, &packs, 0, error);
    for (size_t i = 0; status == VIT_OK && i < f.table.count; i++) {
        const vit_parameter *p = &f.table.rows[i];
        status = fill_tensor(vit_store_place(&store, p), t, p, error);
        if (status != VIT_OK) break;
        copy_scales(vit_store_scales(&store, p), from, p);
        vit_store_keep(&store, p);
    }
    vit_store_close(&store);
    if (status == VIT_OK) status = vit_model_from_file(out, &f, error);
    vit_model_file_clear(&f);
    return status;
}

/* backbone: the file that the backbone is read from; NULL: its weights are written, too, as
 * integers if it answers with such. */
static vit_status save(const vit_few_shot *t, const char *path, const char *backbone,
                       vit_error *error) {
    vit_model_file f = {0};
    vit_store store = {0};
    vit_status status = check(t, error);
    if (status == VIT_OK) status = describe(&f, t, error);
    if (status == VIT_OK && backbone) status = vit_backbone_refer(&f.backbone, backbone, error);
    const bool integers = !backbone && vit_precisions[t->backbone->file.packed.precision].scales;
    if (status == VIT_OK) status = vit_store_open(&store, &f, NULL, 0, error);
    for (size_t i = 0; status == VIT_OK && i < f.table.count; i++) {
        const vit_parameter *p = &f.table.rows[i];
        status = fill_tensor(vit_store_place(&store, p), t, p, error);
        if (status == VIT_OK && integers)
            copy_scales(vit_store_scales(&store, p), &t->backbone->file, p);
    }
    vit_store_close(&store);
    if (status == VIT_OK)
        status = vit_model_file_save_as(path, &f, integers ? VIT_I8 : VIT_F32, error);
    vit_model_file_clear(&f);
    return status;
}

vit_status vit_few_shot_save(const vit_few_shot *t, const char *path, vit_error *error) {
    VIT_ENTRY;
    return save(t, path, NULL, error);
}

vit_status vit_few_shot_save_head(const vit_few_shot *t, const char *path, const char *backbone,
                                  vit_error *error) {
    VIT_ENTRY;
    return save(t, path, backbone, error);
}

/* ---- a head that was saved ---- */

/* What a config says of the backbone; NULL: no memory. */
static char *backbone_text(const vit_config *config) {
    vit_config c = *config;
    c.head = VIT_HEAD_LINEAR;
    c.head_bias = true;
    c.classes = 2;
    return vit_config_write(&c);
}

static vit_status compare_texts(char *a, char *b, vit_error *error) {
    const bool memory = a && b, same = memory && strcmp(a, b) == 0;
    vit_free(a);
    vit_free(b);
    if (same) return VIT_OK;
    if (!memory) return vit_fail_memory(error, "a description", 0);
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "the model was taught on another network, or prepares its pictures otherwise");
}

/* Whether both files have the same weights, but for their heads. */
static vit_status compare_tensors(const vit_kernels *kernels, const vit_model_file *a,
                                  const vit_model_file *b, vit_error *error) {
    size_t most = 0;
    bool same = true;
    for (size_t i = 0; i < b->table.count; i++)
        if (b->table.rows[i].count > most) most = b->table.rows[i].count;
    float *values = vit_alloc(2 * most, sizeof *values);
    if (!values) return vit_fail_memory(error, "weights", 2 * most * sizeof *values);
    for (size_t i = 0; i < b->table.count && same; i++) {
        const vit_parameter *p = &b->table.rows[i], *other = vit_table_find(&a->table, p->name);
        if (strncmp(p->name, "head.", 5) == 0) continue;
        same = other && other->count == p->count;
        if (!same) break;
        copy_tensor(values, kernels, b, p);
        copy_tensor(values + most, kernels, a, other);
        same = memcmp(values, values + most, p->count * sizeof *values) == 0;
    }
    vit_free(values);
    if (same) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "the model was taught on another backbone: its weights are others");
}

vit_status vit_few_shot_hash_backbone(char hex[65], const vit_few_shot *t, vit_error *error) {
    const vit_model_file *f = &t->backbone->file;
    char *texts[] = {backbone_text(&f->config), vit_preprocessing_write(&f->preprocessing)};
    size_t most = 0;
    vit_sha256 hash;
    for (size_t i = 0; i < f->table.count; i++) most = vit_max(most, f->table.rows[i].count);
    float *values = vit_alloc_unset(most, sizeof *values);
    vit_status status = VIT_OK;
    if (!values || !texts[0] || !texts[1])
        status = vit_fail_memory(error, "weights", most * sizeof *values);
    vit_sha256_start(&hash);
    for (size_t i = 0; i < VIT_COUNT(texts) && status == VIT_OK; i++)
        vit_sha256_add(&hash, texts[i], strlen(texts[i]) + 1);
    for (size_t i = 0; i < f->table.count && status == VIT_OK; i++) {
        const vit_parameter *p = &f->table.rows[i];
        if (vit_is_of_head(p->name)) continue;
        copy_tensor(values, t->session->kernels, f, p);
        vit_sha256_add(&hash, p->name, strlen(p->name) + 1);
        vit_sha256_add(&hash, values, p->count * sizeof *values);
    }
    if (status == VIT_OK) vit_sha256_hex(&hash, hex);
    for (size_t i = 0; i < VIT_COUNT(texts); i++) vit_free(texts[i]);
    vit_free(values);
    return status;
}

static vit_status check_taught(const vit_few_shot *t, const vit_model *taught, vit_error *error) {
    const vit_model_file *a = &t->backbone->file, *b = &taught->file;
    if (t->keep_lessons)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "a head is taken without its lessons, which this teaching is to keep");
    if (t->class_count > 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "a head is taken before there are classes: begin another teaching");
    if (b->config.head != VIT_HEAD_LINEAR || !b->config.head_bias || !b->labels)
        return vit_fail(error, VIT_ERROR_MISMATCH, "the model is none that was taught");
    vit_status status = compare_texts(backbone_text(&a->config), backbone_text(&b->config), error);
    if (status == VIT_OK)
        status = compare_texts(vit_preprocessing_write(&a->preprocessing),
                               vit_preprocessing_write(&b->preprocessing), error);
    return status == VIT_OK ? compare_tensors(t->session->kernels, a, b, error) : status;
}

/* What the recipe says of how good the head is. */
static void recall(vit_few_shot_result *l, const vit_model_file *f) {
    json_t *recipe = json_loads(f->recipe ? f->recipe : "{}", 0, NULL);
    const json_int_t pictures = json_integer_value(json_object_get(recipe, "pictures"));
    const double share = json_number_value(json_object_get(recipe, "accuracy"));
    *l = (vit_few_shot_result){.classes = f->config.classes,
                               .left_out = "as the model file says",
                               .strength = json_number_value(json_object_get(recipe, "strength")),
                               .temperature = f->temperature > 0 ? f->temperature : 1,
                               .threshold = f->threshold,
                               .doubled = NAN};
    if (pictures > 0 && share >= 0 && share <= 1) {
        l->pictures = (size_t)pictures;
        l->right = (size_t)floor(share * (double)pictures + .5);
        l->accuracy = (double)l->right / (double)pictures;
        vit_wilson(&l->low, &l->high, l->right, l->pictures);
    }
    json_decref(recipe);
}

static vit_status take_classes(vit_few_shot *t, const vit_model_file *f, vit_error *error) {
    const size_t count = f->config.classes, room = count * t->width;
    const vit_kernels *kernels = t->session->kernels;
    vit_linear_head *head = &t->solution.head;
    size_t label;
    vit_status status = VIT_OK;
    float *values = vit_alloc(room, sizeof *values);
    head->weights = vit_alloc(room, sizeof *head->weights);
    head->bias = vit_alloc(count, sizeof *head->bias);
    if (!values || !head->weights || !head->bias)
        status = vit_fail_memory(error, "a head", room * sizeof(double));
    for (size_t k = 0; k < count && status == VIT_OK; k++)
        status = vit_few_shot_label(t, &label, f->labels[k], error);
    if (status == VIT_OK && t->class_count != count)
        status = vit_fail(error, VIT_ERROR_MISMATCH, "two classes of the model have one name");
    if (status == VIT_OK) {
        copy_tensor(values, kernels, f, vit_table_find(&f->table, "head.weight"));
        for (size_t i = 0; i < room; i++) head->weights[i] = (double)values[i];
        copy_tensor(values, kernels, f, vit_table_find(&f->table, "head.bias"));
        for (size_t k = 0; k < count; k++) head->bias[k] = (double)values[k];
    }
    vit_free(values);
    return status;
}

/* Nothing stays of a head that could not be taken: there were `before` classes. */
static void drop_head(vit_few_shot *t, size_t before) {
    while (t->class_count > before) vit_free(t->classes[--t->class_count]);
    if (before == 0) vit_solution_free(&t->solution);
}

vit_status vit_few_shot_take_head(vit_few_shot *t, const vit_model *taught, vit_error *error) {
    VIT_ENTRY;
    const size_t before = t->class_count;
    vit_few_shot_result learnt;
    vit_status status = check_taught(t, taught, error);
    if (status == VIT_OK) status = take_classes(t, &taught->file, error);
    if (status == VIT_OK) {
        recall(&learnt, &taught->file);
        status = vit_few_shot_know(t, &learnt, error);
    }
    if (status == VIT_OK)
        t->taken = t->class_count;
    else
        drop_head(t, before);
    return status;
}
