/* Writing JSON, one object a line:
 *
 *     vit_json_out json = {0};
 *     vit_json_open(&json, NULL, '{');
 *     vit_json_text(&json, "file", path);
 *     vit_json_open(&json, "logits", '[');
 *     vit_json_g9(&json, NULL, logits[0]);
 *     vit_json_close(&json, ']');
 *     vit_json_close(&json, '}');
 *     if (!vit_json_end_line(&json, stdout)) ...
 *
 * `key` is NULL inside an array. NaN and infinities, which JSON does not have, become null.
 */
#ifndef VIT_CLI_PARTS_JSON_OUT_H
#define VIT_CLI_PARTS_JSON_OUT_H

#include <stdio.h>

#include "vit/base/text.h"

typedef struct vit_json_out {
    vit_string line;
    bool comma; /* the next value needs one before it */
} vit_json_out;

/* bracket: '{' or '[', and '}' or ']'. */
void vit_json_open(vit_json_out *json, const char *key, char bracket);
void vit_json_close(vit_json_out *json, char bracket);
void vit_json_text(vit_json_out *json, const char *key, const char *text); /* NULL: null */
void vit_json_count(vit_json_out *json, const char *key, uint64_t count);
void vit_json_bool(vit_json_out *json, const char *key, bool value);
void vit_json_number(vit_json_out *json, const char *key,
                     double number);                                    /* shortest exact digits */
void vit_json_float(vit_json_out *json, const char *key, float number); /* the same for a float */
void vit_json_g9(vit_json_out *json, const char *key, float number);    /* 9 digits, %.9g */
void vit_json_raw(vit_json_out *json, const char *key, const char *value); /* which is JSON */

/* Ends the line, writes and flushes it, and frees it; false if it could not be written, or there
 * was no memory. */
bool vit_json_end_line(vit_json_out *json, FILE *stream);

#endif
