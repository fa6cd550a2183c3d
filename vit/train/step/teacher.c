#include "vit/train/step/teacher.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/npy.h"
#include "vit/tensors/container.h"
#include "vit/tensors/weights_path.h"
#include "vit/weights/file/labels.h"
#include "vit/weights/file/open.h"
#include <string.h>

/* ---- stored logits ---- */

/* A row for each training picture, a column for each class. */
static vit_status check_shape(const vit_npy *a, const vit_dataset *d, vit_error *error) {
    char shape[128];
    vit_shape_text(shape, a->shape, a->dims);
    if (a->kind != 'f' || a->width < 4)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "logits of type '%s', expected float32 or float64", a->type);
    if (a->dims == 2 && a->shape[0] == d->train.count && a->shape[1] == d->classes && !a->fortran)
        return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "logits of shape %s%s, expected [%zu, %zu]: a row for each training picture of "
                    "%s, those held back among them, and a column for each class",
                    shape, a->fortran ? " in Fortran's order" : "", d->train.count, d->classes,
                    d->name);
}

static vit_status read_logits(vit_teacher *t, const vit_bytes *bytes, const vit_dataset *d,
                              vit_error *error) {
    vit_npy a;
    vit_tensor tensor;
    vit_status status = vit_npy_view(&a, bytes->data, bytes->size, "float32, float64", error);
    if (status == VIT_OK) status = check_shape(&a, d, error);
    if (status == VIT_OK) status = vit_npy_tensor(&tensor, &a, error);
    if (status != VIT_OK) return status;
    tensor.name = "logits";
    tensor.data = (const uint8_t *)bytes->data + a.offset;
    t->logits = vit_alloc_unset(a.count, sizeof *t->logits);
    if (!t->logits) return vit_fail_memory(error, "logits", a.count * sizeof *t->logits);
    status = vit_tensor_floats(&tensor, t->logits, error);
    if (status == VIT_OK) status = vit_tensor_check_finite(&tensor, t->logits, error);
    t->stored = status == VIT_OK;
    return status;
}

static vit_status open_logits(vit_teacher *t, const char *path, const vit_dataset *d,
                              vit_error *error) {
    vit_bytes bytes;
    vit_status status = vit_map_file(&bytes, path, error);
    if (status != VIT_OK) return status;
    status = read_logits(t, &bytes, d, error);
    vit_unmap_file(&bytes);
    return status == VIT_OK ? status : vit_fail_prefix(error, status, path);
}

/* ---- a model ---- */

/* MISMATCH unless the model classifies pictures of the data's size into the data's classes. */
static vit_status check_fits(const vit_model_file *f, const vit_dataset *d, vit_error *error) {
    const vit_config *c = &f->config;
    if (vit_config_has_decoder(c) || !vit_config_has_head(c))
        return vit_fail(error, VIT_ERROR_MISMATCH, "a teacher names classes, and this network %s",
                        vit_config_has_decoder(c) ? "writes texts" : "has no head");
    if (c->height != d->height || c->width != d->width || c->channels != d->channels)
        return vit_fail(
            error, VIT_ERROR_MISMATCH,
            "it takes pictures of %zu x %zu x %zu, those of %s are %zu x %zu x %zu: train "
            "at its size (--size, for folders), or store its logits in a file",
            c->height, c->width, c->channels, d->name, d->height, d->width, d->channels);
    return VIT_OK;
}

/* Finds the data's classes among the teacher's: MISMATCH if it does not know one of them. */
static vit_status match_classes(vit_teacher *t, const vit_dataset *d, vit_error *error) {
    const vit_classes data = {d->labels, d->classes},
                      own = {(const char *const *)t->file.labels, t->file.config.classes};
    char number[32], shown[256];
    const vit_status status = vit_labels_match(&t->match, &data, &t->file, error);
    if (status != VIT_OK || t->match.lost == 0) return status;
    vit_classes_shown(shown, &own);
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "it does not know the class %s of %s: its %zu classes are %s",
                    vit_class_name(&data, t->match.first_lost, number), d->name, own.count, shown);
}

/* From the data's normalised values to the teacher's: (x std + mean - its mean) / its std. */
static void take_normalisation(vit_teacher *t, const vit_dataset *d) {
    const vit_preprocessing *p = &t->file.preprocessing;
    for (size_t i = 0; i < p->count; i++) {
        const vit_operation *o = &p->operations[i];
        if (o->kind != VIT_OP_NORMALIZE) continue;
        for (size_t k = 0; k < d->channels; k++) {
            t->scale[k] = d->std[k] / o->std[k];
            t->add[k] = (d->mean[k] - o->mean[k]) / o->std[k];
            t->normalises = t->normalises || d->std[k] < o->std[k] || d->std[k] > o->std[k] ||
                            d->mean[k] < o->mean[k] || d->mean[k] > o->mean[k];
        }
    }
}

static vit_status open_model(vit_teacher *t, const char *path, const vit_dataset *d,
                             const vit_kernels *kernels, vit_error *error) {
    const vit_exec packs = {.kernels = kernels, .threads = 1};
    const vit_wanted wanted = {.packs = &packs};
    vit_model_file *f = &t->file;
    vit_status status = vit_model_file_open(f, path, &wanted, error);
    if (status != VIT_OK) return status;
    status = check_fits(f, d, error);
    if (status == VIT_OK) status = match_classes(t, d, error);
    if (status != VIT_OK) return vit_fail_prefix(error, status, path);
    take_normalisation(t, d);
    t->network.config = f->config;
    t->answers = true;
    return vit_weights_view(&t->network.weights, &f->config, &f->table, f->values, &f->packed,
                            error);
}

/* ---- both ---- */

vit_status vit_teacher_open(vit_teacher *t, const char *path, const vit_dataset *d,
                            const vit_kernels *kernels, vit_error *error) {
    *t = (vit_teacher){0};
    if (d->classes == 0)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "a teacher names classes, but the answers of %s are texts", d->name);
    const bool is_array = vit_has_ending(path, ".npy");
    vit_status status = vit_weights_hash(t->sha256, path, error);
    if (status == VIT_OK)
        status = is_array ? open_logits(t, path, d, error) : open_model(t, path, d, kernels, error);
    if (status != VIT_OK) vit_teacher_close(t);
    return status;
}

void vit_teacher_close(vit_teacher *t) {
    vit_match_free(&t->match);
    vit_weights_free(&t->network.weights);
    vit_model_file_clear(&t->file);
    vit_free(t->logits);
    *t = (vit_teacher){0};
}

void vit_teacher_order(const vit_teacher *t, float *logits, float *row, size_t count) {
    const size_t own = t->network.config.classes, classes = t->match.count;
    if (!t->match.moved) return;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < classes; k++) row[k] = logits[i * own + t->match.to[k]];
        memcpy(logits + i * classes, row, classes * sizeof *row);
    }
}

void vit_teacher_normalise(const vit_teacher *t, float *to, const float *images, size_t count) {
    const vit_config *c = &t->network.config;
    const size_t values = count * c->height * c->width * c->channels;
    for (size_t i = 0; i < values; i++)
        to[i] = images[i] * t->scale[i % c->channels] + t->add[i % c->channels];
}
