/* Writing JSON:
 *
 *     vit_json_out json = {0};
 *     vit_json_open(&json, NULL, '{');
 *     vit_json_text(&json, "file", path);
 *     vit_json_open(&json, "logits", '[');
 *     vit_json_g9(&json, NULL, logits[0]);
 *     vit_json_close(&json, ']');
 *     vit_json_close(&json, '}');
 *     char *text = vit_json_take(&json);
 *
 * `key` is NULL inside an array. NaN and infinities, which JSON does not have, become null. It is
 * one line, `{"file": "a.png", "logits": [1, 2]}`; `compact` leaves the spaces out; what is opened
 * by vit_json_open_lines has each of its values on a line of its own, indented by 2. */
#ifndef VIT_FORMATS_JSON_OUT_H
#define VIT_FORMATS_JSON_OUT_H

#include "vit/base/text.h"

typedef struct vit_json_out {
    vit_string text;
    bool compact;
    bool comma;          /* the next value needs one before it */
    size_t lines, inner; /* how many are open with lines of their own; within them, on one line */
} vit_json_out;

/* bracket: '{' or '[', and '}' or ']'. */
void vit_json_open(vit_json_out *json, const char *key, char bracket);
void vit_json_open_lines(vit_json_out *json, const char *key, char bracket);
void vit_json_close(vit_json_out *json, char bracket);

void vit_json_text(vit_json_out *json, const char *key, const char *text); /* NULL: null */
void vit_json_count(vit_json_out *json, const char *key, uint64_t count);
void vit_json_bool(vit_json_out *json, const char *key, bool value);
/* The shortest digits that read back as the same number; for a float; and 9 digits, %.9g. */
void vit_json_number(vit_json_out *json, const char *key, double number);
void vit_json_float(vit_json_out *json, const char *key, float number);
void vit_json_g9(vit_json_out *json, const char *key, float number);
/* %.*f */
void vit_json_fixed(vit_json_out *json, const char *key, double number, int decimals);
/* value: JSON, or NULL if there was no memory for it. */
void vit_json_raw(vit_json_out *json, const char *key, const char *value);
/* Bytes as a string in base64. */
void vit_json_base64(vit_json_out *json, const char *key, const void *bytes, size_t size);

/* Arrays on one line. */
void vit_json_counts(vit_json_out *json, const char *key, const size_t *counts, size_t n);
void vit_json_numbers(vit_json_out *json, const char *key, const double *numbers, size_t n);
void vit_json_floats(vit_json_out *json, const char *key, const float *numbers, size_t n);
void vit_json_g9s(vit_json_out *json, const char *key, const float *numbers, size_t n);
void vit_json_texts(vit_json_out *json, const char *key, const char *const *texts, size_t n);

/* The text, freed by vit_free; NULL: there was no memory. *json is empty then. */
char *vit_json_take(vit_json_out *json);

#endif
