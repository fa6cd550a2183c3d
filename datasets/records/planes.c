/* STL-10 and SVHN: colour pictures that are stored as a plane of red, of green and of blue, each
 * column by column, with labels from 1 on. STL-10 is in plain bytes, SVHN in MATLAB's arrays X,
 * [side][side][3][pictures], and y. */
#include "datasets/reader.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/label_list.h"
#include "vit/formats/matlab.h"

#include <stdio.h>
#include <string.h>

#define MAX_FILE ((size_t)4 << 30)
#define CLASSES 10

typedef enum part { TRAIN, TEST, PARTS } part;

typedef struct planes_set {
    const char *name;
    size_t side;
    const char *pictures[PARTS], *labels[PARTS]; /* labels: NULL: in the file of the pictures */
    const char *names[CLASSES];
    unsigned first; /* the class of label 1; those after it follow, and 0 after the last */
} planes_set;

static const planes_set sets[] = {
    {"stl10",
     96,
     {"train_X.bin", "test_X.bin"},
     {"train_y.bin", "test_y.bin"},
     {"airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck"},
     0},
    {"svhn",
     32,
     {"train_32x32.mat", "test_32x32.mat"},
     {NULL, NULL},
     {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
     1},
};

/* ---- files ---- */

static const planes_set *recognise(const vit_listing *directory) {
    for (size_t i = 0; i < VIT_COUNT(sets); i++)
        for (part p = 0; p < PARTS; p++)
            if (vit_listing_find(directory, sets[i].pictures[p])) return &sets[i];
    return NULL;
}

static bool probe(const vit_listing *directory) {
    return recognise(directory);
}

/* ---- one part ---- */

/* From planes [3][column][row] to pixels [row][column][3]. */
static void turn(uint8_t *pixels, const uint8_t *planes, size_t side, size_t count) {
    const size_t plane = side * side;
    for (size_t i = 0; i < count; i++, pixels += 3 * plane, planes += 3 * plane)
        for (size_t y = 0; y < side; y++)
            for (size_t x = 0; x < side; x++)
                for (size_t c = 0; c < 3; c++)
                    pixels[(y * side + x) * 3 + c] = planes[c * plane + x * side + y];
}

typedef struct taken {
    uint8_t *images;
    int64_t *labels;
    size_t count;
} taken;

/* Takes `count` pictures; labels are given one by one. */
static vit_status take(taken *t, const planes_set *s, const uint8_t *planes, size_t count,
                       const char *path, vit_error *error) {
    const size_t bytes = 3 * s->side * s->side;
    t->images = vit_alloc_unset(count, bytes);
    t->labels = vit_alloc(count, sizeof *t->labels);
    if (!t->images || !t->labels) return vit_fail_memory(error, path, count * bytes);
    t->count = count;
    turn(t->images, planes, s->side, count);
    return VIT_OK;
}

static vit_status put_label(taken *t, const planes_set *s, size_t i, bool is_integer, int64_t label,
                            const char *path, vit_error *error) {
    if (is_integer && label >= 1 && label <= CLASSES) {
        t->labels[i] = (label - 1 + s->first) % CLASSES;
        return VIT_OK;
    }
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: label %zu is %s%lld, expected 1 to %d", path, i,
                    is_integer ? "" : "no integer or ", (long long)label, CLASSES);
}

static vit_status take_plain(taken *t, const planes_set *s, part p, const vit_listing *directory,
                             vit_error *error) {
    const size_t bytes = 3 * s->side * s->side;
    vit_bytes planes = {0}, labels = {0};
    char *path = NULL, *label_path = NULL;
    vit_status status =
        vit_listing_read(&planes, &path, directory, s->pictures[p], MAX_FILE, error);
    if (status == VIT_OK)
        status = vit_listing_read(&labels, &label_path, directory, s->labels[p], MAX_FILE, error);
    if (status == VIT_OK && (planes.size == 0 || planes.size % bytes != 0))
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: %zu bytes found, not a whole number of pictures of %zu bytes: the "
                          "file is cut off, or not one of %s",
                          path, planes.size, bytes, s->name);
    if (status == VIT_OK && labels.size != planes.size / bytes)
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "%s: holds %zu labels, but the pictures beside it are %zu", label_path,
                          labels.size, planes.size / bytes);
    if (status == VIT_OK) status = take(t, s, planes.data, labels.size, path, error);
    for (size_t i = 0; i < labels.size && status == VIT_OK; i++)
        status = put_label(t, s, i, true, labels.data[i], label_path, error);
    vit_free(planes.data);
    vit_free(labels.data);
    vit_free(path);
    vit_free(label_path);
    return status;
}

static vit_status take_arrays(taken *t, const planes_set *s, const vit_bytes *file,
                              const char *path, vit_error *error) {
    vit_matlab_array x = {0}, y = {0};
    vit_status status = vit_matlab_find(&y, "y", file->data, file->size, path, error);
    if (status == VIT_OK) status = vit_matlab_find(&x, "X", file->data, file->size, path, error);
    if (status == VIT_OK && (x.dims != 4 || x.width != 1 || x.shape[0] != s->side ||
                             x.shape[1] != s->side || x.shape[2] != 3))
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: its array X is not [%zu, %zu, 3, pictures] of bytes", path, s->side,
                          s->side);
    if (status == VIT_OK && y.count != x.shape[3])
        status = vit_fail(error, VIT_ERROR_MISMATCH, "%s: holds %zu labels, but %zu pictures", path,
                          y.count, x.shape[3]);
    if (status == VIT_OK) status = take(t, s, x.data, y.count, path, error);
    for (size_t i = 0; i < y.count && status == VIT_OK; i++) {
        int64_t label = 0;
        const bool is_integer = vit_matlab_integer(&label, &y, i);
        status = put_label(t, s, i, is_integer, label, path, error);
    }
    vit_free(x.memory);
    vit_free(y.memory);
    return status;
}

/* Reads a part. One that is missing is an error only if it is needed. */
static vit_status read_part(taken *t, const planes_set *s, part p, bool needed,
                            const vit_listing *directory, vit_error *error) {
    vit_bytes file;
    char *path;
    if (!needed && !vit_listing_find(directory, s->pictures[p])) return VIT_OK;
    if (s->labels[p]) return take_plain(t, s, p, directory, error);
    vit_status status = vit_listing_read(&file, &path, directory, s->pictures[p], MAX_FILE, error);
    if (status == VIT_OK) status = take_arrays(t, s, &file, path, error);
    vit_free(file.data);
    vit_free(path);
    return status;
}

/* ---- the set ---- */

/* The names in class_names.txt, which STL-10 has; none if there is no such file. */
static vit_status read_names(vit_label_list *names, const planes_set *s,
                             const vit_listing *directory, vit_error *error) {
    static const char file[] = "class_names.txt";
    *names = (vit_label_list){0};
    if (!s->labels[TRAIN] || !vit_listing_has(directory, file)) return VIT_OK;
    char *path = vit_path_join(directory->path, file);
    if (!path) return vit_fail_memory(error, "a path", strlen(directory->path) + sizeof file);
    vit_status status = vit_label_list_read_regular(names, path, error);
    if (status == VIT_OK && names->count != CLASSES)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: holds %zu names, expected %d, one a line",
                          path, names->count, CLASSES);
    vit_free(path);
    return status;
}

static vit_status read_planes(vit_dataset *out, const vit_listing *directory,
                              const vit_dataset_options *options, vit_error *error) {
    const planes_set *s = recognise(directory);
    const vit_dataset_options o = vit_options_without_val(options);
    const unsigned bits[] = {VIT_PART_TRAIN, VIT_PART_TEST}, parts = o.need | o.want;
    taken all[PARTS] = {0};
    vit_label_list names;
    vit_status status = read_names(&names, s, directory, error);
    VIT_CHECK_ROWS(bits, PARTS);
    for (part p = 0; p < PARTS && status == VIT_OK; p++)
        if (parts & bits[p])
            status = read_part(&all[p], s, p, (o.need & bits[p]) != 0, directory, error);
    const vit_arrays a = {.height = s->side,
                          .width = s->side,
                          .channels = 3,
                          .classes = CLASSES,
                          .names = names.labels ? (const char *const *)names.labels : s->names,
                          .train = {all[TRAIN].images, all[TRAIN].labels, all[TRAIN].count},
                          .test = {all[TEST].images, all[TEST].labels, all[TEST].count}};
    if (status == VIT_OK) status = vit_arrays_open(out, directory->path, &a, &o, error);
    if (status == VIT_OK) snprintf(out->name, sizeof out->name, "%s", s->name);
    for (part p = 0; p < PARTS; p++) {
        vit_free(all[p].images);
        vit_free(all[p].labels);
    }
    vit_free(names.labels);
    return status;
}

static const char *const wrappers[] = {"stl10_binary", NULL};

const vit_reader vit_reader_planes = {
    .wrappers = wrappers,
    .expects = "STL-10 (train_X.bin, train_y.bin, ...) or SVHN (train_32x32.mat, test_32x32.mat)",
    .probe = probe,
    .read = read_planes,
};
