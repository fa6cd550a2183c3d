/* Reading safetensors: u64 header length, JSON header, data. docs/formats.md describes the format
 * and every rule that is enforced. The header, which may be 100 MB, is tokenised by hand; only
 * names are copied, the data of tensors are pointers into the file. All rules are checked on
 * opening, so that later calls cannot meet an invalid offset. */
#include "vit/base/size.h"
#include "vit/formats/json_scan.h"
#include "vit/tensors/container.h"
#include "vit/tensors/safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct header {
    char *strings; /* the memory of all names, keys and values */
    vit_tensor *tensors;
    size_t count, capacity;
    vit_metadata *metadata;
    size_t metadata_count, metadata_capacity;
    bool has_metadata;
} header;

/* ---- reading the header ---- */

typedef enum header_field { FIELD_DTYPE, FIELD_SHAPE, FIELD_OFFSETS, FIELDS } header_field;
static const char *const field_names[] = {"dtype", "shape", "data_offsets"};
VIT_CHECK_ROWS(field_names, FIELDS);

typedef struct parser {
    vit_scan scan;
    header *header;
    const uint8_t *data;
    size_t data_size;
    /* The entry being read. */
    vit_tensor tensor;
    size_t offsets[2];
    bool seen[FIELDS];
} parser;

/* Reads the value of a member with this key. */
typedef vit_status member_reader(parser *p, const char *key);

/* Reads an object, member by member. The format nests objects three deep, each level with a reader
 * of its own, so that no file can make this recurse deeper. */
static vit_status parse_object(parser *p, member_reader *read_member, const char *expected) {
    vit_status status = vit_scan_expect(&p->scan, '{', expected);
    if (status != VIT_OK || vit_scan_take(&p->scan, '}')) return status;
    do {
        const char *key;
        status = vit_scan_string(&p->scan, &key, "a name in double quotes");
        if (status == VIT_OK) status = vit_scan_expect(&p->scan, ':', "':' after a name");
        if (status == VIT_OK) status = read_member(p, key);
        if (status != VIT_OK) return status;
    } while (vit_scan_take(&p->scan, ','));
    return vit_scan_expect(&p->scan, '}', "',' or '}'");
}

/* Reads an array of integers: the first `limit` of them into values, their number into *count. */
static vit_status parse_sizes(parser *p, size_t *values, size_t limit, size_t *count,
                              const char *expected) {
    *count = 0;
    vit_status status = vit_scan_expect(&p->scan, '[', expected);
    if (status != VIT_OK || vit_scan_take(&p->scan, ']')) return status;
    do {
        size_t value;
        status = vit_scan_size(&p->scan, &value, "a non-negative integer");
        if (status != VIT_OK) return status;
        if (*count < limit) values[*count] = value;
        ++*count;
    } while (vit_scan_take(&p->scan, ','));
    return vit_scan_expect(&p->scan, ']', "',' or ']'");
}

/* ---- an entry ---- */

static vit_status parse_dtype(parser *p) {
    const char *name;
    vit_status status = vit_scan_string(&p->scan, &name, "the dtype in double quotes");
    if (status != VIT_OK) return status;
    for (vit_dtype dtype = 0; dtype < VIT_DTYPE_COUNT; dtype++) {
        p->tensor.dtype = dtype;
        if (strcmp(name, vit_dtype_name(dtype)) == 0) return VIT_OK;
    }
    char shown[VIT_NAME_TEXT];
    return vit_fail(p->scan.error, VIT_ERROR_UNSUPPORTED,
                    "the dtype is '%s', expected F64, F32, F16, BF16, I64, I32, I16, I8, U8 or "
                    "BOOL",
                    vit_name_text(shown, name));
}

static vit_status parse_field(parser *p, const char *key) {
    vit_tensor *t = &p->tensor;
    vit_status status = VIT_OK;
    char shown[VIT_NAME_TEXT];
    size_t field = 0, count;
    while (field < FIELDS && strcmp(key, field_names[field]) != 0) field++;
    if (field == FIELDS)
        return vit_fail(p->scan.error, VIT_ERROR_FORMAT,
                        "unknown field '%s', expected dtype, shape and data_offsets",
                        vit_name_text(shown, key));
    if (p->seen[field])
        return vit_fail(p->scan.error, VIT_ERROR_FORMAT,
                        "the field '%s' stands there twice, expected once", key);
    p->seen[field] = true;
    switch ((header_field)field) {
    case FIELD_DTYPE:
        return parse_dtype(p);
    case FIELD_SHAPE:
        status =
            parse_sizes(p, t->shape, VIT_MAX_DIMS, &t->dims, "the shape, an array of integers");
        if (status == VIT_OK && t->dims > VIT_MAX_DIMS)
            return vit_fail(p->scan.error, VIT_ERROR_UNSUPPORTED,
                            "the shape has %zu dimensions, expected at most %d", t->dims,
                            VIT_MAX_DIMS);
        return status;
    case FIELD_OFFSETS:
        status =
            parse_sizes(p, p->offsets, 2, &count, "the data_offsets, an array of two integers");
        if (status == VIT_OK && count != 2)
            return vit_fail(p->scan.error, VIT_ERROR_FORMAT,
                            "data_offsets holds %zu integers, expected two", count);
        break;
    case FIELDS:
        break;
    }
    return status;
}

/* The size by type and shape must be that by the offsets, which must be inside the data. Sets count
 * and data. */
static vit_status check_entry(parser *p) {
    vit_tensor *t = &p->tensor;
    vit_error *error = p->scan.error;
    size_t begin = p->offsets[0], end = p->offsets[1], bytes;
    for (size_t field = 0; field < FIELDS; field++)
        if (!p->seen[field])
            return vit_fail(error, VIT_ERROR_FORMAT, "the field '%s' is missing",
                            field_names[field]);
    char shape[128];
    vit_shape_text(shape, t->shape, t->dims);
    bool fits = true;
    t->count = 1;
    for (size_t i = 0; i < t->dims && fits; i++)
        fits = vit_multiply(t->count, t->shape[i], &t->count);
    if (!fits || !vit_multiply(t->count, vit_dtype_size(t->dtype), &bytes))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "the shape %s of %s needs more bytes than 64 bits can count", shape,
                        vit_dtype_name(t->dtype));
    if (end < begin)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "data_offsets is [%zu, %zu], expected the end not before the begin", begin,
                        end);
    if (end - begin != bytes)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "data_offsets [%zu, %zu] span %zu bytes, expected %zu for the shape %s of "
                        "%s",
                        begin, end, end - begin, bytes, shape, vit_dtype_name(t->dtype));
    if (end > p->data_size)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "data_offsets is [%zu, %zu], but the file has only %zu bytes of data after "
                        "the header: it is cut off or damaged",
                        begin, end, p->data_size);
    t->data = p->data + begin;
    return VIT_OK;
}

#define ENTRIES "the list of a header's entries"

/* Puts "KIND 'NAME': " in front of the message. */
static vit_status fail_in(parser *p, vit_status status, const char *kind, const char *name) {
    char shown[VIT_NAME_TEXT], prefix[VIT_NAME_TEXT + 32];
    snprintf(prefix, sizeof prefix, "%s '%s'", kind, vit_name_text(shown, name));
    return vit_fail_prefix(p->scan.error, status, prefix);
}

static vit_status parse_tensor(parser *p, const char *name) {
    header *h = p->header;
    p->tensor = (vit_tensor){.name = name};
    memset(p->seen, 0, sizeof p->seen);
    vit_status status = parse_object(p, parse_field, "'{' and dtype, shape and data_offsets");
    if (status == VIT_OK) status = check_entry(p);
    if (status != VIT_OK) return fail_in(p, status, "tensor", name);
    if (!VIT_MAKE_ROOM(h->tensors, h->count, h->capacity, ENTRIES, p->scan.error))
        return VIT_ERROR_MEMORY;
    h->tensors[h->count++] = p->tensor;
    return VIT_OK;
}

static vit_status parse_metadata_pair(parser *p, const char *key) {
    header *h = p->header;
    vit_metadata pair = {.key = key};
    vit_status status = vit_scan_string(&p->scan, &pair.value, "a string");
    if (status != VIT_OK) return fail_in(p, status, "__metadata__", key);
    if (!VIT_MAKE_ROOM(h->metadata, h->metadata_count, h->metadata_capacity, ENTRIES,
                       p->scan.error))
        return VIT_ERROR_MEMORY;
    h->metadata[h->metadata_count++] = pair;
    return VIT_OK;
}

static vit_status parse_member(parser *p, const char *key) {
    if (strcmp(key, "__metadata__") != 0) return parse_tensor(p, key);
    if (p->header->has_metadata)
        return vit_fail(p->scan.error, VIT_ERROR_FORMAT,
                        "__metadata__ stands in the header twice, expected once");
    p->header->has_metadata = true;
    return parse_object(p, parse_metadata_pair, "'{' and the pairs of __metadata__");
}

static void safetensors_close(void *state) {
    header *h = state;
    vit_free(h->strings);
    vit_free(h->tensors);
    vit_free(h->metadata);
    vit_free(h);
}

/* Reads `text`, `size` bytes; the data of the tensors must be in data[0..data_size). */
static vit_status parse_header(header *h, const uint8_t *text, size_t size, const uint8_t *data,
                               size_t data_size, vit_error *error) {
    /* Enough for all strings with a 0 each: the quotes of a string take two bytes more. */
    h->strings = vit_alloc(size, 1);
    if (!h->strings) return vit_fail_memory(error, "the names of a header", size);
    parser p = {.scan = {"header", text, text, text + size, h->strings, error},
                .header = h,
                .data = data,
                .data_size = data_size};
    vit_status status = parse_object(&p, parse_member, "'{', with which a header begins");
    if (status == VIT_OK && !vit_scan_end(&p.scan))
        status = vit_scan_fail(&p.scan, "only spaces after the closing '}'");
    return status;
}

/* ---- rules for all entries together ---- */

int vit_compare_names(const void *a, const void *b) {
    const vit_tensor *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

int vit_compare_keys(const void *a, const void *b) {
    const vit_metadata *left = a, *right = b;
    return strcmp(left->key, right->key);
}

/* Sorts the metadata and `order`, the pointers to all tensors, by name; no name may be there twice.
 */
static vit_status check_names(header *h, const vit_tensor **order, vit_error *error) {
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

/* By place; an empty tensor comes before the one at the same place; then by name. */
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

/* The tensors, one after the other, must fill data[0..size) exactly. Sorts `order` by place. */
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
                    "the header, expected none to be left over",
                    end, size);
}

/* ---- opening ---- */

/* The length of the header: the first eight bytes, little-endian. */
static uint64_t header_length(const uint8_t *bytes) {
    uint64_t length = 0;
    for (size_t i = 8; i-- > 0;) length = length << 8 | bytes[i];
    return length;
}

static bool safetensors_probe(const uint8_t *bytes, size_t size) {
    return size > 8 && header_length(bytes) <= size - 8 && strchr("{ \t\r\n", bytes[8]);
}

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

static vit_status read_header(header *h, const uint8_t *bytes, size_t size, vit_error *error) {
    size_t header_size = 0;
    vit_status status = read_header_size(&header_size, bytes, size, error);
    if (status != VIT_OK) return status;
    const uint8_t *data = bytes + 8 + header_size;
    const size_t data_size = size - 8 - header_size;
    status = parse_header(h, bytes + 8, header_size, data, data_size, error);
    if (status != VIT_OK) return status;
    const vit_tensor **order = vit_alloc(h->count, sizeof *order);
    if (!order) return vit_fail_memory(error, "the order of the tensors", h->count * sizeof *order);
    for (size_t i = 0; i < h->count; i++) order[i] = &h->tensors[i];
    status = check_names(h, order, error);
    if (status == VIT_OK) status = check_places(order, h->count, data, data_size, error);
    vit_free(order);
    return status;
}

static vit_status safetensors_open(void **state, const uint8_t *bytes, size_t size,
                                   const char *name, vit_error *error) {
    header *h = vit_alloc(1, sizeof *h);
    *state = h;
    if (!h) return vit_fail_memory(error, name, sizeof *h);
    const vit_status status = read_header(h, bytes, size, error);
    return status == VIT_OK ? VIT_OK : vit_fail_prefix(error, status, name);
}

/* ---- access ---- */

static const vit_tensor *safetensors_list(const void *state, size_t *count) {
    const header *file = state;
    *count = file->count;
    return file->tensors;
}

static const char *safetensors_metadata(const void *state, const char *key) {
    const header *h = state;
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
                                                 .list = safetensors_list,
                                                 .metadata = safetensors_metadata};
