#include "vit/formats/matlab.h"
#include "vit/base/sys.h"
#include "vit/formats/inflate.h"

#include <string.h>

#define HEADER 128
#define MAX_RATIO 1032 /* of zlib: limits what a short file can make us allocate */
#define PEEK 256       /* bytes that have the name of an array */

/* The types of data elements. */
enum { INT8 = 1, UINT8 = 2, INT32 = 5, UINT32 = 6, DOUBLE = 9, MATRIX = 14, COMPRESSED = 15 };

#define COMPLEX 0x800u /* a flag of an array */

typedef struct element {
    uint32_t type, size;
    const uint8_t *data;
} element;

static uint32_t little(const uint8_t *b, size_t size) {
    uint32_t number = 0;
    while (size-- > 0) number = number << 8 | b[size];
    return number;
}

static vit_status damaged(const char *name, const char *what, vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: the MATLAB file %s", name, what);
}

/* Reads the element at *at of `size` bytes, and moves *at behind it. Elements of up to 4 bytes are
 * in their tag; others end at a multiple of 8 bytes, except compressed ones. */
static bool next_element(element *out, const uint8_t *bytes, size_t size, size_t *at) {
    if (size - *at < 8) return false;
    const uint8_t *tag = bytes + *at;
    *out = (element){little(tag, 4), little(tag + 4, 4), tag + 8};
    *at += 8;
    if (out->type >> 16) {
        *out = (element){out->type & 0xffff, out->type >> 16, tag + 4};
        return out->size <= 4;
    }
    if (out->size > size - *at) return false;
    const size_t padding = out->type == COMPRESSED ? 0 : (8 - out->size % 8) % 8;
    *at += out->size;
    *at += padding < size - *at ? padding : size - *at;
    return true;
}

/* ---- an array ---- */

/* The flags, the shape and the name of an array, before its elements. */
typedef struct head {
    element flags, shape, name;
    size_t end;
} head;

static bool read_head(head *h, const uint8_t *bytes, size_t size) {
    h->end = 0;
    return next_element(&h->flags, bytes, size, &h->end) &&
           next_element(&h->shape, bytes, size, &h->end) &&
           next_element(&h->name, bytes, size, &h->end) && h->flags.type == UINT32 &&
           h->flags.size == 8 && h->shape.type == INT32 && h->shape.size % 4 == 0 &&
           h->name.type == INT8;
}

static bool is_called(const head *h, const char *variable) {
    return h->name.size == strlen(variable) && memcmp(h->name.data, variable, h->name.size) == 0;
}

static vit_status read_array(vit_matlab_array *out, const head *h, const uint8_t *bytes,
                             size_t size, const char *name, vit_error *error) {
    element values;
    size_t at = h->end;
    if (!next_element(&values, bytes, size, &at)) return damaged(name, "is cut off", error);
    if (little(h->flags.data, 4) & COMPLEX || (values.type != UINT8 && values.type != DOUBLE))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: an array has elements of type %u, expected unsigned bytes or real "
                        "doubles",
                        name, values.type);
    out->width = values.type == UINT8 ? 1 : 8;
    out->dims = h->shape.size / 4;
    out->count = 1;
    if (out->dims > VIT_MATLAB_MAX_DIMS)
        return damaged(name, "has an array of more than 8 dimensions", error);
    for (size_t i = 0; i < out->dims; i++) {
        const size_t side = out->shape[i] = little(h->shape.data + 4 * i, 4);
        if (side == 0 || out->count > values.size / side)
            return damaged(name, "has an array whose size is not that of its elements", error);
        out->count *= side;
    }
    if (out->count * out->width != values.size)
        return damaged(name, "has an array whose size is not that of its elements", error);
    out->data = values.data;
    return VIT_OK;
}

/* ---- compressed arrays ---- */

/* Inflates the first `room` bytes. Errors: FORMAT if the data are damaged or hold fewer, MEMORY. */
static vit_status inflate_some(uint8_t *out, size_t room, const element *packed, const char *name,
                               vit_error *error) {
    z_stream z = vit_inflate_stream();
    if (inflateInit(&z) != Z_OK) return vit_fail_memory(error, name, sizeof z);
    z.next_in = packed->data;
    z.avail_in = packed->size;
    z.next_out = out;
    z.avail_out = (uInt)room;
    const int result = inflate(&z, Z_SYNC_FLUSH);
    const bool is_full = (result == Z_OK || result == Z_STREAM_END) && z.avail_out == 0;
    inflateEnd(&z);
    if (result == Z_MEM_ERROR) return vit_fail_memory(error, name, sizeof z);
    return is_full ? VIT_OK : damaged(name, "has damaged compressed data", error);
}

/* Unpacks the array of this name; *is_it: whether it has it. */
static vit_status unpack(vit_matlab_array *out, bool *is_it, const element *packed,
                         const char *variable, const char *name, vit_error *error) {
    uint8_t start[8 + PEEK] = {0};
    head h;
    *is_it = false;
    vit_status status = inflate_some(start, 8, packed, name, error);
    if (status != VIT_OK || little(start, 4) != MATRIX) return status;
    const size_t size = little(start + 4, 4), peek = size < PEEK ? size : PEEK;
    if (size / MAX_RATIO > packed->size) return damaged(name, "has damaged compressed data", error);
    status = inflate_some(start, 8 + peek, packed, name, error);
    if (status != VIT_OK || !read_head(&h, start + 8, peek) || !is_called(&h, variable))
        return status;
    *is_it = true;
    out->memory = vit_alloc_unset(1, 8 + size);
    if (!out->memory) return vit_fail_memory(error, name, size);
    status = inflate_some(out->memory, 8 + size, packed, name, error);
    if (status != VIT_OK) return status;
    if (!read_head(&h, out->memory + 8, size)) return damaged(name, "has a damaged array", error);
    return read_array(out, &h, out->memory + 8, size, name, error);
}

/* ---- the file ---- */

static vit_status check_header(const uint8_t *bytes, size_t size, const char *name,
                               vit_error *error) {
    if (size >= 10 && memcmp(bytes, "MATLAB 7.3", 10) == 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: is a MATLAB file of version 7.3 (HDF5), expected versions 5 to 7: "
                        "save(..., '-v7') in MATLAB writes one",
                        name);
    if (size < HEADER || memcmp(bytes, "MATLAB 5", 8) != 0)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: is no MATLAB file of version 5 to 7", name);
    if (memcmp(bytes + 126, "IM", 2) == 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: is a MATLAB file of another byte order, expected little endian", name);
}

vit_status vit_matlab_find(vit_matlab_array *out, const char *variable, const uint8_t *bytes,
                           size_t size, const char *name, vit_error *error) {
    vit_status status = check_header(bytes, size, name, error);
    bool found = false;
    *out = (vit_matlab_array){0};
    for (size_t at = HEADER; at < size && status == VIT_OK && !found;) {
        element e;
        head h;
        if (!next_element(&e, bytes, size, &at)) return damaged(name, "is cut off", error);
        if (e.type == COMPRESSED) {
            status = unpack(out, &found, &e, variable, name, error);
        } else if (e.type == MATRIX && read_head(&h, e.data, e.size) && is_called(&h, variable)) {
            found = true;
            status = read_array(out, &h, e.data, e.size, name, error);
        }
    }
    if (status == VIT_OK && found) return VIT_OK;
    vit_free(out->memory);
    *out = (vit_matlab_array){0};
    if (status != VIT_OK) return status;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: the MATLAB file has no array %s", name, variable);
}

bool vit_matlab_integer(int64_t *out, const vit_matlab_array *a, size_t i) {
    double number;
    if (a->width == 1) {
        *out = a->data[i];
        return true;
    }
    memcpy(&number, a->data + 8 * i, sizeof number);
    if (!(number >= INT32_MIN && number <= INT32_MAX)) return false;
    *out = (int64_t)number;
    return (double)*out == number;
}
