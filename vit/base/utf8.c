#include "vit/base/utf8.h"
#include "vit/base/size.h"
#include <stdbool.h>
#include <string.h>

size_t vit_utf8_length(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) return s[0] != 0;
    size_t length = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
    bool beyond = s[0] == 0xf4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

size_t vit_utf8_valid(const char *text, size_t length) {
    size_t at = 0;
    while (at < length) {
        char next[5] = "";
        if ((uint8_t)text[at] < 0x80) {
            at++;
            continue;
        }
        memcpy(next, text + at, vit_min(4, length - at));
        const size_t bytes = vit_utf8_length(next);
        if (bytes == 0) break;
        at += bytes;
    }
    return at;
}

size_t vit_utf8_put(char *out, uint32_t code) {
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[length] | code);
    return length;
}

size_t vit_utf8_mark(const void *text, size_t size) {
    return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

const char *vit_utf8_other(const void *text, size_t size) {
    const unsigned char *s = text;
    const bool marked =
        size >= 2 && ((s[0] == 0xff && s[1] == 0xfe) || (s[0] == 0xfe && s[1] == 0xff));
    const bool paired =
        size >= 4 && ((!s[0] && s[1] && !s[2] && s[3]) || (s[0] && !s[1] && s[2] && !s[3]));
    if (marked || paired)
        return "is UTF-16, expected UTF-8: save it as that (iconv -f UTF-16 -t UTF-8 FILE >NEW)";
    return size > 0 && memchr(s, 0, size) ? "is no text: it has a byte 0" : NULL;
}

const char *vit_utf8_other_name(const char *name) {
    for (size_t length; *name; name += length)
        if ((length = vit_utf8_length(name)) == 0)
            return "is Latin-1 or Windows-1252, expected UTF-8: save it as that (iconv -f CP1252 "
                   "-t "
                   "UTF-8 FILE >NEW)";
    return NULL;
}
