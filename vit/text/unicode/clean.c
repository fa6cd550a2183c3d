#include "vit/text/unicode/clean.h"
#include "vit/base/size.h"
#include "vit/text/unicode/entities.h"
#include "vit/text/unicode/unicode.h"
#include <string.h>

static const char *const names[] = {[VIT_CLEAN_NONE] = "none",
                                    [VIT_CLEAN_WHITESPACE] = "whitespace",
                                    [VIT_CLEAN_LOWER] = "lower",
                                    [VIT_CLEAN_CANONICALIZE] = "canonicalize"};
VIT_CHECK_ROWS(names, VIT_CLEANING_COUNT);

bool vit_cleaning_named(vit_cleaning *out, const char *name) {
    for (int i = VIT_CLEAN_WHITESPACE; i < VIT_CLEANING_COUNT; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (vit_cleaning)i;
            return true;
        }
    return false;
}

/* ---- what was read in the wrong encoding ---- */

/* The byte that Windows-1252 writes for a character; 256: none. */
static uint32_t windows_byte(uint32_t c) {
    for (uint32_t i = 0; i < VIT_COUNT(vit_windows_1252); i++)
        if (c == vit_windows_1252[i]) return 0x80 + i;
    return c < 256 ? c : 256;
}

/* How many bytes follow the first one of a character in UTF-8; 0: it is no first one of several. */
static int following(uint32_t byte) {
    if (byte >= 0xc2 && byte <= 0xdf) return 1;
    if (byte >= 0xe0 && byte <= 0xef) return 2;
    return byte >= 0xf0 && byte <= 0xf4 ? 3 : 0;
}

/* Whether some characters are, in Windows-1252, the bytes of one in UTF-8, or of C1's controls. */
static bool is_misread(const char *text, size_t length) {
    int left = 0;
    for (size_t at = 0; at < length;) {
        uint32_t c;
        at += vit_utf8_get(&c, text + at);
        const uint32_t byte = windows_byte(c);
        if (c >= 0x80 && c < 0xa0) return true;
        if (left > 0 && byte >= 0x80 && byte < 0xc0) {
            if (--left == 0) return true;
        } else {
            left = following(byte);
        }
    }
    return false;
}

/* ---- ftfy, a character at a time ---- */

static const struct {
    uint32_t code;
    const char *text;
} ligatures[] = {{0x132, "IJ"},         {0x133, "ij"},  {0x149, "\xca\xbcn"}, {0x1f1, "DZ"},
                 {0x1f2, "Dz"},         {0x1f3, "dz"},  {0x1c4, "D\xc5\xbd"}, {0x1c5, "D\xc5\xbe"},
                 {0x1c6, "d\xc5\xbe"},  {0x1c7, "LJ"},  {0x1c8, "Lj"},        {0x1c9, "lj"},
                 {0x1ca, "NJ"},         {0x1cb, "Nj"},  {0x1cc, "nj"},        {0xfb00, "ff"},
                 {0xfb01, "fi"},        {0xfb02, "fl"}, {0xfb03, "ffi"},      {0xfb04, "ffl"},
                 {0xfb05, "\xc5\xbft"}, {0xfb06, "st"}};

static void add_unligated(vit_string *out, uint32_t c, const char *bytes, size_t count) {
    for (size_t i = 0; i < VIT_COUNT(ligatures); i++)
        if (ligatures[i].code == c) {
            vit_string_add(out, "%s", ligatures[i].text);
            return;
        }
    vit_string_add_bytes(out, bytes, count);
}

/* Letters of half and of double width become usual ones. */
static void add_of_one_width(vit_string *out, uint32_t c, const char *bytes, size_t count) {
    if (c == 0x3000)
        vit_string_add_bytes(out, " ", 1);
    else if (c >= 0xff01 && c <= 0xffef)
        vit_string_add_form(out, bytes, count, VIT_FORM_NFKC);
    else
        vit_string_add_bytes(out, bytes, count);
}

static void add_straight(vit_string *out, uint32_t c, const char *bytes, size_t count) {
    if (c == 0x2bc || (c >= 0x2018 && c <= 0x201b))
        vit_string_add_bytes(out, "'", 1);
    else if (c >= 0x201c && c <= 0x201f)
        vit_string_add_bytes(out, "\"", 1);
    else
        vit_string_add_bytes(out, bytes, count);
}

static void add_line_break(vit_string *out, uint32_t c, const char *bytes, size_t count) {
    if (c == '\r' && bytes[1] == '\n') return; /* the text has a zero behind it */
    if (c == '\r' || c == 0x2028 || c == 0x2029)
        vit_string_add_bytes(out, "\n", 1);
    else
        vit_string_add_bytes(out, bytes, count);
}

static void add_uncontrolled(vit_string *out, uint32_t c, const char *bytes, size_t count) {
    const bool control = c < 9 || c == 0xb || (c >= 0xe && c < 0x20) || c == 0x7f ||
                         (c >= 0x206a && c <= 0x206f) || c == 0xfeff ||
                         (c >= 0xfff9 && c <= 0xfffc);
    if (!control) vit_string_add_bytes(out, bytes, count);
}

typedef void add_function(vit_string *out, uint32_t c, const char *bytes, size_t count);

/* *text becomes what `add` makes of each of its characters. */
static void change_each(vit_string *text, add_function *add) {
    vit_string out = {0};
    vit_string_add_bytes(&out, "", 0);
    for (size_t at = 0; at < text->length && !text->failed;) {
        uint32_t c;
        const size_t count = vit_utf8_get(&c, text->text + at);
        add(&out, c, text->text + at, count);
        at += count;
    }
    if (text->failed) out.failed = true;
    vit_string_free(text);
    *text = out;
}

/* The colours of terminals: ESC [ 1;31 m. */
static void drop_escapes(vit_string *text) {
    size_t to = 0;
    for (size_t at = 0; at < text->length && !text->failed;) {
        size_t end = at + 2;
        if (text->text[at] == 0x1b && text->text[at + 1] == '[') {
            while (strchr("0123456789;", text->text[end]) && text->text[end]) end++;
            const char last = (char)(text->text[end] | 0x20);
            if (last >= 'a' && last <= 'z') {
                at = end + 1;
                continue;
            }
        }
        text->text[to++] = text->text[at++];
    }
    if (text->failed) return;
    text->length = to;
    text->text[to] = 0;
}

/* ---- ftfy ---- */

typedef void add_whole(vit_string *out, const char *text, size_t length);

static void change(vit_string *text, add_whole *add) {
    vit_string out = {0};
    vit_string_add_bytes(&out, "", 0);
    if (!text->failed) add(&out, text->text, text->length);
    if (text->failed) out.failed = true;
    vit_string_free(text);
    *text = out;
}

static void add_nfc(vit_string *out, const char *text, size_t length) {
    vit_string_add_form(out, text, length, VIT_FORM_NFC);
}

static vit_status mend_once(vit_string *text, bool unescapes, vit_error *error) {
    static add_function *const steps[] = {add_unligated, add_of_one_width, add_straight,
                                          add_line_break};
    if (unescapes) change(text, vit_string_add_unescaped_strictly);
    if (!text->failed && is_misread(text->text, text->length))
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "it looks as if it had been read in a wrong encoding, which OpenCLIP would "
                        "guess: write it as it should be, or take --emulate hf");
    for (size_t i = 0; i < VIT_COUNT(steps); i++) change_each(text, steps[i]);
    drop_escapes(text);
    change_each(text, add_uncontrolled);
    change(text, add_nfc);
    return text->failed ? vit_fail_memory(error, "a text", text->length) : VIT_OK;
}

#define MOST_ROUNDS 64 /* "&amp;amp;amp;..." takes one for each */

/* Appends a line as ftfy.fix_text makes it: all steps until nothing changes. */
static vit_status add_mended(vit_string *out, const char *line, size_t length, bool unescapes,
                             vit_error *error) {
    vit_string now = {0}, old = {0};
    vit_status status = VIT_OK;
    bool same = false;
    vit_string_add_bytes(&now, line, length);
    for (int round = 0; status == VIT_OK && !same; round++) {
        vit_string_free(&old);
        old = (vit_string){0};
        vit_string_add_bytes(&old, now.text, now.length);
        if (old.failed) status = vit_fail_memory(error, "a text", length);
        if (status == VIT_OK) status = mend_once(&now, unescapes, error);
        if (status == VIT_OK && round == MOST_ROUNDS)
            status = vit_fail(error, VIT_ERROR_UNSUPPORTED,
                              "its HTML entities are within one another more than %d times",
                              MOST_ROUNDS);
        same = status == VIT_OK && now.length == old.length &&
               memcmp(now.text, old.text, now.length) == 0;
    }
    if (status == VIT_OK) vit_string_add_bytes(out, now.text, now.length);
    vit_string_free(&now);
    vit_string_free(&old);
    return status;
}

/* Line by line; from the first one with a '<' on, entities stay as they are. */
static vit_status mend(vit_string *out, const char *text, size_t length, vit_error *error) {
    bool unescapes = true;
    vit_status status = VIT_OK;
    for (size_t at = 0; at < length && status == VIT_OK;) {
        const char *line = text + at, *end = memchr(line, '\n', length - at);
        const size_t size = end ? (size_t)(end - line) + 1 : length - at;
        if (memchr(line, '<', size)) unescapes = false;
        status = add_mended(out, line, size, unescapes, error);
        at += size;
    }
    return status;
}

/* ---- open_clip ---- */

static void add_lower(vit_string *out, const char *text, size_t length) {
    vit_string_add_lower(out, text, length, true);
}

/* Single spaces, none at the ends. */
static void add_single_spaced(vit_string *out, const char *text, size_t length) {
    bool space = false, begun = false;
    for (size_t at = 0; at < length;) {
        uint32_t c;
        const size_t count = vit_utf8_get(&c, text + at);
        if (vit_is_one_of(VIT_SPACES, c) || (c >= 0x1c && c <= 0x1f)) {
            space = begun;
        } else {
            if (space) vit_string_add_bytes(out, " ", 1);
            vit_string_add_bytes(out, text + at, count);
            space = false;
            begun = true;
        }
        at += count;
    }
}

static void add_unpunctuated(vit_string *out, uint32_t c, const char *bytes, size_t count) {
    if (c == '_')
        vit_string_add_bytes(out, " ", 1);
    else if (!(c > ' ' && c < 0x7f && strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~", (int)c)))
        vit_string_add_bytes(out, bytes, count);
}

vit_status vit_text_clean(vit_string *out, vit_cleaning how, const char *text, size_t length,
                          vit_error *error) {
    vit_string now = {0};
    vit_string_add_bytes(&now, "", 0);
    vit_status status = VIT_OK;
    if (how > VIT_CLEAN_NONE) {
        status = mend(&now, text, length, error);
        if (status == VIT_OK) change(&now, vit_string_add_unescaped);
        if (status == VIT_OK) change(&now, vit_string_add_unescaped);
    } else {
        vit_string_add_bytes(&now, text, length);
    }
    switch (how) {
    case VIT_CLEAN_CANONICALIZE:
        change_each(&now, add_unpunctuated);
        change(&now, add_lower);
        change(&now, add_single_spaced);
        break;
    case VIT_CLEAN_LOWER:
        change(&now, add_single_spaced);
        change(&now, add_lower);
        break;
    case VIT_CLEAN_WHITESPACE:
        change(&now, add_single_spaced);
        break;
    case VIT_CLEAN_NONE:
    case VIT_CLEANING_COUNT:
        break;
    }
    if (status == VIT_OK && !now.failed) vit_string_add_bytes(out, now.text, now.length);
    if (status == VIT_OK && (now.failed || out->failed))
        status = vit_fail_memory(error, "a text", length);
    vit_string_free(&now);
    return status;
}
