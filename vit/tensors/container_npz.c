/* .npz: a zip archive of .npy arrays, each of which is a tensor. */
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/npy.h"
#include "vit/tensors/container.h"
#include "vit/tensors/zip.h"

#include <stdio.h>
#include <string.h>

typedef struct array {
    size_t header; /* bytes before the elements */
    bool fortran;
} array;

typedef struct npz {
    vit_zip zip; /* member i is tensor i */
    vit_tensor *tensors;
    array *arrays;
    char *names;
} npz;

static const char ending[] = ".npy";

/* The length of a member's name without ".npy"; 0 if it ends differently. */
static size_t stem_length(const char *name) {
    return vit_has_ending(name, ending) ? vit_stem_length(name, ending) : 0;
}

static bool npz_probe(const uint8_t *bytes, size_t size) {
    return vit_zip_probe(bytes, size);
}

/* ---- opening ---- */

static vit_status read_header(array *a, vit_tensor *tensor, const vit_zip_member *m,
                              vit_error *error) {
    uint8_t prefix[VIT_NPY_PREFIX];
    vit_npy npy = {0};
    if (m->size < sizeof prefix)
        return vit_fail(error, VIT_ERROR_FORMAT, "%zu bytes, too few for an array", m->size);
    vit_status status = vit_zip_peek(m, prefix, sizeof prefix, error);
    if (status == VIT_OK) status = vit_npy_header_size(&a->header, prefix, error);
    if (status != VIT_OK) return status;
    if (a->header > m->size)
        return vit_fail(error, VIT_ERROR_FORMAT, "it ends within its .npy header");
    uint8_t *header = vit_alloc(a->header, 1);
    if (!header) return vit_fail_memory(error, "an .npy header", a->header);
    status = vit_zip_peek(m, header, a->header, error);
    if (status == VIT_OK) status = vit_npy_parse(&npy, header, a->header, VIT_NPY_WEIGHTS, error);
    if (status == VIT_OK) status = vit_npy_tensor(tensor, &npy, error);
    a->fortran = npy.fortran;
    vit_free(header);
    return status;
}

static vit_status read_array(npz *file, size_t index, char *name, vit_error *error) {
    const vit_zip_member *m = &file->zip.members[index];
    vit_tensor *tensor = &file->tensors[index];
    char shown[VIT_NAME_TEXT], prefix[VIT_NAME_TEXT + 16];
    vit_status status;
    if (stem_length(m->name) > 0)
        status = read_header(&file->arrays[index], tensor, m, error);
    else
        status = vit_fail(error, VIT_ERROR_UNSUPPORTED, "not an .npy array");
    if (status == VIT_OK) {
        const size_t bytes = tensor->count * vit_dtype_size(tensor->dtype);
        const size_t found = m->size - file->arrays[index].header;
        tensor->name = memcpy(name, m->name, stem_length(m->name));
        if (bytes == found) return VIT_OK;
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%zu bytes of elements, expected %zu for its shape", found, bytes);
    }
    snprintf(prefix, sizeof prefix, "member '%s'", vit_name_text(shown, m->name));
    return vit_fail_prefix(error, status, prefix);
}

static vit_status read_arrays(npz *file, vit_error *error) {
    size_t bytes = 0;
    for (size_t i = 0; i < file->zip.count; i++) bytes += strlen(file->zip.members[i].name) + 1;
    file->tensors = vit_alloc(file->zip.count, sizeof *file->tensors);
    file->arrays = vit_alloc(file->zip.count, sizeof *file->arrays);
    file->names = vit_alloc(bytes, 1);
    if (!file->tensors || !file->arrays || !file->names)
        return vit_fail_memory(error, "the list of tensors", file->zip.count * sizeof(vit_tensor));
    char *name = file->names;
    for (size_t i = 0; i < file->zip.count; i++) {
        const vit_status status = read_array(file, i, name, error);
        if (status != VIT_OK) return status;
        name += strlen(name) + 1;
    }
    return VIT_OK;
}

static void npz_close(void *state) {
    npz *file = state;
    vit_zip_close(&file->zip);
    vit_free(file->tensors);
    vit_free(file->arrays);
    vit_free(file->names);
    vit_free(file);
}

static vit_status npz_open(void **state, const uint8_t *bytes, size_t size, const char *name,
                           vit_error *error) {
    npz *file = vit_alloc(1, sizeof *file);
    *state = file;
    if (!file) return vit_fail_memory(error, name, sizeof *file);
    vit_status status = vit_zip_open(&file->zip, bytes, size, name, error);
    if (status != VIT_OK) return status;
    status = read_arrays(file, error);
    return status == VIT_OK ? VIT_OK : vit_fail_prefix(error, status, name);
}

/* ---- access ---- */

static const vit_tensor *npz_list(const void *state, size_t *count) {
    const npz *file = state;
    *count = file->zip.count;
    return file->tensors;
}

static vit_status npz_fetch(const void *state, size_t index, void *elements, vit_error *error) {
    const npz *file = state;
    const vit_zip_member *m = &file->zip.members[index];
    const vit_tensor *t = &file->tensors[index];
    const array *a = &file->arrays[index];
    if (!a->fortran) return vit_zip_read(m, a->header, elements, error);
    void *stored = vit_alloc(m->size - a->header, 1);
    if (!stored) return vit_fail_memory(error, m->name, m->size);
    const vit_status status = vit_zip_read(m, a->header, stored, error);
    if (status == VIT_OK) {
        size_t strides[VIT_MAX_DIMS], stride = 1; /* Fortran order: the first stride is 1 */
        for (size_t i = 0; i < t->dims; i++) {
            strides[i] = stride;
            stride *= t->shape[i];
        }
        vit_strided_copy(elements, stored, vit_dtype_size(t->dtype), t->dims, t->shape, strides);
    }
    vit_free(stored);
    return status;
}

const vit_container vit_container_npz = {.kind = "npz",
                                         .probe = npz_probe,
                                         .open = npz_open,
                                         .close = npz_close,
                                         .list = npz_list,
                                         .fetch = npz_fetch};
