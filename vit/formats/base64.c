#include "vit/formats/base64.h"

/* The 6 bits of a character, of either alphabet, or -1. */
static int value_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

vit_status vit_read_base64(vit_bytes *out, const char *what, const char *text, size_t length,
                           vit_error *error) {
    *out = (vit_bytes){0};
    uint8_t *data = vit_alloc_unset(length / 4 * 3 + 3, 1);
    if (!data) return vit_fail_memory(error, what, length);
    uint32_t bits = 0;
    size_t size = 0, count = 0, padding = 0;
    bool fine = true;
    for (size_t i = 0; i < length && fine; i++) {
        if (is_space(text[i])) continue;
        const int value = value_of(text[i]);
        padding += text[i] == '=';
        if (text[i] == '=') continue;
        fine = value >= 0 && padding == 0;
        bits = bits << 6 | (uint32_t)(value & 63);
        if (count++ % 4 > 0) data[size++] = (uint8_t)(bits >> (6 - 2 * ((count - 1) % 4)));
    }
    fine = fine && count % 4 != 1 && padding <= 2 && (padding == 0 || (count + padding) % 4 == 0);
    if (!fine) {
        vit_free(data);
        return vit_fail(error, VIT_ERROR_FORMAT, "%s is not base64", what);
    }
    *out = (vit_bytes){data, size};
    return VIT_OK;
}

void vit_string_add_base64(vit_string *out, const void *bytes, size_t size) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *b = bytes;
    char block[4 * 256];
    size_t n = 0;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t bits = (uint32_t)b[i] << 16 | (left > 1 ? (uint32_t)b[i + 1] << 8 : 0) |
                              (left > 2 ? (uint32_t)b[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            block[n++] = k > left ? '=' : letters[bits >> (18 - 6 * k) & 63];
        if (n == sizeof block || left <= 3) {
            vit_string_add_bytes(out, block, n);
            n = 0;
        }
    }
}
