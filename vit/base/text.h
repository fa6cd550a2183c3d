/* Text: numbers read and written independently of the locale, strings that grow, nearest names. */
#ifndef VIT_BASE_TEXT_H
#define VIT_BASE_TEXT_H

#include "vit/base/error.h"
#include "vit/base/utf8.h"

/* *value = the number that all of the text is: decimal, without spaces, with '.' as the point; "-"
 * is allowed for doubles only, "+" is not. False for anything else: empty, trailing characters, out
 * of range, "nan", "inf". A number other than 0 that is too small for a double is out of range,
 * like one that is too large. */
bool vit_parse_u64(const char *text, uint64_t *value);
bool vit_parse_double(const char *text, double *value);

/* text = the shortest decimal that reads back as the same double (float), valid JSON if the value
 * is finite: "0.1", "1e-05", "12"; otherwise "nan", "inf", "-inf". At most 31 characters, here and
 * below. Returns text. */
char *vit_format_double(char text[32], double value);
char *vit_format_float(char text[32], float value);

/* As printf's %.*f (decimals 0..20) and %.9g, with '.' in any locale. A number whose fixed form is
 * too long for `text` is written as by vit_format_double. */
char *vit_format_fixed(char text[32], double value, int decimals);
char *vit_format_g9(char text[32], float value);

/* text = "[3, 224, 224]", for messages, cut to fit. */
void vit_shape_text(char text[128], const size_t *shape, size_t dims);

/* A string that grows; begins as {0}, freed by vit_string_free. After a failed allocation `failed`
 * is set, text may be NULL, and further calls do nothing, so that one check at the end is enough.
 */
typedef struct vit_string {
    char *text; /* 0-terminated after the first addition */
    size_t length, capacity;
    bool failed;
} vit_string;

void vit_string_add(vit_string *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void vit_string_add_bytes(vit_string *t, const char *bytes, size_t size);
/* Appends a JSON string with its quotes; bytes that are not valid UTF-8 become U+FFFD. */
void vit_string_add_json(vit_string *t, const char *text);
void vit_string_free(vit_string *t);

/* Whether `name` ends so, with something before that: "a.png" has the ending ".png". */
bool vit_has_ending(const char *name, const char *ending);
/* The length of the name without that ending; all of it if it has another. */
size_t vit_stem_length(const char *name, const char *ending);

/* The name among names[0..count) that is most similar to `word`, by edit distance; NULL if none is
 * near. */
const char *vit_nearest(const char *word, const char *const *names, size_t count);

#endif
