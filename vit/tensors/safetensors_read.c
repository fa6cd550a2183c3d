#include "vit/tensors/safetensors_header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct vit_safetensors {
    char *name;
    vit_bytes map; /* data NULL: the bytes are in memory */
    bool lent;     /* the map is the caller's */
    vit_header header;
    const vit_tensor **by_name;
};

/* ---- order ---- */

/* An empty tensor comes before the one that begins where it lies; names break ties. */
static int compare_places(const void *a, const void *b) {
    const vit_tensor *left = *(const vit_tensor *const *)a, *right = *(const vit_tensor *const *)b;
    if (left->data != right->data)
        return (const uint8_t *)left->data < (const uint8_t *)right->data ? -1 : 1;
    bool left_empty = left->count == 0, right_empty = right->count == 0;
    if (left_empty != right_empty) return left_empty ? -1 : 1;
    return strcmp(left->name, right->name);
}

/* ---- rules on all entries together ---- */

/* Sorts by_name and the metadata, and refuses what stands there twice. */
static vit_status check_names(vit_safetensors *file, vit_error *error) {
    const vit_header *h = &file->header;
    char shown[VIT_NAME_TEXT];
    qsort(file->by_name, h->count, sizeof *file->by_name, vit_compare_names);
    for (size_t i = 1; i < h->count; i++)
        if (strcmp(file->by_name[i - 1]->name, file->by_name[i]->name) == 0)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "tensor '%s' stands in the header twice, expected once",
                            vit_name_text(shown, file->by_name[i]->name));
    if (h->metadata_count == 0) return VIT_OK; /* no array to sort */
    qsort(h->metadata, h->metadata_count, sizeof *h->metadata, vit_compare_keys);
    for (size_t i = 1; i < h->metadata_count; i++)
        if (strcmp(h->metadata[i - 1].key, h->metadata[i].key) == 0)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "the key '%s' stands in __metadata__ twice, expected once",
                            vit_name_text(shown, h->metadata[i].key));
    return VIT_OK;
}

static vit_status fail_place(const vit_tensor *before, const vit_tensor *tensor, size_t begin,
                             size_t expected, vit_error *error) {
    char name[VIT_NAME_TEXT], other[VIT_NAME_TEXT];
    vit_name_text(name, tensor->name);
    if (!before)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "tensor '%s' is the first and begins at data byte %zu, expected 0", name,
                        begin);
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "tensor '%s' begins at data byte %zu, expected %zu, where tensor '%s' ends: "
                    "%s",
                    name, begin, expected, vit_name_text(other, before->name),
                    begin < expected ? "they overlap" : "there is a hole between them");
}

/* The tensors, in the order of their places, must fill data[0..size) exactly. */
static vit_status check_places(const vit_tensor **order, size_t count, const uint8_t *data,
                               size_t size, vit_error *error) {
    qsort(order, count, sizeof *order, compare_places);
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        size_t begin = (size_t)((const uint8_t *)order[i]->data - data);
        if (begin != end)
            return fail_place(i > 0 ? order[i - 1] : NULL, order[i], begin, end, error);
        end += order[i]->count * vit_dtype_size(order[i]->dtype);
    }
    if (end == size) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "the tensors end at data byte %zu, but the file has %zu bytes of data after "
                    "the header, expected none left over",
                    end, size);
}

/* ---- opening ---- */

/* The length of the header, checked against the size of the file. */
static vit_status read_header_size(size_t *header_size, const uint8_t *bytes, size_t size,
                                   vit_error *error) {
    if (size < 8)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "the file has %zu bytes, expected at least the 8 of the header's length",
                        size);
    uint64_t length = 0;
    for (size_t i = 8; i-- > 0;) length = length << 8 | bytes[i];
    if (length > VIT_SAFETENSORS_MAX_HEADER)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "the header's length is %" PRIu64 " bytes, expected at most %u: is this a "
                        "safetensors file?",
                        length, VIT_SAFETENSORS_MAX_HEADER);
    if (length > size - 8)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "the header's length is %" PRIu64 " bytes, but only %zu follow: the file "
                        "is cut off or damaged",
                        length, size - 8);
    *header_size = (size_t)length;
    return VIT_OK;
}

static vit_status read_all(vit_safetensors *file, const uint8_t *bytes, size_t size,
                           vit_error *error) {
    size_t header_size = 0;
    vit_status status = read_header_size(&header_size, bytes, size, error);
    if (status != VIT_OK) return status;
    const uint8_t *data = bytes + 8 + header_size;
    size_t data_size = size - 8 - header_size;
    vit_header *h = &file->header;
    status = vit_header_parse(h, bytes + 8, header_size, data, data_size, error);
    if (status != VIT_OK) return status;
    file->by_name = vit_alloc(h->count, sizeof *file->by_name);
    const vit_tensor **by_place = vit_alloc(h->count, sizeof *by_place);
    if (file->by_name && by_place) {
        for (size_t i = 0; i < h->count; i++) file->by_name[i] = by_place[i] = &h->tensors[i];
        status = check_names(file, error);
        if (status == VIT_OK) status = check_places(by_place, h->count, data, data_size, error);
    } else {
        status = vit_fail_memory(error, "the order of the tensors", h->count * sizeof *by_place);
    }
    vit_free(by_place);
    return status;
}

/* Takes over `map` when it is one. */
static vit_status open_bytes(vit_safetensors **out, const uint8_t *bytes, size_t size,
                             vit_bytes map, const char *name, vit_error *error) {
    *out = NULL;
    vit_status status;
    vit_safetensors *file = vit_alloc(1, sizeof *file);
    if (file) file->name = vit_strdup(name);
    if (!file || !file->name) {
        status = vit_fail_memory(error, name, sizeof *file);
        vit_unmap_file(&map);
        vit_free(file);
        return status;
    }
    file->map = map;
    status = read_all(file, bytes, size, error);
    if (status != VIT_OK) {
        vit_safetensors_close(file);
        return vit_fail_prefix(error, status, name);
    }
    *out = file;
    return VIT_OK;
}

vit_status vit_safetensors_open(vit_safetensors **out, const char *path, vit_error *error) {
    vit_bytes map;
    *out = NULL;
    vit_status status = vit_map_file(&map, path, error);
    if (status != VIT_OK) return status;
    return open_bytes(out, map.data, map.size, map, path, error);
}

vit_status vit_safetensors_parse(vit_safetensors **out, const void *bytes, size_t size,
                                 const char *name, vit_error *error) {
    return open_bytes(out, bytes, size, (vit_bytes){0}, name, error);
}

void vit_safetensors_close(vit_safetensors *file) {
    if (!file) return;
    vit_header_free(&file->header);
    vit_free(file->by_name);
    if (!file->lent) vit_unmap_file(&file->map);
    vit_free(file->name);
    vit_free(file);
}

void vit_safetensors_lend(vit_safetensors *file, vit_bytes map) {
    file->map = map;
    file->lent = true;
}

/* ---- looking ---- */

const char *vit_safetensors_name(const vit_safetensors *file) {
    return file->name;
}

size_t vit_safetensors_count(const vit_safetensors *file) {
    return file->header.count;
}

const vit_tensor *vit_safetensors_at(const vit_safetensors *file, size_t index) {
    return file->by_name[index];
}

const vit_tensor *vit_safetensors_find(const vit_safetensors *file, const char *name) {
    const vit_tensor wanted = {.name = name}, *key = &wanted;
    const vit_tensor **found =
        bsearch(&key, file->by_name, file->header.count, sizeof *file->by_name, vit_compare_names);
    return found ? *found : NULL;
}

void vit_safetensors_release(const vit_safetensors *file, const vit_tensor *tensor) {
    vit_map_release(&file->map, tensor->data, tensor->count * vit_dtype_size(tensor->dtype));
}

const char *vit_safetensors_metadata(const vit_safetensors *file, const char *key) {
    const vit_metadata wanted = {.key = key};
    if (file->header.metadata_count == 0) return NULL; /* no array to search */
    const vit_metadata *found = bsearch(&wanted, file->header.metadata, file->header.metadata_count,
                                        sizeof wanted, vit_compare_keys);
    return found ? found->value : NULL;
}
