/* A tokeniser for large JSON of a known structure, such as the header of a safetensors file or the
 * vocabulary of a model: the caller asks for the token that must come next. No tree is built and
 * nothing recurses; strings are unescaped one after the other into memory of the caller.
 *
 * Functions that return a status fail with FORMAT and a message that gives the byte, what was
 * expected there and what was found.
 */
#ifndef VIT_FORMATS_JSON_SCAN_H
#define VIT_FORMATS_JSON_SCAN_H

#include "vit/base/error.h"

typedef struct vit_scan {
    const char *what; /* what the JSON is, for messages: "header" */
    const unsigned char *start, *at, *end;
    char *strings; /* the next free byte; the length of the JSON text is enough for all strings */
    vit_error *error;
} vit_scan;

/* Fails with "WHAT byte N: expected EXPECTED, found ...". */
vit_status vit_scan_fail(vit_scan *scan, const char *expected);

/* All functions below skip white space first. */
bool vit_scan_end(vit_scan *scan);          /* whether nothing follows */
bool vit_scan_take(vit_scan *scan, char c); /* goes past c if it comes next */

/* Goes past c; FORMAT if something else comes next. */
vit_status vit_scan_expect(vit_scan *scan, char c, const char *expected);

/* *text is 0-terminated UTF-8. A string that holds U+0000 is UNSUPPORTED. */
vit_status vit_scan_string(vit_scan *scan, const char **text, const char *expected);

/* An integer without sign, fraction and exponent that fits a size_t. */
vit_status vit_scan_size(vit_scan *scan, size_t *value, const char *expected);

/* Any number that is finite as a double. */
vit_status vit_scan_double(vit_scan *scan, double *value, const char *expected);

/* Goes past a value of any kind. Only brackets and strings are looked at, not what is in them. */
vit_status vit_scan_skip(vit_scan *scan);

#endif
