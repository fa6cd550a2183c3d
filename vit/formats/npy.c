#include "vit/formats/npy.h"

#include "vit/base/size.h"
#include "vit/base/sys.h"

#include <stdio.h>
#include <string.h>

/* ---- the frame ---- */

vit_status vit_npy_header_size(size_t *size, const uint8_t prefix[VIT_NPY_PREFIX],
                               vit_error *error) {
    const unsigned major = prefix[6];
    if (memcmp(prefix, "\x93NUMPY", 6) != 0)
        return vit_fail(error, VIT_ERROR_FORMAT, "no .npy array: the magic bytes are missing");
    if (major < 1 || major > 3)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "the .npy array is of version %u, expected 1, 2 or 3", major);
    size_t length = prefix[8] | (size_t)prefix[9] << 8;
    if (major > 1) length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    *size = length + (major > 1 ? 12 : 10);
    if (*size > VIT_NPY_MAX_HEADER)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "the .npy header has %zu bytes, expected at most %d", *size,
                        VIT_NPY_MAX_HEADER);
    return VIT_OK;
}

/* ---- the dictionary ---- */

typedef struct scan {
    const char *start, *at, *end;
    const char *wanted; /* for messages: the types that the caller reads */
    vit_error *error;
} scan;

static vit_status expected(const scan *s, const char *what) {
    return vit_fail(s->error, VIT_ERROR_FORMAT, "byte %zu of the .npy header: expected %s",
                    (size_t)(s->at - s->start), what);
}

static void skip_space(scan *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t')) s->at++;
}

static bool take(scan *s, const char *word) {
    const size_t length = strlen(word);
    skip_space(s);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0) return false;
    s->at += length;
    return true;
}

/* A string in quotes of either kind, without escapes. */
static vit_status take_string(scan *s, char text[32], const char *what) {
    skip_space(s);
    if (s->at == s->end || (*s->at != '\'' && *s->at != '"')) return expected(s, what);
    const char *begin = s->at + 1;
    const char *end = memchr(begin, *s->at, (size_t)(s->end - begin));
    if (!end || end - begin >= 32 || memchr(begin, '\\', (size_t)(end - begin)))
        return expected(s, what);
    memcpy(text, begin, (size_t)(end - begin));
    text[end - begin] = '\0';
    s->at = end + 1;
    return VIT_OK;
}

static vit_status take_size(scan *s, size_t *value) {
    skip_space(s);
    const char *begin = s->at;
    *value = 0;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9') {
        const size_t digit = (size_t)(*s->at++ - '0');
        if (*value > (SIZE_MAX - digit) / 10) return expected(s, "a dimension of 64 bits");
        *value = *value * 10 + digit;
    }
    if (s->at == begin) return expected(s, "a dimension");
    take(s, "L"); /* written by Python 2 */
    return VIT_OK;
}

/* ---- its values ---- */

/* "<i8": the order of its bytes, its kind and its size, as NumPy writes them. */
static bool parse_type(vit_npy *a) {
    const char *t = a->type;
    const bool ordered = *t == '<' || *t == '>';
    size_t size = 0;
    if (!ordered && *t != '|' && *t != '=') return false;
    for (const char *p = t + 2; t[1] && *p >= '0' && *p <= '9' && size < 100; p++)
        size = 10 * size + (size_t)(*p - '0');
    char whole[40];
    snprintf(whole, sizeof whole, "%c%c%zu", t[0], t[1], size);
    if (strcmp(whole, t) != 0) return false;
    a->kind = t[1];
    a->width = size;
    a->big_endian = *t == '>' && size > 1;
    switch (a->kind) {
    case 'b':
        return size == 1;
    case 'i':
    case 'u':
        return (size == 1 || ordered) && (size == 1 || size == 2 || size == 4 || size == 8);
    case 'f':
        return ordered && (size == 2 || size == 4 || size == 8);
    case 'V': /* bytes of a type that NumPy does not know: two are bfloat16 */
        return size == 2;
    }
    return false;
}

static vit_status take_type(scan *s, vit_npy *a) {
    if (take(s, "["))
        return vit_fail(s->error, VIT_ERROR_UNSUPPORTED,
                        "an array of records, expected one of numbers");
    const vit_status status = take_string(s, a->type, "the type in quotes");
    return status != VIT_OK || parse_type(a) ? status
                                             : vit_npy_type_refused(a, s->wanted, s->error);
}

static vit_status take_shape(scan *s, vit_npy *a) {
    if (!take(s, "(")) return expected(s, "the shape, '('");
    a->dims = 0;
    while (!take(s, ")")) {
        size_t value;
        const vit_status status = take_size(s, &value);
        if (status != VIT_OK) return status;
        if (a->dims == VIT_NPY_MAX_DIMS)
            return vit_fail(s->error, VIT_ERROR_UNSUPPORTED,
                            "the shape has more than %d dimensions, which are not read",
                            VIT_NPY_MAX_DIMS);
        a->shape[a->dims++] = value;
        if (take(s, ",")) continue;
        if (!take(s, ")")) return expected(s, "')' or ',' in the shape");
        break;
    }
    return VIT_OK;
}

static vit_status take_order(scan *s, bool *fortran) {
    *fortran = take(s, "True");
    return *fortran || take(s, "False") ? VIT_OK : expected(s, "True or False");
}

typedef enum header_key { KEY_TYPE, KEY_ORDER, KEY_SHAPE, KEYS } header_key;
static const char *const keys[] = {"descr", "fortran_order", "shape"};
VIT_CHECK_ROWS(keys, KEYS);

static vit_status take_pair(scan *s, vit_npy *a, bool seen[KEYS]) {
    char key[32];
    vit_status status = take_string(s, key, "a key in quotes");
    if (status != VIT_OK) return status;
    size_t k = 0;
    while (k < KEYS && strcmp(key, keys[k]) != 0) k++;
    if (k == KEYS || seen[k])
        return vit_fail(s->error, VIT_ERROR_FORMAT,
                        "the .npy header has the key '%s'%s, expected descr, fortran_order and "
                        "shape",
                        key, k < KEYS ? " twice" : "");
    seen[k] = true;
    if (!take(s, ":")) return expected(s, "':' after a key");
    switch ((header_key)k) {
    case KEY_TYPE:
        return take_type(s, a);
    case KEY_ORDER:
        return take_order(s, &a->fortran);
    case KEY_SHAPE:
    case KEYS:
        break;
    }
    return take_shape(s, a);
}

static vit_status take_dictionary(scan *s, vit_npy *a) {
    bool seen[KEYS] = {false};
    if (!take(s, "{")) return expected(s, "'{'");
    while (!take(s, "}")) {
        const vit_status status = take_pair(s, a, seen);
        if (status != VIT_OK) return status;
        if (take(s, ",")) continue;
        if (!take(s, "}")) return expected(s, "',' or '}'");
        break;
    }
    for (size_t k = 0; k < KEYS; k++)
        if (!seen[k])
            return vit_fail(s->error, VIT_ERROR_FORMAT, "the .npy header has no '%s'", keys[k]);
    skip_space(s);
    return s->at == s->end ? VIT_OK : expected(s, "only spaces after '}'");
}

static vit_status count_elements(vit_npy *a, vit_error *error) {
    size_t bytes;
    bool fits = true;
    a->count = 1;
    for (size_t i = 0; i < a->dims && fits; i++)
        fits = vit_multiply(a->count, a->shape[i], &a->count);
    if (fits && vit_multiply(a->count, a->width, &bytes)) return VIT_OK;
    char shape[128];
    vit_shape_text(shape, a->shape, a->dims);
    return vit_fail(error, VIT_ERROR_FORMAT, "the shape %s needs more bytes than 64 bits can count",
                    shape);
}

vit_status vit_npy_parse(vit_npy *a, const uint8_t *header, size_t size, const char *wanted,
                         vit_error *error) {
    const size_t prefix = header[6] > 1 ? 12 : 10;
    const char *text = (const char *)header;
    scan s = {text, text + prefix, text + size, wanted, error};
    *a = (vit_npy){.offset = size};
    const vit_status status = take_dictionary(&s, a);
    return status == VIT_OK ? count_elements(a, error) : status;
}

vit_status vit_npy_type_refused(const vit_npy *a, const char *wanted, vit_error *error) {
    return vit_fail(error, VIT_ERROR_UNSUPPORTED, "the type is NumPy's '%s'%s, expected %s",
                    a->type, *a->type == '>' ? " (big-endian)" : "", wanted);
}

vit_status vit_npy_view(vit_npy *a, const uint8_t *bytes, size_t size, const char *wanted,
                        vit_error *error) {
    size_t header;
    vit_status status = VIT_OK;
    *a = (vit_npy){0};
    if (size < VIT_NPY_PREFIX)
        return vit_fail(error, VIT_ERROR_FORMAT, "%zu bytes, too few for an array", size);
    status = vit_npy_header_size(&header, bytes, error);
    if (status == VIT_OK && header > size)
        status = vit_fail(error, VIT_ERROR_FORMAT, "it ends within its .npy header");
    if (status == VIT_OK) status = vit_npy_parse(a, bytes, header, wanted, error);
    if (status != VIT_OK || a->count * a->width == size - header) return status;
    return vit_fail(error, VIT_ERROR_FORMAT, "%zu bytes of elements, expected %zu for its shape",
                    size - header, a->count * a->width);
}

bool vit_npy_integer(int64_t *value, const vit_npy *a, const uint8_t *element) {
    uint64_t bits = 0;
    for (size_t i = 0; i < a->width; i++)
        bits |= (uint64_t)element[a->big_endian ? a->width - 1 - i : i] << 8 * i;
    const uint64_t sign = (uint64_t)1 << (8 * a->width - 1);
    if (a->kind == 'i' && bits & sign) bits |= ~(sign | (sign - 1));
    memcpy(value, &bits, sizeof bits);
    return a->kind == 'i' || *value >= 0;
}

/* ---- writing ---- */

enum { PREFIX = 10, ALIGNMENT = 64 }; /* magic, version, length; NumPy's choice */

void vit_string_add_npy(vit_string *t, const char *type, const size_t *shape, size_t dims) {
    vit_string d = {0};
    vit_string_add(&d, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (size_t i = 0; i < dims; i++)
        vit_string_add(&d, "%s%zu%s", i > 0 ? ", " : "", shape[i], dims == 1 ? "," : "");
    vit_string_add(&d, "), }");
    const size_t used = PREFIX + d.length + 1;
    const size_t padding = (ALIGNMENT - used % ALIGNMENT) % ALIGNMENT;
    const size_t length = d.length + padding + 1;
    const char prefix[PREFIX] = {'\x93', 'N', 'U', 'M',          'P',
                                 'Y',    1,   0,   (char)length, (char)(length >> 8)};
    vit_string_add_bytes(t, prefix, PREFIX);
    vit_string_add(t, "%s%*s\n", d.text ? d.text : "", (int)padding, "");
    t->failed |= d.failed;
    vit_string_free(&d);
}

static vit_status put_values(vit_writer *writer, const float *values, size_t count,
                             vit_error *error) {
    uint8_t bytes[4096];
    vit_status status = VIT_OK;
    for (size_t i = 0, used = 0; i < count && status == VIT_OK; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (size_t j = 0; j < 4; j++) bytes[used++] = (uint8_t)(bits >> 8 * j);
        if (used < sizeof bytes && i + 1 < count) continue;
        status = vit_writer_put(writer, bytes, used, error);
        used = 0;
    }
    return status;
}

vit_status vit_npy_write(const char *path, const float *values, const size_t *shape, size_t dims,
                         vit_error *error) {
    vit_string header = {0};
    vit_writer *writer = NULL;
    size_t count = 1;
    for (size_t i = 0; i < dims; i++) count *= shape[i];
    vit_string_add_npy(&header, "<f4", shape, dims);
    vit_status status = header.failed ? vit_fail_memory(error, "an array's header", 0)
                                      : vit_writer_open(&writer, path, error);
    if (status == VIT_OK) status = vit_writer_put(writer, header.text, header.length, error);
    if (status == VIT_OK) status = put_values(writer, values, count, error);
    vit_string_free(&header);
    if (status == VIT_OK) return vit_writer_commit(writer, error);
    vit_writer_abort(writer);
    return status;
}
