#include "vit/tensors/npy.h"

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

static const struct {
    const char *name;
    vit_dtype dtype;
} types[] = {
    {"<f4", VIT_F32},  {"<f8", VIT_F64}, {"<f2", VIT_F16},  {"|V2", VIT_BF16},
    {"<V2", VIT_BF16}, {"<i8", VIT_I64}, {"<i4", VIT_I32},  {"<i2", VIT_I16},
    {"|i1", VIT_I8},   {"|u1", VIT_U8},  {"|b1", VIT_BOOL},
};

static vit_status take_type(scan *s, vit_tensor *tensor) {
    char name[32];
    if (take(s, "["))
        return vit_fail(s->error, VIT_ERROR_UNSUPPORTED,
                        "an array of records, expected one of numbers");
    const vit_status status = take_string(s, name, "the type in quotes");
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].name) == 0) {
            tensor->dtype = types[i].dtype;
            return VIT_OK;
        }
    return vit_fail(
        s->error, VIT_ERROR_UNSUPPORTED,
        "the type is NumPy's '%s'%s, expected <f4, <f2, <f8, bfloat16 (V2), or integers "
        "for counters",
        name, name[0] == '>' ? " (big-endian)" : "");
}

static vit_status take_shape(scan *s, vit_tensor *tensor) {
    if (!take(s, "(")) return expected(s, "the shape, '('");
    tensor->dims = 0;
    while (!take(s, ")")) {
        size_t value;
        const vit_status status = take_size(s, &value);
        if (status != VIT_OK) return status;
        if (tensor->dims == VIT_MAX_DIMS)
            return vit_fail(s->error, VIT_ERROR_UNSUPPORTED,
                            "the shape has more than %d dimensions, which are not read",
                            VIT_MAX_DIMS);
        tensor->shape[tensor->dims++] = value;
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

enum { KEY_TYPE, KEY_ORDER, KEY_SHAPE, KEYS };
static const char *const keys[] = {"descr", "fortran_order", "shape"};
VIT_CHECK_ROWS(keys, KEYS);

static vit_status take_pair(scan *s, vit_tensor *tensor, bool *fortran, bool seen[KEYS]) {
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
    return k == KEY_TYPE    ? take_type(s, tensor)
           : k == KEY_ORDER ? take_order(s, fortran)
                            : take_shape(s, tensor);
}

static vit_status take_dictionary(scan *s, vit_tensor *tensor, bool *fortran) {
    bool seen[KEYS] = {false};
    if (!take(s, "{")) return expected(s, "'{'");
    while (!take(s, "}")) {
        const vit_status status = take_pair(s, tensor, fortran, seen);
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

static vit_status count_elements(vit_tensor *tensor, vit_error *error) {
    size_t bytes;
    bool fits = true;
    tensor->count = 1;
    for (size_t i = 0; i < tensor->dims && fits; i++)
        fits = vit_multiply(tensor->count, tensor->shape[i], &tensor->count);
    if (fits && vit_multiply(tensor->count, vit_dtype_size(tensor->dtype), &bytes)) return VIT_OK;
    char shape[128];
    vit_shape_text(shape, tensor->shape, tensor->dims);
    return vit_fail(error, VIT_ERROR_FORMAT, "the shape %s needs more bytes than 64 bits can count",
                    shape);
}

vit_status vit_npy_parse(vit_tensor *tensor, bool *fortran, const uint8_t *header, size_t size,
                         vit_error *error) {
    const size_t prefix = header[6] > 1 ? 12 : 10;
    const char *text = (const char *)header;
    scan s = {text, text + prefix, text + size, error};
    const vit_status status = take_dictionary(&s, tensor, fortran);
    return status == VIT_OK ? count_elements(tensor, error) : status;
}
