/* CIFAR-10 and CIFAR-100 in their Python form: each file is a pickled dictionary of "data", an
 * array of a row of 3072 bytes for each picture, and lists of labels. They become the records of
 * the binary form, which cifar.c reads. */
#include "datasets/reader.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/tensors/pickle.h"

#include <stdio.h>
#include <string.h>

#define PICTURE 3072

typedef vit_pickle_value value;

static vit_status unfit(const char *name, const char *what, vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: %s: it is damaged, or not one of the published files; the binary version "
                    "of the set is read, too",
                    name, what);
}

/* Puts the labels of a list into byte `at` of each record. */
static vit_status put_labels(uint8_t *records, size_t count, size_t stride, size_t at,
                             const vit_pickle *p, const char *key, const char *name,
                             vit_error *error) {
    const value *list = vit_pickle_get(p, vit_pickle_root(p), key);
    const vit_pickle_pair *pair = NULL;
    char what[128];
    size_t found = 0;
    if (list && list->kind == VIT_PICKLE_LIST)
        for (; (pair = vit_pickle_next(p, *list, pair)); found++) {
            if (pair->value.kind != VIT_PICKLE_NUMBER || pair->value.index < 0 ||
                pair->value.index > UINT8_MAX) {
                snprintf(what, sizeof what, "label %zu of its %s is no number from 0 on", found,
                         key);
                return unfit(name, what, error);
            }
            if (found < count) records[found * stride + at] = (uint8_t)pair->value.index;
        }
    if (found == count) return VIT_OK;
    snprintf(what, sizeof what, "has %zu %s, but its pictures are %zu", found, key, count);
    return unfit(name, what, error);
}

static void put_pixels(uint8_t *records, size_t stride, size_t head, const vit_pickle_array *a) {
    const size_t count = a->shape[0];
    for (size_t i = 0; i < count; i++) {
        uint8_t *record = records + i * stride + head;
        if (!a->fortran) memcpy(record, a->data + i * PICTURE, PICTURE);
        for (size_t k = 0; k < PICTURE && a->fortran; k++) record[k] = a->data[k * count + i];
    }
}

static vit_status take_records(vit_bytes *out, const vit_pickle *p, unsigned classes,
                               const char *name, vit_error *error) {
    const size_t head = classes == 100 ? 2 : 1, stride = head + PICTURE;
    const value *data = vit_pickle_get(p, vit_pickle_root(p), "data");
    vit_pickle_array a;
    if (!data || !vit_pickle_array_of(p, *data, &a) || a.dims != 2 || a.shape[1] != PICTURE)
        return unfit(name, "its \"data\" is no array of bytes, 3072 a picture", error);
    out->size = a.shape[0] * stride;
    out->data = vit_alloc(a.shape[0], stride);
    if (!out->data) return vit_fail_memory(error, name, out->size);
    put_pixels(out->data, stride, head, &a);
    if (head == 1) return put_labels(out->data, a.shape[0], stride, 0, p, "labels", name, error);
    const vit_status status =
        put_labels(out->data, a.shape[0], stride, 0, p, "coarse_labels", name, error);
    if (status != VIT_OK) return status;
    return put_labels(out->data, a.shape[0], stride, 1, p, "fine_labels", name, error);
}

static vit_status read_pickle(vit_pickle **p, const uint8_t *bytes, size_t size, const char *name,
                              vit_error *error) {
    vit_error reason;
    const vit_status status = vit_pickle_read(p, bytes, size, &reason);
    if (status == VIT_OK) return VIT_OK;
    if (status == VIT_ERROR_MEMORY) return vit_fail_memory(error, name, size);
    char what[256];
    snprintf(what, sizeof what,
             "cannot be read as a pickle of lists and arrays, and no code in it "
             "is run (%.120s)",
             reason.message);
    return unfit(name, what, error);
}

static vit_status read_records(vit_bytes *out, const uint8_t *bytes, size_t size, unsigned classes,
                               const char *name, vit_error *error) {
    vit_pickle *p;
    *out = (vit_bytes){0};
    vit_status status = read_pickle(&p, bytes, size, name, error);
    if (status != VIT_OK) return status;
    status = take_records(out, p, classes, name, error);
    vit_pickle_free(p);
    if (status == VIT_OK) return VIT_OK;
    vit_free(out->data);
    *out = (vit_bytes){0};
    return status;
}

static vit_status read_names(vit_bytes *out, const uint8_t *bytes, size_t size, unsigned classes,
                             const char *name, vit_error *error) {
    vit_pickle *p;
    vit_string lines = {0};
    *out = (vit_bytes){0};
    const vit_status status = read_pickle(&p, bytes, size, name, error);
    if (status != VIT_OK) return status;
    const value *list =
        vit_pickle_get(p, vit_pickle_root(p), classes == 100 ? "fine_label_names" : "label_names");
    const vit_pickle_pair *pair = NULL;
    vit_string_add(&lines, "%s", ""); /* so that there is a text */
    while (list && list->kind == VIT_PICKLE_LIST && (pair = vit_pickle_next(p, *list, pair)))
        if (pair->value.kind == VIT_PICKLE_TEXT) {
            vit_string_add_bytes(&lines, vit_pickle_text(p, pair->value), pair->value.length);
            vit_string_add(&lines, "\n");
        }
    vit_pickle_free(p);
    if (lines.failed) {
        vit_string_free(&lines);
        return vit_fail_memory(error, name, size);
    }
    *out = (vit_bytes){(uint8_t *)lines.text, lines.length};
    return VIT_OK;
}

const vit_pickled_cifar vit_cifar_in_python = {read_records, read_names};
