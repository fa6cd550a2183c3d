/* Labelled pictures in memory: those of a caller, or those that numpy.c has read from files. */
#include "datasets/reader.h"
#include "vit/base/order.h"
#include "vit/base/parallel.h"
#include "vit/base/sys.h"
#include "vit/base/utf8.h"
#include "vit/formats/label_list.h"
#include "vit/formats/sha256.h"
#include "vit/image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIDE 4096
#define MAX_CLASSES 65536

/* Pictures keep their size if a network can cut it into patches: a multiple of 8, or for grey ones
 * of 7, as MNIST's 28; at most MOST_KEPT_SIDE. */
#define SIDE_MULTIPLE 8
#define DIGIT_MULTIPLE 7
#define MOST_KEPT_SIDE 224

static size_t picture_bytes(const vit_arrays *a) {
    return a->height * a->width * a->channels;
}

/* ---- checks ---- */

static vit_status check_size(const vit_arrays *a, const char *name, vit_error *error) {
    if (a->height < 1 || a->height > MAX_SIDE || a->width < 1 || a->width > MAX_SIDE)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%s: pictures of %zux%zu, expected 1x1 to %dx%d",
                        name, a->height, a->width, MAX_SIDE, MAX_SIDE);
    if (a->channels == 1 || a->channels == 3) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "%s: pictures of %zu channels, expected 1 (grey) or 3 (red, green, blue)%s",
                    name, a->channels,
                    a->channels == 4 ? "; images[..., :3] leaves the transparency out" : "");
}

static vit_status check_labels(const vit_array_part *p, const char *part, size_t classes,
                               const char *name, vit_error *error) {
    for (size_t i = 0; i < p->count; i++)
        if (p->labels[i] < 0 || (uint64_t)p->labels[i] >= classes)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: the label of %s picture %zu is %lld, expected 0 to %zu", name,
                            part, i, (long long)p->labels[i], classes - 1);
    return VIT_OK;
}

/* The largest label + 1, of the training pictures if there are any: the test part must not change
 * what is trained. */
static vit_status count_classes(size_t *classes, const vit_arrays *a, const char *name,
                                vit_error *error) {
    const vit_array_part *p = a->train.count > 0  ? &a->train
                              : a->test.count > 0 ? &a->test
                                                  : &a->val;
    int64_t largest = 0;
    *classes = a->classes;
    if (a->names && a->classes == 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s: has names of classes, but their number is not given", name);
    if (a->classes > MAX_CLASSES)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%s: %zu classes, expected at most %d", name,
                        a->classes, MAX_CLASSES);
    if (a->classes > 0) return VIT_OK;
    vit_status status =
        check_labels(p, p == &a->train ? "training" : "test", MAX_CLASSES, name, error);
    for (size_t i = 0; i < p->count && status == VIT_OK; i++)
        if (p->labels[i] > largest) largest = p->labels[i];
    *classes = (size_t)largest + 1;
    return status;
}

static vit_status check_parts(const vit_arrays *a, unsigned need, const char *name,
                              vit_error *error) {
    const bool train = need & VIT_PART_TRAIN || (need & VIT_PART_VAL && a->val.count == 0);
    const vit_array_part *const parts[] = {&a->train, &a->val, &a->test};
    for (size_t i = 0; i < 3; i++)
        if (parts[i]->count > 0 && (!parts[i]->images || !parts[i]->labels))
            return vit_fail(error, VIT_ERROR_ARGUMENT, "%s: pictures without %s", name,
                            parts[i]->images ? "labels" : "pixels");
    if (train && a->train.count == 0)
        return vit_fail(error, VIT_ERROR_IO, "%s: has no pictures for training", name);
    if (need & VIT_PART_TEST && a->test.count + a->val.count == 0)
        return vit_fail(error, VIT_ERROR_IO, "%s: has no pictures for the test", name);
    return VIT_OK;
}

/* ---- preparation ---- */

static bool are_multiples(const vit_arrays *a, size_t of) {
    return a->height % of == 0 && a->width % of == 0;
}

/* Pictures that the network can take as they are become records; others are prepared. */
static vit_status choose_preparation(vit_dataset *out, const vit_arrays *a,
                                     const vit_dataset_options *o, const char *name,
                                     vit_error *error) {
    const bool like_digits = a->channels == 1 && are_multiples(a, DIGIT_MULTIPLE);
    const bool fits_patches = (are_multiples(a, SIDE_MULTIPLE) || like_digits) &&
                              a->height <= MOST_KEPT_SIDE && a->width <= MOST_KEPT_SIDE;
    const bool is_sized = o->height > 0 && o->width > 0;
    vit_preparation p;
    bool is_kept;
    if (o->preparation) {
        p = *o->preparation;
        is_kept = p.height == a->height && p.width == a->width && p.channels == a->channels;
    } else if (is_sized) {
        vit_fitted_preparation(&p, o->height, o->width);
        is_kept = o->height == a->height && o->width == a->width;
    } else {
        p = vit_square_preparation(a->height < a->width ? a->height : a->width);
        is_kept = fits_patches;
    }
    if (is_kept) {
        out->preset = like_digits ? "mnist" : "folder";
        out->height = a->height;
        out->width = a->width;
        out->channels = a->channels;
        return VIT_OK;
    }
    out->preset = "folder";
    vit_dataset_prepare_as(out, &p);
    return vit_dataset_note(out, error,
                            "the pictures of %s, %zu x %zu x %zu, are prepared as files would be: "
                            "%zu x %zu x %zu",
                            name, a->height, a->width, a->channels, p.height, p.width, p.channels);
}

/* ---- pixels ---- */

typedef struct pass {
    const vit_dataset *set;
    const vit_arrays *arrays;
    const uint8_t *images;
    uint8_t *pixels;
    vit_status *status; /* [count] */
} pass;

static vit_status prepare(const pass *p, size_t index, vit_error *error) {
    const vit_dataset *d = p->set;
    const size_t bytes = d->height * d->width * d->channels;
    const vit_image image = {
        .pixels = (uint8_t *)(uintptr_t)(p->images + index * picture_bytes(p->arrays)),
        .width = p->arrays->width,
        .height = p->arrays->height,
        .channels = p->arrays->channels};
    vit_image ready = {0};
    const vit_status status = vit_preprocess(&ready, &image, &d->preprocessing, d->height, d->width,
                                             d->channels, d->kernels, error);
    if (status == VIT_OK) memcpy(p->pixels + index * bytes, ready.pixels, bytes);
    vit_image_free(&ready);
    return status;
}

static void prepare_task(size_t index, int thread, void *context) {
    const pass *p = context;
    (void)thread;
    p->status[index] = prepare(p, index, NULL);
}

static vit_status prepare_all(const pass *p, size_t count, int threads, const char *name,
                              vit_error *error) {
    vit_parallel(threads > 0 ? threads : 1, count, prepare_task, (void *)(uintptr_t)p);
    for (size_t i = 0; i < count; i++) {
        char what[320];
        if (p->status[i] == VIT_OK) continue;
        snprintf(what, sizeof what, "%s: picture %zu", name, i);
        return vit_fail_prefix(error, prepare(p, i, error), what); /* again, for its message */
    }
    return VIT_OK;
}

static vit_status take_pixels(vit_records *r, const vit_dataset *d, const vit_arrays *a,
                              const vit_array_part *part, int threads, const char *name,
                              vit_error *error) {
    const size_t bytes = d->height * d->width * d->channels;
    r->pixels = vit_alloc_unset(part->count, bytes);
    if (!r->pixels) return vit_fail_memory(error, name, part->count * bytes);
    if (d->preprocessing.count == 0) {
        memcpy(r->pixels, part->images, part->count * bytes);
        return VIT_OK;
    }
    pass p = {d, a, part->images, r->pixels, vit_alloc(part->count, sizeof *p.status)};
    if (!p.status) return vit_fail_memory(error, name, part->count * sizeof *p.status);
    const vit_status status = prepare_all(&p, part->count, threads, name, error);
    vit_free(p.status);
    return status;
}

vit_status vit_dataset_prepare_records(vit_dataset *d, const vit_preparation *preparation,
                                       int threads, vit_error *error) {
    const vit_arrays was = {.height = d->height, .width = d->width, .channels = d->channels};
    vit_records *const parts[] = {&d->train, &d->val, &d->test};
    vit_status status = VIT_OK;
    vit_dataset_prepare_as(d, preparation);
    for (size_t i = 0; i < 3 && status == VIT_OK; i++) {
        uint8_t *stored = parts[i]->pixels;
        const vit_array_part part = {.images = stored, .count = parts[i]->count};
        if (part.count == 0 || (d->test_is_val && parts[i] == &d->test)) continue;
        parts[i]->pixels = NULL;
        status = take_pixels(parts[i], d, &was, &part, threads, d->name, error);
        vit_free(stored);
        if (status == VIT_OK) continue;
        vit_free(parts[i]->pixels);
        parts[i]->pixels = NULL;
    }
    if (d->test_is_val) d->test = d->val;
    return status;
}

static vit_status take_part(vit_records *r, const vit_dataset *d, const vit_arrays *a,
                            const vit_array_part *part, const char *what, int threads,
                            const char *name, vit_error *error) {
    if (part->count == 0) return VIT_OK;
    vit_status status = check_labels(part, what, d->classes, name, error);
    if (status != VIT_OK) return status;
    r->labels = vit_alloc(part->count, sizeof *r->labels);
    if (!r->labels) return vit_fail_memory(error, name, part->count * sizeof *r->labels);
    for (size_t i = 0; i < part->count; i++) r->labels[i] = (uint16_t)part->labels[i];
    status = take_pixels(r, d, a, part, threads, name, error);
    r->count = status == VIT_OK ? part->count : 0;
    return status;
}

/* ---- names ---- */

/* Classes meet by name: each has one of its own. sorted: [classes], scratch. */
static vit_status check_names(const vit_dataset *d, const char **sorted, const char *name,
                              vit_error *error) {
    for (size_t i = 0; i < d->classes; i++)
        if (!vit_is_class_name(sorted[i] = d->labels[i]))
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "%s: the name of class %zu is empty or no UTF-8 text", name, i);
    qsort(sorted, d->classes, sizeof *sorted, vit_compare_texts);
    for (size_t i = 1; i < d->classes; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return vit_fail(error, VIT_ERROR_ARGUMENT, "%s: two classes are called \"%s\"", name,
                            sorted[i]);
    return VIT_OK;
}

/* Copies the names in one block. Classes with a name of one character may be digits or letters, and
 * so may classes of grey pictures without names. */
static vit_status take_names(vit_dataset *out, const vit_arrays *a, const char *name,
                             vit_error *error) {
    size_t bytes = out->classes * sizeof(char *);
    out->has_characters = !a->names && a->channels == 1;
    if (!a->names) return VIT_OK;
    for (size_t i = 0; i < out->classes; i++) bytes += strlen(a->names[i]) + 1;
    char **table = vit_alloc(1, bytes);
    if (!table) return vit_fail_memory(error, "names of classes", bytes);
    char *at = (char *)(table + out->classes);
    for (size_t i = 0; i < out->classes; i++) {
        const size_t length = strlen(a->names[i]);
        table[i] = memcpy(at, a->names[i], length + 1);
        at += length + 1;
        if (length > 0 && a->names[i][vit_utf8_length(a->names[i])] == 0)
            out->has_characters = true;
    }
    out->labels = (const char *const *)table;
    out->label_memory = table;
    const char **sorted = vit_alloc(out->classes, sizeof *sorted);
    const vit_status status = sorted ? check_names(out, sorted, name, error)
                                     : vit_fail_memory(error, "names of classes", bytes);
    vit_free(sorted);
    return status;
}

/* ---- the whole ---- */

void vit_arrays_checksum(char checksum[65], const vit_arrays *a, const vit_array_part *part) {
    char text[80];
    vit_sha256 hash;
    snprintf(text, sizeof text, "%zu %zu %zu %zu\n", part->count, a->height, a->width, a->channels);
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, text, strlen(text));
    for (size_t i = 0; i < part->count; i++) {
        const uint8_t label[] = {(uint8_t)part->labels[i], (uint8_t)(part->labels[i] >> 8)};
        vit_sha256_add(&hash, label, sizeof label);
    }
    vit_sha256_add(&hash, part->images, part->count * picture_bytes(a));
    vit_sha256_hex(&hash, checksum);
}

static vit_status take_parts(vit_dataset *out, const vit_arrays *a, const vit_dataset_options *o,
                             const char *name, vit_error *error) {
    unsigned parts = o->need | o->want;
    const bool test_is_val = a->test.count == 0 && a->val.count > 0 && parts & VIT_PART_TEST;
    if (test_is_val) parts |= VIT_PART_VAL;
    if (parts & VIT_PART_VAL && a->val.count == 0) parts |= VIT_PART_TRAIN;
    vit_status status = VIT_OK;
    if (parts & VIT_PART_TRAIN)
        status = take_part(&out->train, out, a, &a->train, "training", o->threads, name, error);
    if (status == VIT_OK && parts & VIT_PART_VAL)
        status = take_part(&out->val, out, a, &a->val, "val", o->threads, name, error);
    if (status == VIT_OK && parts & VIT_PART_TEST)
        status = take_part(&out->test, out, a, &a->test, "test", o->threads, name, error);
    if (status == VIT_OK && test_is_val) {
        out->test = out->val;
        out->test_is_val = true;
    }
    vit_arrays_checksum(out->checksum, a,
                        out->train.count > 0  ? &a->train
                        : out->test_is_val    ? &a->val
                        : out->test.count > 0 ? &a->test
                                              : &a->val);
    return status;
}

vit_status vit_arrays_open(vit_dataset *out, const char *name, const vit_arrays *a,
                           const vit_dataset_options *o, vit_error *error) {
    vit_status status = check_size(a, name, error);
    out->kernels = o->kernels;
    vit_path_name(out->name, sizeof out->name, name);
    if (status == VIT_OK) status = check_parts(a, o->need, name, error);
    if (status == VIT_OK) status = count_classes(&out->classes, a, name, error);
    if (status == VIT_OK) status = choose_preparation(out, a, o, name, error);
    if (status == VIT_OK) status = take_names(out, a, name, error);
    if (status == VIT_OK) status = take_parts(out, a, o, name, error);
    if (status == VIT_OK && out->train.count > 0 && out->classes < 2)
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: all labels are 0, expected two or more classes", name);
    if (status == VIT_OK && !o->empty_classes) status = vit_dataset_check_classes(out, name, error);
    if (status == VIT_OK && out->preprocessing.count == 0) vit_dataset_measure(out);
    return status;
}
