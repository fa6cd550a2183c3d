/* A tokeniser for JSON of a known shape, as the header of a safetensors file is: the caller asks
 * for the token it expects next. No tree is built and nothing recurses; the strings, unescaped,
 * go one after the other into memory of the caller.
 *
 * The functions that return a status fail with a sentence that gives the byte of the header, what
 * was expected there and what was found.
 */
#ifndef VIT_TENSORS_JSON_SCAN_H
#define VIT_TENSORS_JSON_SCAN_H

#include "vit/base/error.h"

typedef struct vit_scan {
    const unsigned char *start, *at, *end;
    char *strings; /* the next free byte; as many bytes as the text has are enough for all */
    vit_error *error;
} vit_scan;

/* "header byte N: expected EXPECTED, found ...". */
vit_status vit_scan_fail(vit_scan *scan, const char *expected);

/* All functions below skip white space first. */
bool vit_scan_end(vit_scan *scan);
bool vit_scan_take(vit_scan *scan, char c); /* goes past `c` if that is what comes next */

vit_status vit_scan_expect(vit_scan *scan, char c, const char *expected);

/* *text is 0-terminated UTF-8. A string that holds U+0000 is UNSUPPORTED. */
vit_status vit_scan_string(vit_scan *scan, const char **text, const char *expected);

/* An integer without sign, fraction and exponent that fits a size_t. */
vit_status vit_scan_size(vit_scan *scan, size_t *value, const char *expected);

#endif
