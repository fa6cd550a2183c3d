#include "vit/formats/json_out.h"
#include "vit/formats/base64.h"

#include <math.h>

static void start_line(vit_json_out *json) {
    vit_string_add(&json->text, "\n%*s", (int)(2 * json->lines), "");
}

static void add_key(vit_json_out *json, const char *key) {
    const bool has_line = json->lines > 0 && json->inner == 0;
    if (json->comma) vit_string_add(&json->text, json->compact || has_line ? "," : ", ");
    if (has_line) start_line(json);
    if (key) {
        vit_string_add_json(&json->text, key);
        vit_string_add(&json->text, json->compact ? ":" : ": ");
    }
    json->comma = true;
}

void vit_json_open(vit_json_out *json, const char *key, char bracket) {
    add_key(json, key);
    vit_string_add_bytes(&json->text, &bracket, 1);
    json->comma = false;
    json->inner++;
}

void vit_json_open_lines(vit_json_out *json, const char *key, char bracket) {
    vit_json_open(json, key, bracket);
    if (json->inner > 1) return;
    json->inner = 0;
    json->lines++;
}

void vit_json_close(vit_json_out *json, char bracket) {
    if (json->inner > 0) {
        json->inner--;
    } else {
        json->lines--;
        if (json->comma) start_line(json);
    }
    vit_string_add_bytes(&json->text, &bracket, 1);
    json->comma = true;
}

void vit_json_raw(vit_json_out *json, const char *key, const char *value) {
    add_key(json, key);
    if (value)
        vit_string_add(&json->text, "%s", value);
    else
        json->text.failed = true;
}

void vit_json_text(vit_json_out *json, const char *key, const char *text) {
    if (!text) {
        vit_json_raw(json, key, "null");
        return;
    }
    add_key(json, key);
    vit_string_add_json(&json->text, text);
}

void vit_json_count(vit_json_out *json, const char *key, uint64_t count) {
    add_key(json, key);
    vit_string_add(&json->text, "%llu", (unsigned long long)count);
}

void vit_json_bool(vit_json_out *json, const char *key, bool value) {
    vit_json_raw(json, key, value ? "true" : "false");
}

void vit_json_number(vit_json_out *json, const char *key, double number) {
    char text[32];
    vit_json_raw(json, key, isfinite(number) ? vit_format_double(text, number) : "null");
}

void vit_json_float(vit_json_out *json, const char *key, float number) {
    char text[32];
    vit_json_raw(json, key, isfinite(number) ? vit_format_float(text, number) : "null");
}

void vit_json_g9(vit_json_out *json, const char *key, float number) {
    char text[32];
    vit_json_raw(json, key, isfinite(number) ? vit_format_g9(text, number) : "null");
}

void vit_json_fixed(vit_json_out *json, const char *key, double number, int decimals) {
    char text[32];
    vit_json_raw(json, key, isfinite(number) ? vit_format_fixed(text, number, decimals) : "null");
}

void vit_json_base64(vit_json_out *json, const char *key, const void *bytes, size_t size) {
    vit_json_raw(json, key, "\"");
    vit_string_add_base64(&json->text, bytes, size);
    vit_string_add_bytes(&json->text, "\"", 1);
}

void vit_json_counts(vit_json_out *json, const char *key, const size_t *counts, size_t n) {
    vit_json_open(json, key, '[');
    for (size_t i = 0; i < n; i++) vit_json_count(json, NULL, counts[i]);
    vit_json_close(json, ']');
}

void vit_json_numbers(vit_json_out *json, const char *key, const double *numbers, size_t n) {
    vit_json_open(json, key, '[');
    for (size_t i = 0; i < n; i++) vit_json_number(json, NULL, numbers[i]);
    vit_json_close(json, ']');
}

void vit_json_floats(vit_json_out *json, const char *key, const float *numbers, size_t n) {
    vit_json_open(json, key, '[');
    for (size_t i = 0; i < n; i++) vit_json_float(json, NULL, numbers[i]);
    vit_json_close(json, ']');
}

void vit_json_g9s(vit_json_out *json, const char *key, const float *numbers, size_t n) {
    vit_json_open(json, key, '[');
    for (size_t i = 0; i < n; i++) vit_json_g9(json, NULL, numbers[i]);
    vit_json_close(json, ']');
}

void vit_json_texts(vit_json_out *json, const char *key, const char *const *texts, size_t n) {
    vit_json_open(json, key, '[');
    for (size_t i = 0; i < n; i++) vit_json_text(json, NULL, texts[i]);
    vit_json_close(json, ']');
}

char *vit_json_take(vit_json_out *json) {
    if (json->text.failed) vit_string_free(&json->text);
    char *text = json->text.text;
    *json = (vit_json_out){.compact = json->compact};
    return text;
}
