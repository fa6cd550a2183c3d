#include "vit/cli/parts/json_out.h"

#include <math.h>

static void add_key(vit_json_out *json, const char *key) {
    if (json->comma) vit_string_add(&json->line, ", ");
    if (key) {
        vit_string_add_json(&json->line, key);
        vit_string_add(&json->line, ": ");
    }
    json->comma = true;
}

void vit_json_open(vit_json_out *json, const char *key, char bracket) {
    add_key(json, key);
    vit_string_add_bytes(&json->line, &bracket, 1);
    json->comma = false;
}

void vit_json_close(vit_json_out *json, char bracket) {
    vit_string_add_bytes(&json->line, &bracket, 1);
    json->comma = true;
}

void vit_json_text(vit_json_out *json, const char *key, const char *text) {
    add_key(json, key);
    if (!text) {
        vit_string_add(&json->line, "null");
    } else {
        vit_string_add_json(&json->line, text);
    }
}

void vit_json_raw(vit_json_out *json, const char *key, const char *value) {
    add_key(json, key);
    vit_string_add(&json->line, "%s", value);
}

void vit_json_count(vit_json_out *json, const char *key, uint64_t count) {
    add_key(json, key);
    vit_string_add(&json->line, "%llu", (unsigned long long)count);
}

void vit_json_bool(vit_json_out *json, const char *key, bool value) {
    add_key(json, key);
    vit_string_add(&json->line, "%s", value ? "true" : "false");
}

void vit_json_number(vit_json_out *json, const char *key, double number) {
    char text[32];
    add_key(json, key);
    vit_string_add(&json->line, "%s", isfinite(number) ? vit_format_double(text, number) : "null");
}

void vit_json_float(vit_json_out *json, const char *key, float number) {
    char text[32];
    add_key(json, key);
    vit_string_add(&json->line, "%s", isfinite(number) ? vit_format_float(text, number) : "null");
}

void vit_json_g9(vit_json_out *json, const char *key, float number) {
    char text[32];
    add_key(json, key);
    vit_string_add(&json->line, "%s", isfinite(number) ? vit_format_g9(text, number) : "null");
}

bool vit_json_end_line(vit_json_out *json, FILE *stream) {
    vit_string_add(&json->line, "\n");
    bool fine = !json->line.failed;
    fine = fine && fwrite(json->line.text, 1, json->line.length, stream) == json->line.length;
    fine = fflush(stream) == 0 && fine;
    vit_string_free(&json->line);
    json->comma = false;
    return fine;
}
