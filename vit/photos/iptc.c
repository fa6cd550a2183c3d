/* Keywords of IPTC-IIM, and Photoshop's image resources that hold them (embedded.h). */
#include <string.h>

#include "vit/photos/embedded.h"

/* ---- letters ---- */

/* What Windows-1252 has at 0x80 to 0x9f; 0: nothing. */
static const uint16_t windows[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

/* A zero is no letter of a keyword. */
static bool is_utf8(const char *text, size_t length) {
    return vit_utf8_valid(text, length) == length && !memchr(text, 0, length);
}

static void add_windows(vit_string *out, const uint8_t *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        uint16_t c = text[i];
        if (c >= 0x80 && c < 0xa0) c = windows[c - 0x80];
        char bytes[3] = {(char)c};
        size_t count = 1;
        if (c >= 0x80 && c < 0x800) {
            bytes[0] = (char)(0xc0 | c >> 6), bytes[1] = (char)(0x80 | (c & 0x3f));
            count = 2;
        } else if (c >= 0x800) {
            bytes[0] = (char)(0xe0 | c >> 12), bytes[1] = (char)(0x80 | (c >> 6 & 0x3f));
            bytes[2] = (char)(0x80 | (c & 0x3f));
            count = 3;
        }
        if (c != 0) vit_string_add_bytes(out, bytes, count);
    }
}

/* Without the space around it; UTF-8 where it is such, as all programs of today write it, whether
 * the record says so (1:90) or not; else Windows-1252, as those of long ago. */
static void add_keyword(vit_embedded *out, const uint8_t *text, size_t length) {
    while (length > 0 && (text[length - 1] <= ' ')) length--;
    while (length > 0 && *text <= ' ') text++, length--;
    if (length == 0 || memchr(text, 0, length)) return;
    if (is_utf8((const char *)text, length))
        vit_string_add_bytes(&out->keywords, (const char *)text, length);
    else
        add_windows(&out->keywords, text, length);
    vit_string_add_bytes(&out->keywords, "", 1);
    out->keyword_count++;
}

/* ---- records ---- */

void vit_iptc_read(vit_embedded *out, vit_part r) {
    for (size_t at = 0; at + 5 <= r.size && r.data[at] == 0x1c;) {
        const uint8_t record = r.data[at + 1], set = r.data[at + 2];
        const size_t length = (size_t)r.data[at + 3] << 8 | r.data[at + 4];
        if (length > r.size - at - 5) return; /* also lengths of more than two bytes */
        if (record == 2 && set == 25) add_keyword(out, r.data + at + 5, length);
        at += 5 + length;
    }
}

/* "8BIM", a number, a name of Pascal's with even length, a length, the data, padded. */
void vit_photoshop_read(vit_embedded *out, vit_part r) {
    for (size_t at = 0; r.size - at >= 12 && memcmp(r.data + at, "8BIM", 4) == 0;) {
        const unsigned number = (unsigned)r.data[at + 4] << 8 | r.data[at + 5];
        const size_t name = (size_t)r.data[at + 6] + 1, begin = at + 6 + name + name % 2;
        if (begin > r.size || r.size - begin < 4) return;
        const uint8_t *p = r.data + begin;
        const size_t length =
            (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | (size_t)p[3];
        if (length > r.size - begin - 4) return;
        if (number == 0x0404) vit_iptc_read(out, (vit_part){p + 4, length});
        at = begin + 4 + length + length % 2;
        if (at > r.size) return;
    }
}
