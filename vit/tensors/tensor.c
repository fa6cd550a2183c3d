#include "vit/tensors/tensor.h"
#include "vit/base/size.h"
#include "vit/base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors are used as they are in the file, little-endian, and this host is big-endian"
#endif

const char *vit_name_text(char text[VIT_NAME_TEXT], const char *name) {
    size_t length = strlen(name);
    bool cut = length >= VIT_NAME_TEXT;
    if (cut) {
        length = VIT_NAME_TEXT - sizeof "...";
        while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
            length--; /* not inside a character */
    }
    memcpy(text, name, length);
    memcpy(text + length, cut ? "..." : "", cut ? 4 : 1);
    return text;
}

/* ---- elements as float32 ---- */

/* Exact: a subnormal half is a multiple of 2^-24, which is a normal float32. */
static float float_from_half(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = (half >> 10) & 0x1fu, fraction = half & 0x3ffu, bits;
    if (exponent == 0) {
        float magnitude = (float)fraction * 0x1p-24f;
        memcpy(&bits, &magnitude, sizeof bits);
    } else {
        uint32_t wide = exponent == 0x1f ? 0xff : exponent + (127 - 15);
        bits = wide << 23 | fraction << 13;
    }
    bits |= sign;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static vit_status floats_from_f32(float *values, const vit_tensor *tensor, vit_error *error) {
    (void)error;
    if (tensor->count > 0) memcpy(values, tensor->data, tensor->count * sizeof *values);
    return VIT_OK;
}

static vit_status floats_from_f16(float *values, const vit_tensor *tensor, vit_error *error) {
    (void)error;
    const unsigned char *data = tensor->data;
    for (size_t i = 0; i < tensor->count; i++) {
        uint16_t half;
        memcpy(&half, data + 2 * i, sizeof half);
        values[i] = float_from_half(half);
    }
    return VIT_OK;
}

static vit_status floats_from_bf16(float *values, const vit_tensor *tensor, vit_error *error) {
    (void)error;
    const unsigned char *data = tensor->data;
    for (size_t i = 0; i < tensor->count; i++) {
        uint16_t high;
        memcpy(&high, data + 2 * i, sizeof high);
        uint32_t bits = (uint32_t)high << 16;
        memcpy(&values[i], &bits, sizeof bits);
    }
    return VIT_OK;
}

static vit_status fail_element(const vit_tensor *tensor, size_t index, const char *value,
                               vit_error *error) {
    char name[VIT_NAME_TEXT];
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "tensor '%s': element %zu of type %s is %s, expected a number that float32 "
                    "can hold",
                    vit_name_text(name, tensor->name), index, vit_dtype_name(tensor->dtype), value);
}

static vit_status floats_from_f64(float *values, const vit_tensor *tensor, vit_error *error) {
    const unsigned char *data = tensor->data;
    char text[32];
    for (size_t i = 0; i < tensor->count; i++) {
        double value;
        memcpy(&value, data + 8 * i, sizeof value);
        values[i] = (float)value;
        if (isinf(values[i]) && !isinf(value))
            return fail_element(tensor, i, vit_format_double(text, value), error);
    }
    return VIT_OK;
}

/* A signed integer of 1 to 8 bytes. */
static int64_t integer_at(const vit_tensor *tensor, size_t i) {
    const size_t size = vit_dtype_size(tensor->dtype);
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);
    uint64_t bits = 0;
    memcpy(&bits, (const unsigned char *)tensor->data + size * i, size);
    return (int64_t)((bits ^ sign) - sign);
}

static vit_status floats_from_u8(float *values, const vit_tensor *tensor, vit_error *error) {
    (void)error;
    for (size_t i = 0; i < tensor->count; i++)
        values[i] = (float)((const unsigned char *)tensor->data)[i];
    return VIT_OK;
}

static vit_status floats_from_integers(float *values, const vit_tensor *tensor, vit_error *error) {
    char text[32];
    for (size_t i = 0; i < tensor->count; i++) {
        int64_t integer = integer_at(tensor, i);
        values[i] = (float)integer;
        /* The largest integers are rounded to 2^63, which is no int64_t. */
        if (values[i] >= 0x1p63f || (int64_t)values[i] != integer) {
            snprintf(text, sizeof text, "%" PRId64, integer);
            return fail_element(tensor, i, text, error);
        }
    }
    return VIT_OK;
}

static vit_status refuse_bool(float *values, const vit_tensor *tensor, vit_error *error) {
    (void)values;
    char name[VIT_NAME_TEXT];
    return vit_fail(error, VIT_ERROR_UNSUPPORTED, "tensor '%s' is of type BOOL, expected numbers",
                    vit_name_text(name, tensor->name));
}

static const struct {
    const char *name;
    size_t size;
    bool weights; /* they may be weights */
    vit_status (*floats)(float *values, const vit_tensor *tensor, vit_error *error);
} dtypes[] = {
    [VIT_F64] = {"F64", 8, true, floats_from_f64},
    [VIT_F32] = {"F32", 4, true, floats_from_f32},
    [VIT_F16] = {"F16", 2, true, floats_from_f16},
    [VIT_BF16] = {"BF16", 2, true, floats_from_bf16},
    [VIT_I64] = {"I64", 8, false, floats_from_integers},
    [VIT_I32] = {"I32", 4, false, floats_from_integers},
    [VIT_I16] = {"I16", 2, false, floats_from_integers},
    [VIT_I8] = {"I8", 1, false, floats_from_integers},
    [VIT_U8] = {"U8", 1, false, floats_from_u8},
    [VIT_BOOL] = {"BOOL", 1, false, refuse_bool},
};
VIT_CHECK_ROWS(dtypes, VIT_DTYPE_COUNT);

const char *vit_dtype_name(vit_dtype dtype) {
    return dtypes[dtype].name;
}

size_t vit_dtype_size(vit_dtype dtype) {
    return dtypes[dtype].size;
}

bool vit_dtype_holds_weights(vit_dtype dtype) {
    return dtypes[dtype].weights;
}

vit_status vit_tensor_floats(const vit_tensor *tensor, float *values, vit_error *error) {
    return dtypes[tensor->dtype].floats(values, tensor, error);
}

/* How many words from the first on hold finite numbers, in whole blocks: 64 are looked at together,
 * which becomes vector instructions. exponents: the bits of the exponents of the two numbers of 16
 * bits in a word, or of its float; all are set in one that is not finite. */
static size_t count_finite(const uint8_t *words, size_t count, uint32_t exponents) {
    enum { BLOCK = 64 };
    const uint32_t high = exponents & 0xffff0000,
                   low = exponents & 0xffff ? exponents & 0xffff : high;
    size_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK) {
        uint32_t bits[BLOCK], bad = 0;
        memcpy(bits, words + i * sizeof *bits, sizeof bits);
        for (size_t k = 0; k < BLOCK; k++)
            bad |= (bits[k] & high) == high || (bits[k] & low) == low;
        if (bad) break;
    }
    return i;
}

vit_status vit_tensor_check_data(const vit_tensor *tensor, vit_error *error) {
    static const uint32_t exponents[] = {
        [VIT_F32] = 0x7f800000, [VIT_F16] = 0x7c007c00, [VIT_BF16] = 0x7f807f80, [VIT_BOOL] = 0};
    VIT_CHECK_ROWS(exponents, VIT_DTYPE_COUNT);
    const uint8_t *data = tensor->data;
    const size_t size = vit_dtype_size(tensor->dtype), numbers = sizeof(uint32_t) / size;
    const uint32_t here = exponents[tensor->dtype];
    char name[VIT_NAME_TEXT];
    size_t i = here == 0 ? 0 : numbers * count_finite(data, tensor->count / numbers, here);
    for (; i < tensor->count; i++) {
        const vit_tensor one = {
            .name = tensor->name, .dtype = tensor->dtype, .count = 1, .data = data + i * size};
        float value;
        const vit_status status = vit_tensor_floats(&one, &value, error);
        if (status != VIT_OK) return status;
        if (isfinite(value)) continue;
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "tensor %s: element %zu is %g, expected a number: the weights are "
                        "damaged, or of a training that failed",
                        vit_name_text(name, tensor->name), i, (double)value);
    }
    return VIT_OK;
}

vit_status vit_tensor_check_finite(const vit_tensor *tensor, const float *values,
                                   vit_error *error) {
    vit_tensor floats = *tensor;
    floats.dtype = VIT_F32;
    floats.data = values;
    return vit_tensor_check_data(&floats, error);
}

/* ---- float32 as elements ---- */

/* bits >> drop, rounded to nearest, ties to even. */
static uint32_t round_bits(uint32_t bits, unsigned drop) {
    const uint32_t half = (1u << (drop - 1)) - 1, odd = bits >> drop & 1;
    return (bits + half + odd) >> drop;
}

/* A NaN stays one: its highest fraction bit is set, since its other set bits may all be dropped. */
static uint16_t brain_from_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value)) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)round_bits(bits, 16);
}

/* False if a finite value would become infinite. */
static bool half_from_float(uint16_t *half, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    const float magnitude = fabsf(value);
    bits &= 0x7fffffff;
    if (isnan(value)) {
        *half = (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x3ff));
    } else if (magnitude >= 0x1.ffep15f) { /* halfway from the largest half to 2^16 */
        *half = sign | 0x7c00;
        return isinf(value);
    } else if (magnitude < 0x1p-14f) {
        *half = (uint16_t)(sign | (uint32_t)rintf(magnitude * 0x1p24f)); /* subnormal: in 2^-24 */
    } else {
        *half = (uint16_t)(sign | (round_bits(bits, 13) - (112u << 10)));
    }
    return true;
}

size_t vit_tensor_encode(void *elements, vit_dtype dtype, const float *values, size_t count) {
    uint16_t *out = elements;
    switch (dtype) {
    case VIT_F32:
        if (count > 0) memcpy(elements, values, count * sizeof *values);
        break;
    case VIT_BF16:
        for (size_t i = 0; i < count; i++) out[i] = brain_from_float(values[i]);
        break;
    case VIT_F16:
        for (size_t i = 0; i < count; i++)
            if (!half_from_float(&out[i], values[i])) return i;
        break;
    case VIT_F64: /* weights are not written in these */
    case VIT_I64:
    case VIT_I32:
    case VIT_I16:
    case VIT_I8:
    case VIT_U8:
    case VIT_BOOL:
    case VIT_DTYPE_COUNT:
        break;
    }
    return count;
}

/* ---- other orders ---- */

void vit_strided_copy(void *out, const void *in, size_t size, size_t dims, const size_t *shape,
                      const size_t *strides) {
    size_t index[VIT_MAX_DIMS] = {0};
    const size_t last = dims > 0 ? dims - 1 : 0, row = dims > 0 ? shape[last] : 1;
    const size_t stride = dims > 0 ? strides[last] : 1;
    unsigned char *to = out;
    for (size_t i = 0; i < dims; i++)
        if (shape[i] == 0) return;
    for (;;) {
        const unsigned char *from = in;
        for (size_t i = 0; i < last; i++) from += index[i] * strides[i] * size;
        if (stride == 1)
            memcpy(to, from, row * size);
        else
            for (size_t i = 0; i < row; i++) memcpy(to + i * size, from + i * stride * size, size);
        to += row * size;
        size_t d = last;
        while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
        if (d == 0) return;
    }
}

/* ---- arrays ---- */

vit_status vit_npy_tensor(vit_tensor *out, const vit_npy *a, vit_error *error) {
    static const struct {
        char kind;
        size_t width;
        vit_dtype dtype;
    } types[] = {{'f', 4, VIT_F32}, {'f', 8, VIT_F64}, {'f', 2, VIT_F16}, {'V', 2, VIT_BF16},
                 {'i', 8, VIT_I64}, {'i', 4, VIT_I32}, {'i', 2, VIT_I16}, {'i', 1, VIT_I8},
                 {'u', 1, VIT_U8},  {'b', 1, VIT_BOOL}};
    static_assert(VIT_NPY_MAX_DIMS <= VIT_MAX_DIMS, "a tensor has room for the shape");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (a->kind != types[i].kind || a->width != types[i].width || a->big_endian) continue;
        out->dtype = types[i].dtype;
        out->dims = a->dims;
        memcpy(out->shape, a->shape, sizeof a->shape);
        out->count = a->count;
        return VIT_OK;
    }
    return vit_npy_type_refused(a, VIT_NPY_WEIGHTS, error);
}
