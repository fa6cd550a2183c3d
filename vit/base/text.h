/* Text: numbers read and written independently of the locale, strings that grow, nearest names. */
#ifndef VIT_BASE_TEXT_H
#define VIT_BASE_TEXT_H

#include "vit/base/error.h"
#include "vit/base/utf8.h"

/* The whole of `text` as a number; false for anything else: empty, trailing characters, out of
 * range, a sign where none is meant ("-" is meant for doubles only, "+" never), "nan", "inf".
 * Decimal only; no spaces; the point is '.'. A number other than 0 that is too small for a double
 * is out of range, like one that is too large. */
bool vit_parse_u64(const char *text, uint64_t *value);
bool vit_parse_double(const char *text, double *value);

/* The shortest decimal text that reads back as the same double (float); JSON-compatible for finite
 * values: "0.1", "1e-05", "12"; others are "nan", "inf", "-inf". At most 31 characters, here and
 * below. Returns text. */
char *vit_format_double(char text[32], double value);
char *vit_format_float(char text[32], float value);
/* printf's %.*f (decimals 0..20) and %.9g, with a point whatever the locale. A number whose fixed
 * form is too long for `text` is written as by vit_format_double. */
char *vit_format_fixed(char text[32], double value, int decimals);
char *vit_format_g9(char text[32], float value);

/* "[3, 224, 224]" for messages, cut to fit. */
void vit_shape_text(char text[128], const size_t *shape, size_t dims);

/* A string that grows. Start with {0}. After a failed allocation `failed` is set, further calls do
 * nothing, and text may be NULL: check once, at the end. Freed by vit_text_free. */
typedef struct vit_text {
    char *text; /* always 0-terminated once something was added */
    size_t length, capacity;
    bool failed;
} vit_text;

void vit_text_add(vit_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void vit_text_add_bytes(vit_text *t, const char *bytes, size_t size);
/* A JSON string with its quotes; a byte that belongs to no valid UTF-8 becomes U+FFFD. */
void vit_text_add_json(vit_text *t, const char *text);
void vit_text_free(vit_text *t);

/* The name among names[0..count) that `word` most likely meant (edit distance), or NULL when none
 * is near. */
const char *vit_nearest(const char *word, const char *const *names, size_t count);

#endif
