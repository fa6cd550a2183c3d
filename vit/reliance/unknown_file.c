/* What a calibration's file has for out-of-distribution pictures, docs/formats.md#calibration. */
#include "vit/base/error.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/base64.h"
#include "vit/reliance/conformal.h"
#include "vit/reliance/stored.h"
#include <math.h>
#include <string.h>

enum { WIDTH_LIMIT = 1 << 20, IMAGES_LIMIT = 1 << 30, CLASSES_LIMIT = 1000000 };

/* ---- written ---- */

static void write_typical(vit_json_out *json, const vit_typical *t) {
    if (!t) {
        vit_json_raw(json, "training", "null");
        return;
    }
    vit_json_open(json, "training", '{');
    vit_json_text(json, "data", t->data);
    vit_json_count(json, "images", t->images);
    vit_json_count(json, "width", t->width);
    vit_json_count(json, "classes", t->classes);
    vit_json_count(json, "neighbours", t->neighbours);
    vit_json_base64(json, "features", t->features, t->images * t->width * sizeof(float));
    vit_json_base64(json, "factor", t->factor, t->width * t->width * sizeof(double));
    vit_json_base64(json, "means", t->means, t->classes * t->width * sizeof(double));
    vit_json_close(json, '}');
}

static void write_figures(vit_json_out *json, const char *key, const vit_calibration *c,
                          bool auroc) {
    vit_json_open(json, key, '[');
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT; score++) {
        const vit_ood_figures *f = &c->figures[score];
        vit_json_number(json, NULL, !c->ood[score] ? NAN : auroc ? f->auroc : f->fpr95);
    }
    vit_json_close(json, ']');
}

void vit_ood_write(vit_json_out *json, const vit_calibration *c) {
    if (c->ood_images == 0) {
        vit_json_raw(json, "ood", "null");
        return;
    }
    vit_json_open(json, "ood", '{');
    vit_json_text(json, "chosen", vit_ood_name(c->chosen));
    vit_json_count(json, "images", c->ood_images);
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT; score++) {
        if (c->ood[score])
            vit_json_numbers(json, vit_ood_name(score), c->ood[score], c->ood_images);
        else
            vit_json_raw(json, vit_ood_name(score), "null");
    }
    vit_json_text(json, "outliers", c->outliers);
    vit_json_count(json, "outlier_images", c->outlier_images);
    write_figures(json, "auroc", c, true);
    write_figures(json, "fpr95", c, false);
    write_typical(json, c->typical);
    vit_json_close(json, '}');
}

/* ---- read ---- */

static vit_status copy_text(char **out, const json_t *object, const char *key, const char *path,
                            vit_error *error) {
    const char *text = json_string_value(json_object_get(object, key));
    if (!text) return vit_fail_stored(VIT_STORED_CALIBRATION, path, key, error);
    *out = vit_strdup(text);
    return *out ? VIT_OK : vit_fail_memory(error, key, strlen(text));
}

/* *out = `count` finite numbers of so many bytes each, in base64. */
static vit_status read_block(void **out, const json_t *object, const char *key, size_t count,
                             size_t size, const char *path, vit_error *error) {
    const char *text = json_string_value(json_object_get(object, key));
    vit_bytes bytes;
    if (!text) return vit_fail_stored(VIT_STORED_CALIBRATION, path, key, error);
    const vit_status status = vit_read_base64(&bytes, key, text, strlen(text), error);
    if (status != VIT_OK) return status;
    bool fine = bytes.size == count * size;
    for (size_t i = 0; i < count && fine; i++) {
        float single = 0;
        double number = 0;
        if (size == sizeof single) memcpy(&single, bytes.data + i * size, size);
        if (size == sizeof number) memcpy(&number, bytes.data + i * size, size);
        fine = size == sizeof single ? isfinite(single) : isfinite(number);
    }
    *out = fine ? vit_alloc_unset(count, size) : NULL;
    if (*out) memcpy(*out, bytes.data, bytes.size);
    vit_free(bytes.data);
    if (!fine) return vit_fail_stored(VIT_STORED_CALIBRATION, path, key, error);
    return *out ? VIT_OK : vit_fail_memory(error, key, count * size);
}

static vit_status read_typical(vit_calibration *c, json_t *object, const char *path,
                               vit_error *error) {
    if (json_is_null(object)) return VIT_OK;
    vit_typical *t = c->typical = vit_alloc(1, sizeof *t);
    if (!t) return vit_fail_memory(error, "features", sizeof *t);
    const vit_field fields[] = {{"data", VIT_FIELD_OTHER, NULL, NULL},
                                {"images", VIT_FIELD_SIZE, &t->images, NULL},
                                {"width", VIT_FIELD_SIZE, &t->width, NULL},
                                {"classes", VIT_FIELD_SIZE, &t->classes, NULL},
                                {"neighbours", VIT_FIELD_SIZE, &t->neighbours, NULL},
                                {"features", VIT_FIELD_OTHER, NULL, NULL},
                                {"factor", VIT_FIELD_OTHER, NULL, NULL},
                                {"means", VIT_FIELD_OTHER, NULL, NULL}};
    void *blocks[3] = {NULL};
    vit_status status = vit_json_read(object, fields, VIT_COUNT(fields), path, error);
    if (status == VIT_OK &&
        (t->width == 0 || t->width > WIDTH_LIMIT || t->images == 0 ||
         t->images > VIT_TYPICAL_MOST || t->classes == 0 || t->classes > CLASSES_LIMIT ||
         t->neighbours == 0 || t->neighbours > t->images))
        status = vit_fail_stored(VIT_STORED_CALIBRATION, path, "training", error);
    if (status == VIT_OK) status = copy_text(&t->data, object, "data", path, error);
    if (status == VIT_OK)
        status = read_block(&blocks[0], object, "features", t->images * t->width, sizeof(float),
                            path, error);
    if (status == VIT_OK)
        status = read_block(&blocks[1], object, "factor", t->width * t->width, sizeof(double), path,
                            error);
    if (status == VIT_OK)
        status = read_block(&blocks[2], object, "means", t->classes * t->width, sizeof(double),
                            path, error);
    t->features = blocks[0];
    t->factor = blocks[1];
    t->means = blocks[2];
    for (size_t j = 0; j < t->width && status == VIT_OK; j++)
        if (!(t->factor[j * t->width + j] > 0))
            status = vit_fail_stored(VIT_STORED_CALIBRATION, path, "factor", error);
    return status;
}

/* The ascending scores of the calibration pictures; null: that score is not there. */
static vit_status read_scores(vit_calibration *c, const json_t *object, vit_ood_score score,
                              const char *path, vit_error *error) {
    const char *key = vit_ood_name(score);
    const json_t *list = json_object_get(object, key);
    if (json_is_null(list)) return VIT_OK;
    if (json_array_size(list) != c->ood_images)
        return vit_fail_stored(VIT_STORED_CALIBRATION, path, key, error);
    double *values = c->ood[score] = vit_alloc(c->ood_images, sizeof *values);
    if (!values) return vit_fail_memory(error, "scores", c->ood_images * sizeof *values);
    for (size_t i = 0; i < c->ood_images; i++) {
        const json_t *value = json_array_get(list, i);
        values[i] = json_number_value(value);
        if (!json_is_number(value) || (i > 0 && !(values[i] >= values[i - 1])))
            return vit_fail_stored(VIT_STORED_CALIBRATION, path, key, error);
    }
    return VIT_OK;
}

static vit_status read_figures(vit_calibration *c, const json_t *object, const char *path,
                               vit_error *error) {
    const json_t *auroc = json_object_get(object, "auroc"),
                 *fpr95 = json_object_get(object, "fpr95");
    if (json_array_size(auroc) != VIT_OOD_COUNT)
        return vit_fail_stored(VIT_STORED_CALIBRATION, path, "auroc", error);
    if (json_array_size(fpr95) != VIT_OOD_COUNT)
        return vit_fail_stored(VIT_STORED_CALIBRATION, path, "fpr95", error);
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT; score++) {
        const json_t *a = json_array_get(auroc, score), *f = json_array_get(fpr95, score);
        c->figures[score] = (vit_ood_figures){json_is_number(a) ? json_number_value(a) : NAN,
                                              json_is_number(f) ? json_number_value(f) : NAN};
    }
    return VIT_OK;
}

vit_status vit_ood_read(vit_calibration *c, const json_t *ood, const char *path, vit_error *error) {
    json_t *object = (json_t *)(uintptr_t)ood;
    int chosen = 0;
    const vit_field fields[] = {{"chosen", VIT_FIELD_ENUM, &chosen, vit_ood_names},
                                {"images", VIT_FIELD_SIZE, &c->ood_images, NULL},
                                {"softmax", VIT_FIELD_OTHER, NULL, NULL},
                                {"energy", VIT_FIELD_OTHER, NULL, NULL},
                                {"knn", VIT_FIELD_OTHER, NULL, NULL},
                                {"mahalanobis", VIT_FIELD_OTHER, NULL, NULL},
                                {"outliers", VIT_FIELD_OTHER, NULL, NULL},
                                {"outlier_images", VIT_FIELD_SIZE, &c->outlier_images, NULL},
                                {"auroc", VIT_FIELD_OTHER, NULL, NULL},
                                {"fpr95", VIT_FIELD_OTHER, NULL, NULL},
                                {"training", VIT_FIELD_OTHER, NULL, NULL}};
    if (!object || json_is_null(object)) return VIT_OK;
    vit_status status = vit_json_read(object, fields, VIT_COUNT(fields), path, error);
    if (status == VIT_OK && (c->ood_images == 0 || c->ood_images > IMAGES_LIMIT))
        status = vit_fail_stored(VIT_STORED_CALIBRATION, path, "images", error);
    c->chosen = (vit_ood_score)chosen;
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT && status == VIT_OK; score++)
        status = read_scores(c, object, score, path, error);
    if (status == VIT_OK && !c->ood[c->chosen])
        status = vit_fail_stored(VIT_STORED_CALIBRATION, path, "chosen", error);
    if (status == VIT_OK && !json_is_null(json_object_get(object, "outliers")))
        status = copy_text(&c->outliers, object, "outliers", path, error);
    if (status == VIT_OK) status = read_figures(c, object, path, error);
    if (status == VIT_OK)
        status = read_typical(c, json_object_get(object, "training"), path, error);
    if (status == VIT_OK && (!c->typical) != (!c->ood[VIT_OOD_KNN]))
        status = vit_fail_stored(VIT_STORED_CALIBRATION, path, "training", error);
    return status;
}
