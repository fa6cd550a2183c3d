#ifndef VIT_BASE_UTF8_H
#define VIT_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The length in bytes of the UTF-8 character at the beginning of a 0-terminated text; 0 at its end,
 * and if no valid character begins there. */
size_t vit_utf8_length(const char *text);

/* The length in bytes of the longest beginning of text[0..length) that is valid UTF-8; zeros are
 * characters here. */
size_t vit_utf8_valid(const char *text, size_t length);

/* Writes a character, of a code below 0x110000, and returns its length in bytes, 1 to 4. */
size_t vit_utf8_put(char *out, uint32_t code);

/* The bytes of a byte order mark, with which editors of Windows begin a text: 3, or 0. */
size_t vit_utf8_mark(const void *text, size_t size);

/* What the bytes are, and what to do, if they are no text that we read: UTF-16, or bytes of zero;
 * "is UTF-16: ...". NULL: neither. */
const char *vit_utf8_other(const void *text, size_t size);

/* The same of a name in a text: "is Latin-1 or Windows-1252, not UTF-8: ..."; NULL: it is UTF-8. */
const char *vit_utf8_other_name(const char *name);

#endif
