/* safetensors: u64 header length, JSON header, data. The facts and every rule that is enforced
 * stand in docs/formats.md. The header is tokenised by hand (it may be 100 MB), nothing is copied
 * but the names, and the tensors' data are pointers into the file. All rules are checked on
 * opening; later calls cannot meet an invalid offset. */
#include "vit/tensors/container.h"
#include "vit/tensors/safetensors_header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The first eight bytes, little-endian. */
static uint64_t header_length(const uint8_t *bytes) {
    uint64_t length = 0;
    for (size_t i = 8; i-- > 0;) length = length << 8 | bytes[i];
    return length;
}

static bool safetensors_probe(const uint8_t *bytes, size_t size) {
    return size > 8 && header_length(bytes) <= size - 8 && strchr("{ \t\r\n", bytes[8]);
}

/* ---- rules on all entries together ---- */

/* Sorts the metadata, and refuses what stands in the header twice. order: of all tensors. */
static vit_status check_names(vit_header *h, const vit_tensor **order, vit_error *error) {
    char shown[VIT_NAME_TEXT];
    qsort(order, h->count, sizeof *order, vit_compare_names);
    for (size_t i = 1; i < h->count; i++)
        if (strcmp(order[i - 1]->name, order[i]->name) == 0)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "tensor '%s' stands in the header twice, expected once",
                            vit_name_text(shown, order[i]->name));
    if (h->metadata_count == 0) return VIT_OK; /* no array to sort */
    qsort(h->metadata, h->metadata_count, sizeof *h->metadata, vit_compare_keys);
    for (size_t i = 1; i < h->metadata_count; i++)
        if (strcmp(h->metadata[i - 1].key, h->metadata[i].key) == 0)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "the key '%s' stands in __metadata__ twice, expected once",
                            vit_name_text(shown, h->metadata[i].key));
    return VIT_OK;
}

/* An empty tensor comes before the one that begins where it lies; names break ties. */
static int compare_places(const void *a, const void *b) {
    const vit_tensor *left = *(const vit_tensor *const *)a, *right = *(const vit_tensor *const *)b;
    if (left->data != right->data)
        return (const uint8_t *)left->data < (const uint8_t *)right->data ? -1 : 1;
    bool left_empty = left->count == 0, right_empty = right->count == 0;
    if (left_empty != right_empty) return left_empty ? -1 : 1;
    return strcmp(left->name, right->name);
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
    const uint64_t length = header_length(bytes);
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

static vit_status read_header(vit_header *h, const uint8_t *bytes, size_t size, vit_error *error) {
    size_t header_size = 0;
    vit_status status = read_header_size(&header_size, bytes, size, error);
    if (status != VIT_OK) return status;
    const uint8_t *data = bytes + 8 + header_size;
    const size_t data_size = size - 8 - header_size;
    status = vit_header_parse(h, bytes + 8, header_size, data, data_size, error);
    if (status != VIT_OK) return status;
    const vit_tensor **order = vit_alloc(h->count, sizeof *order);
    if (!order) return vit_fail_memory(error, "the order of the tensors", h->count * sizeof *order);
    for (size_t i = 0; i < h->count; i++) order[i] = &h->tensors[i];
    status = check_names(h, order, error);
    if (status == VIT_OK) status = check_places(order, h->count, data, data_size, error);
    vit_free(order);
    return status;
}

static void safetensors_close(void *state) {
    vit_header_free(state);
    vit_free(state);
}

static vit_status safetensors_open(void **state, const uint8_t *bytes, size_t size,
                                   const char *name, vit_error *error) {
    vit_header *h = vit_alloc(1, sizeof *h);
    if (!h) return vit_fail_memory(error, name, sizeof *h);
    const vit_status status = read_header(h, bytes, size, error);
    if (status != VIT_OK) {
        safetensors_close(h);
        return vit_fail_prefix(error, status, name);
    }
    *state = h;
    return VIT_OK;
}

/* ---- looking ---- */

static size_t safetensors_count(const void *state) {
    return ((const vit_header *)state)->count;
}

static const vit_tensor *safetensors_at(const void *state, size_t index) {
    return &((const vit_header *)state)->tensors[index];
}

static const char *safetensors_metadata(const void *state, const char *key) {
    const vit_header *h = state;
    const vit_metadata wanted = {.key = key};
    if (h->metadata_count == 0) return NULL; /* no array to search */
    const vit_metadata *found =
        bsearch(&wanted, h->metadata, h->metadata_count, sizeof wanted, vit_compare_keys);
    return found ? found->value : NULL;
}

const vit_container vit_container_safetensors = {.kind = "safetensors",
                                                 .probe = safetensors_probe,
                                                 .open = safetensors_open,
                                                 .close = safetensors_close,
                                                 .count = safetensors_count,
                                                 .at = safetensors_at,
                                                 .metadata = safetensors_metadata};
