/* NumPy arrays: images.npy and labels.npy, or those with train_, val_ and test_ before their names,
 * in a directory or in one .npz; also under Keras's names, x_train and y_train. Pictures are uint8,
 * [N][H][W] or [N][H][W][C]; labels are integers of any width. classes.txt or labels.txt may have
 * the names of classes.
 */
#include "datasets/records/numpy.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/label_list.h"
#include "vit/formats/npy.h"
#include "vit/tensors/tensor.h"
#include "vit/tensors/zip.h"

#include <stdio.h>
#include <string.h>

#define MAX_FILE ((size_t)64 << 30)

typedef enum part { TRAIN, VAL, TEST, PARTS } part;
typedef enum kind { IMAGES, LABELS, KINDS } kind;

#define SPELLINGS 3
static const char *const names[][KINDS][SPELLINGS] = {
    {{"images", "train_images", "x_train"}, {"labels", "train_labels", "y_train"}},
    {{"val_images", "x_val", "x_valid"}, {"val_labels", "y_val", "y_valid"}},
    {{"test_images", "x_test", NULL}, {"test_labels", "y_test", NULL}},
};
static const char *const wanted[] = {"uint8 (|u1)", "integers"};
VIT_CHECK_ROWS(names, PARTS);
VIT_CHECK_ROWS(wanted, KINDS);

/* Where the arrays are: in a directory, or in an archive. */
typedef struct source {
    const vit_listing *directory; /* NULL: in the archive */
    const char *path;             /* of the directory or of the file */
    vit_zip zip;
    vit_bytes file;
} source;

/* What was read of a part: images [count][height][width][channels], labels [count]. */
typedef struct arrays {
    size_t count, height, width, channels;
    uint8_t *images;
    int64_t *labels;
} arrays;

static bool has(const source *s, const char *name) {
    char file[64];
    snprintf(file, sizeof file, "%s.npy", name);
    return s->directory ? vit_listing_has(s->directory, file) : !!vit_zip_find(&s->zip, file);
}

/* ---- one array ---- */

/* *out = the bytes of an array; out->data is freed by vit_free. */
static vit_status load(vit_bytes *out, const source *s, const char *name, vit_error *error) {
    char file[64];
    snprintf(file, sizeof file, "%s.npy", name);
    if (s->directory) {
        char *path = vit_path_join(s->path, file);
        if (!path) return vit_fail_memory(error, "a path", strlen(s->path) + sizeof file);
        const vit_status status = vit_read_regular(out, path, MAX_FILE, error);
        vit_free(path);
        return status;
    }
    const vit_zip_member *m = vit_zip_find(&s->zip, file);
    out->size = m->size;
    out->data = m->size <= MAX_FILE ? vit_alloc_unset(1, m->size + 1) : NULL;
    if (!out->data) return vit_fail_memory(error, file, m->size);
    vit_status status = vit_zip_read(m, 0, out->data, error);
    if (status == VIT_OK) return status;
    vit_free(out->data);
    out->data = NULL;
    return vit_fail_prefix(error, status, s->path);
}

static vit_status check_images(const vit_npy *a, vit_error *error) {
    char shape[128];
    vit_shape_text(shape, a->shape, a->dims);
    if (a->kind != 'u' || a->width != 1)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "pictures of type '%s', expected uint8, levels from 0 to 255%s", a->type,
                        a->kind == 'f'   ? ": of floats from 0 to 1, "
                                           "(images * 255).round().astype('uint8') makes them"
                        : a->kind == 'b' ? ": images.astype('uint8') * 255 makes them"
                                         : ": images.astype('uint8') makes them");
    if (a->dims == 4 && a->shape[3] != 1 && a->shape[3] != 3 &&
        (a->shape[1] == 1 || a->shape[1] == 3))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "pictures of shape %s, expected the channels last: "
                        "images.transpose(0, 2, 3, 1) makes them",
                        shape);
    if ((a->dims != 3 && a->dims != 4) || a->count == 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "pictures of shape %s, expected [pictures, height, width] or [pictures, "
                        "height, width, channels]",
                        shape);
    return VIT_OK;
}

static vit_status check_labels(const vit_npy *a, vit_error *error) {
    char shape[128];
    vit_shape_text(shape, a->shape, a->dims);
    if (a->kind == 'f' || a->kind == 'V')
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "labels of type '%s', expected integers: labels.astype('int64') makes them",
                        a->type);
    if (a->dims == 2 && a->shape[1] > 1)
        return vit_fail(
            error, VIT_ERROR_FORMAT,
            "labels of shape %s, expected one number a picture: labels.argmax(1), where "
            "they are rows with a 1",
            shape);
    if (a->dims < 1 || a->dims > 2 || a->count == 0 || a->count != a->shape[0])
        return vit_fail(error, VIT_ERROR_FORMAT, "labels of shape %s, expected [pictures]", shape);
    return VIT_OK;
}

static vit_status take_images(arrays *out, const vit_npy *a, vit_bytes *bytes, vit_error *error) {
    *out = (arrays){.count = a->shape[0],
                    .height = a->shape[1],
                    .width = a->shape[2],
                    .channels = a->dims == 4 ? a->shape[3] : 1,
                    .labels = out->labels};
    if (!a->fortran) { /* takes the memory of the file, with the elements moved to the front */
        out->images = memmove(bytes->data, bytes->data + a->offset, a->count);
        bytes->data = NULL;
        return VIT_OK;
    }
    size_t strides[VIT_NPY_MAX_DIMS], stride = 1;
    for (size_t i = 0; i < a->dims; i++) {
        strides[i] = stride;
        stride *= a->shape[i];
    }
    out->images = vit_alloc_unset(1, a->count);
    if (!out->images) return vit_fail_memory(error, "pictures", a->count);
    vit_strided_copy(out->images, bytes->data + a->offset, 1, a->dims, a->shape, strides);
    return VIT_OK;
}

static vit_status take_labels(arrays *out, const vit_npy *a, const uint8_t *elements,
                              vit_error *error) {
    out->labels = vit_alloc(a->count, sizeof *out->labels);
    if (!out->labels) return vit_fail_memory(error, "labels", a->count * 8);
    for (size_t i = 0; i < a->count; i++)
        if (!vit_npy_integer(&out->labels[i], a, elements + i * a->width))
            return vit_fail(error, VIT_ERROR_FORMAT, "label %zu does not fit 64 bits with a sign",
                            i);
    if (a->count == out->count) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH, "%zu labels, but the pictures are %zu", a->count,
                    out->count);
}

static vit_status read_array(arrays *out, const source *s, kind k, const char *name,
                             vit_error *error) {
    vit_bytes bytes = {0};
    vit_npy a;
    vit_status status = load(&bytes, s, name, error);
    if (status != VIT_OK) return status;
    status = vit_npy_view(&a, bytes.data, bytes.size, wanted[k], error);
    if (status == VIT_OK) status = k == IMAGES ? check_images(&a, error) : check_labels(&a, error);
    if (status == VIT_OK)
        status = k == IMAGES ? take_images(out, &a, &bytes, error)
                             : take_labels(out, &a, bytes.data + a.offset, error);
    vit_free(bytes.data);
    if (status == VIT_OK) return status;
    vit_string where = {0};
    vit_string_add(&where, "%s%s%s.npy", s->path, s->directory ? "/" : ": ", name);
    vit_fail_prefix(error, status, where.failed ? name : where.text);
    vit_string_free(&where);
    return status;
}

/* ---- one part ---- */

/* *name = the spelling that is there, or NULL. */
static vit_status find(const char **name, const source *s, part p, kind k, vit_error *error) {
    *name = NULL;
    for (size_t i = 0; i < SPELLINGS && names[p][k][i]; i++) {
        if (!has(s, names[p][k][i])) continue;
        if (*name)
            return vit_fail(error, VIT_ERROR_MISMATCH, "%s: has both %s and %s, expected one",
                            s->path, *name, names[p][k][i]);
        *name = names[p][k][i];
    }
    return VIT_OK;
}

static vit_status read_part(arrays *out, const source *s, part p, vit_error *error) {
    const char *found[KINDS];
    vit_status status = VIT_OK;
    for (kind k = IMAGES; k < KINDS && status == VIT_OK; k++)
        status = find(&found[k], s, p, k, error);
    if (status != VIT_OK || (!found[IMAGES] && !found[LABELS])) return status;
    for (kind k = IMAGES; k < KINDS; k++)
        if (!found[k])
            return vit_fail(error, VIT_ERROR_IO, "%s: has no %s, which %s needs", s->path,
                            names[p][k][0], found[1 - k]);
    for (kind k = IMAGES; k < KINDS && status == VIT_OK; k++)
        status = read_array(out, s, k, found[k], error);
    return status;
}

static void free_arrays(arrays all[PARTS]) {
    for (part p = TRAIN; p < PARTS; p++) {
        vit_free(all[p].images);
        vit_free(all[p].labels);
    }
}

static vit_status same_size(const arrays all[PARTS], const char *path, vit_error *error) {
    const arrays *first = NULL;
    for (part p = TRAIN; p < PARTS; p++) {
        const arrays *a = &all[p];
        if (a->count == 0) continue;
        if (!first) first = a;
        if (a->height != first->height || a->width != first->width ||
            a->channels != first->channels)
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "%s: %s are %zu x %zu x %zu, the pictures before them %zu x %zu x %zu",
                            path, names[p][IMAGES][0], a->height, a->width, a->channels,
                            first->height, first->width, first->channels);
    }
    return VIT_OK;
}

/* ---- a test part from the training part ---- */

/* Moves every VIT_TEST_SHARE-th picture of each class to the test part, without changing the order.
 */
static vit_status share_out(arrays all[PARTS], const char *path, vit_error *error) {
    arrays *train = &all[TRAIN], *test = &all[TEST];
    const size_t bytes = train->height * train->width * train->channels;
    const size_t room = train->count / VIT_TEST_SHARE;
    uint8_t *seen = vit_alloc(1 << 16, 1);
    *test = *train;
    test->count = 0;
    test->images = vit_alloc_unset(room > 0 ? room : 1, bytes);
    test->labels = vit_alloc(room > 0 ? room : 1, sizeof *test->labels);
    if (!seen || !test->images || !test->labels) {
        vit_free(seen);
        return vit_fail_memory(error, path, room * bytes);
    }
    size_t kept = 0;
    for (size_t i = 0; i < train->count; i++) {
        const int64_t label = train->labels[i];
        arrays *to = train;
        if (label >= 0 && label < 1 << 16 && ++seen[label] == VIT_TEST_SHARE) {
            seen[label] = 0;
            to = test;
        }
        const size_t at = to == test ? test->count++ : kept++;
        memmove(to->images + at * bytes, train->images + i * bytes, bytes);
        to->labels[at] = label;
    }
    train->count = kept;
    vit_free(seen);
    return VIT_OK;
}

static vit_array_part part_of(const arrays *a) {
    return (vit_array_part){a->images, a->labels, a->count};
}

/* If only the test of a model is read: all arrays are the test if it was not trained on them, else
 * the pictures that its training held back. */
static vit_status choose_test(vit_arrays *a, arrays all[PARTS], const vit_dataset_options *o,
                              const char *path, const char **which, vit_error *error) {
    char checksum[65];
    const vit_array_part whole = part_of(&all[TRAIN]);
    if (!o->trained_on || (o->need | o->want) != VIT_PART_TEST) {
        const vit_status status = share_out(all, path, error);
        a->train = part_of(&all[TRAIN]);
        a->test = part_of(&all[TEST]);
        return status;
    }
    /* The pictures that a training on these arrays sees. */
    arrays copy[PARTS] = {all[TRAIN]};
    const size_t bytes = whole.count * a->height * a->width * a->channels;
    copy[TRAIN].images = vit_alloc_unset(1, bytes);
    copy[TRAIN].labels = vit_alloc(whole.count, sizeof *whole.labels);
    vit_status status =
        copy[TRAIN].images && copy[TRAIN].labels ? VIT_OK : vit_fail_memory(error, path, bytes);
    if (status == VIT_OK) {
        memcpy(copy[TRAIN].images, whole.images, bytes);
        memcpy(copy[TRAIN].labels, whole.labels, whole.count * sizeof *whole.labels);
        status = share_out(copy, path, error);
    }
    const vit_array_part seen = part_of(&copy[TRAIN]);
    if (status == VIT_OK) vit_arrays_checksum(checksum, a, &seen);
    if (status == VIT_OK && strstr(o->trained_on, checksum)) {
        free_arrays(all);
        memcpy(all, copy, sizeof copy);
        memset(copy, 0, sizeof copy);
        a->train = part_of(&all[TRAIN]);
        a->test = part_of(&all[TEST]);
        *which = "the sixth of each class that its training held back";
    } else if (status == VIT_OK) {
        a->test = whole;
        *which = "all of them, as the model was not trained on these arrays";
    }
    free_arrays(copy);
    return status;
}

/* ---- the set ---- */

static vit_status open_arrays(vit_dataset *out, arrays all[PARTS], const source *s,
                              const vit_dataset_options *o, vit_error *error) {
    const arrays *any = all[TRAIN].count > 0  ? &all[TRAIN]
                        : all[TEST].count > 0 ? &all[TEST]
                                              : &all[VAL];
    const bool is_shared_out = all[TEST].count == 0 && all[VAL].count == 0;
    vit_arrays a = {.height = any->height,
                    .width = any->width,
                    .channels = any->channels,
                    .train = part_of(&all[TRAIN]),
                    .val = part_of(&all[VAL]),
                    .test = part_of(&all[TEST])};
    const char *which = NULL;
    vit_label_list classes = {0};
    vit_status status = s->directory ? vit_class_names_read(&classes, s->directory, error) : VIT_OK;
    a.classes = classes.count;
    a.names = (const char *const *)classes.labels;
    if (status == VIT_OK && is_shared_out) status = choose_test(&a, all, o, s->path, &which, error);
    if (status == VIT_OK) status = vit_arrays_open(out, s->path, &a, o, error);
    if (status == VIT_OK && is_shared_out && !which && out->test.count > 0)
        status = vit_dataset_note(out, error,
                                  "%s has neither test nor val arrays: every sixth picture of each "
                                  "class, %zu pictures, is the test part",
                                  s->path, out->test.count);
    out->test_is = which;
    vit_free(classes.labels);
    return status;
}

static vit_status read_source(vit_dataset *out, const source *s, const vit_dataset_options *o,
                              vit_error *error) {
    arrays all[PARTS] = {{0}};
    vit_status status = VIT_OK;
    for (part p = TRAIN; p < PARTS && status == VIT_OK; p++)
        status = read_part(&all[p], s, p, error);
    if (status == VIT_OK) status = same_size(all, s->path, error);
    if (status == VIT_OK && all[TRAIN].count + all[VAL].count + all[TEST].count == 0)
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: holds no arrays that are known, expected images and labels, or "
                          "train_images, train_labels, test_images, ... (x_train, y_train, ...)",
                          s->path);
    if (status == VIT_OK) status = open_arrays(out, all, s, o, error);
    free_arrays(all);
    return status;
}

vit_status vit_numpy_parse(vit_dataset *out, const uint8_t *bytes, size_t size, const char *name,
                           const vit_dataset_options *o, vit_error *error) {
    source s = {.path = name};
    vit_status status = vit_zip_open(&s.zip, bytes, size, name, error);
    if (status != VIT_OK) return status;
    status = read_source(out, &s, o, error);
    vit_zip_close(&s.zip);
    return status;
}

/* Whether the path is a file of arrays, FILE.npz. */
static bool is_archive(const char *path) {
    return vit_has_ending(path, ".npz") && vit_path_look(path) == VIT_PATH_FILE;
}

static vit_status open_archive(vit_dataset *out, const char *path, const vit_dataset_options *o,
                               vit_error *error) {
    vit_bytes file;
    vit_status status = vit_map_file(&file, path, error);
    if (status != VIT_OK) return status;
    status = vit_numpy_parse(out, file.data, file.size, path, o, error);
    vit_unmap_file(&file);
    return status;
}

/* The .npz in a directory, if there is exactly one; else NULL. */
static const char *archive_of(const vit_listing *directory) {
    const char *found = NULL;
    for (size_t i = 0; i < directory->count; i++) {
        if (!vit_has_ending(directory->names[i], ".npz") || directory->names[i][0] == '.') continue;
        if (found) return NULL;
        found = directory->names[i];
    }
    return found;
}

static bool has_arrays(const vit_listing *directory) {
    const source s = {.directory = directory};
    for (part p = TRAIN; p < PARTS; p++)
        for (size_t i = 0; i < SPELLINGS && names[p][IMAGES][i]; i++)
            if (has(&s, names[p][IMAGES][i])) return true;
    return false;
}

static bool probe(const vit_listing *directory) {
    return has_arrays(directory) || archive_of(directory);
}

static vit_status read_directory(vit_dataset *out, const vit_listing *directory,
                                 const vit_dataset_options *o, vit_error *error) {
    const source s = {.directory = directory, .path = directory->path};
    if (has_arrays(directory)) return read_source(out, &s, o, error);
    char *path = vit_path_join(directory->path, archive_of(directory));
    if (!path) return vit_fail_memory(error, "a path", strlen(directory->path));
    const vit_status status = open_archive(out, path, o, error);
    vit_free(path);
    return status;
}

const vit_reader vit_reader_numpy = {
    .expects = "arrays of NumPy (images.npy and labels.npy, or the two in one .npz)",
    .probe = probe,
    .read = read_directory,
};

static const char *const none[] = {NULL};
const vit_named_set vit_numpy_sets = {none, is_archive, open_archive};
