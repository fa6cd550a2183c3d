#include "vit/cli/serve/answer/base64.h"

#include <string.h>
#include <strings.h>

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

/* Skips "data:TYPE;base64,"; false for another kind of URL. */
static bool strip_url(const char **text, size_t *length) {
    static const char scheme[] = "data:", kind[] = ";base64";
    if (*length < strlen(scheme) || strncasecmp(*text, scheme, strlen(scheme)) != 0)
        return !memchr(*text, ':', *length < 16 ? *length : 16);
    const char *comma = memchr(*text, ',', *length < 256 ? *length : 256);
    if (!comma) return false;
    const size_t head = (size_t)(comma - *text);
    if (head < strlen(scheme) + strlen(kind) ||
        strncasecmp(comma - strlen(kind), kind, strlen(kind)) != 0)
        return false;
    *length -= head + 1;
    *text = comma + 1;
    return true;
}

vit_status serve_read_base64(vit_bytes *out, const char *text, size_t length, vit_error *error) {
    *out = (vit_bytes){0};
    if (!strip_url(&text, &length))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "\"%.24s...\" is no picture: expected base64, or a URL that begins with "
                        "\"data:image/png;base64,\"; others are not fetched",
                        text);
    uint8_t *data = vit_alloc_unset(length / 4 * 3 + 3, 1);
    if (!data) return vit_fail_memory(error, "a picture", length);
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
        return vit_fail(error, VIT_ERROR_FORMAT, "a picture is not base64");
    }
    *out = (vit_bytes){data, size};
    return VIT_OK;
}
