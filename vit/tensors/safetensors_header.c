#include "vit/tensors/safetensors_header.h"

#include "vit/base/size.h"
#include "vit/tensors/json_scan.h"

#include <stdio.h>
#include <string.h>

enum { FIELD_DTYPE, FIELD_SHAPE, FIELD_OFFSETS, FIELDS };
static const char *const field_names[] = {"dtype", "shape", "data_offsets"};
VIT_CHECK_ROWS(field_names, FIELDS);

typedef struct parser {
    vit_scan scan;
    vit_header *header;
    const uint8_t *data;
    size_t data_size;
    /* The entry being read. */
    vit_tensor tensor;
    size_t offsets[2];
    bool seen[FIELDS];
} parser;

/* Called with a member's key, before its value. */
typedef vit_status member_reader(parser *p, const char *key);

/* The format nests objects three deep and no deeper, each level with its own reader: what the
 * file holds cannot make this recurse. */
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

/* Reads the first `limit` integers of an array; *count is how many there are. */
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

static vit_status parse_shape(parser *p) {
    vit_tensor *t = &p->tensor;
    vit_status status =
        parse_sizes(p, t->shape, VIT_MAX_DIMS, &t->dims, "the shape, an array of integers");
    if (status == VIT_OK && t->dims > VIT_MAX_DIMS)
        return vit_fail(p->scan.error, VIT_ERROR_UNSUPPORTED,
                        "the shape has %zu dimensions, expected at most %d", t->dims, VIT_MAX_DIMS);
    return status;
}

static vit_status parse_offsets(parser *p) {
    size_t count;
    vit_status status =
        parse_sizes(p, p->offsets, 2, &count, "the data_offsets, an array of two integers");
    if (status == VIT_OK && count != 2)
        return vit_fail(p->scan.error, VIT_ERROR_FORMAT,
                        "data_offsets holds %zu integers, expected two", count);
    return status;
}

static vit_status parse_field(parser *p, const char *key) {
    char shown[VIT_NAME_TEXT];
    size_t field = 0;
    while (field < FIELDS && strcmp(key, field_names[field]) != 0) field++;
    if (field == FIELDS)
        return vit_fail(p->scan.error, VIT_ERROR_FORMAT,
                        "unknown field '%s', expected dtype, shape and data_offsets",
                        vit_name_text(shown, key));
    if (p->seen[field])
        return vit_fail(p->scan.error, VIT_ERROR_FORMAT,
                        "the field '%s' stands there twice, expected once", key);
    p->seen[field] = true;
    switch (field) {
    case FIELD_DTYPE:
        return parse_dtype(p);
    case FIELD_SHAPE:
        return parse_shape(p);
    default:
        return parse_offsets(p);
    }
}

/* Type, shape and offsets must tell the same size, inside the data. Sets count and data. */
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

/* ---- lists that grow ---- */

#define ENTRIES "the list of a header's entries"

/* Puts "KIND 'NAME': " in front of the message. */
static vit_status fail_in(parser *p, vit_status status, const char *kind, const char *name) {
    char shown[VIT_NAME_TEXT], prefix[VIT_NAME_TEXT + 32];
    snprintf(prefix, sizeof prefix, "%s '%s'", kind, vit_name_text(shown, name));
    return vit_fail_prefix(p->scan.error, status, prefix);
}

static vit_status parse_tensor(parser *p, const char *name) {
    vit_header *h = p->header;
    p->tensor = (vit_tensor){.name = name};
    memset(p->seen, 0, sizeof p->seen);
    vit_status status = parse_object(p, parse_field, "'{' and dtype, shape and data_offsets");
    if (status == VIT_OK) status = check_entry(p);
    if (status != VIT_OK) return fail_in(p, status, "tensor", name);
    vit_tensor *room = vit_make_room(h->tensors, h->count, &h->capacity, sizeof *h->tensors,
                                     ENTRIES, p->scan.error);
    if (!room) return VIT_ERROR_MEMORY;
    h->tensors = room;
    h->tensors[h->count++] = p->tensor;
    return VIT_OK;
}

/* ---- the whole ---- */

static vit_status parse_metadata_pair(parser *p, const char *key) {
    vit_header *h = p->header;
    vit_metadata pair = {.key = key};
    vit_status status = vit_scan_string(&p->scan, &pair.value, "a string");
    if (status != VIT_OK) return fail_in(p, status, "__metadata__", key);
    vit_metadata *room = vit_make_room(h->metadata, h->metadata_count, &h->metadata_capacity,
                                       sizeof *h->metadata, ENTRIES, p->scan.error);
    if (!room) return VIT_ERROR_MEMORY;
    h->metadata = room;
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

vit_status vit_header_parse(vit_header *header, const uint8_t *text, size_t size,
                            const uint8_t *data, size_t data_size, vit_error *error) {
    /* A string takes two bytes more in the header than unescaped, and one for its end here. */
    *header = (vit_header){.strings = vit_alloc(size, 1)};
    if (!header->strings) return vit_fail_memory(error, "the names of a header", size);
    parser p = {.scan = {text, text, text + size, header->strings, error},
                .header = header,
                .data = data,
                .data_size = data_size};
    vit_status status = parse_object(&p, parse_member, "'{', with which a header begins");
    if (status == VIT_OK && !vit_scan_end(&p.scan))
        status = vit_scan_fail(&p.scan, "only spaces after the closing '}'");
    if (status != VIT_OK) vit_header_free(header);
    return status;
}

void vit_header_free(vit_header *header) {
    vit_free(header->strings);
    vit_free(header->tensors);
    vit_free(header->metadata);
    *header = (vit_header){0};
}

int vit_compare_names(const void *a, const void *b) {
    const vit_tensor *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

int vit_compare_keys(const void *a, const void *b) {
    const vit_metadata *left = a, *right = b;
    return strcmp(left->key, right->key);
}
