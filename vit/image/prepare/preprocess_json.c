#include "vit/base/size.h"
#include "vit/base/text.h"
#include "vit/formats/json_out.h"
#include "vit/image/prepare/preprocess.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_KEYS = 8 };

/* The operations and the keys that each may have. */
static const struct {
    const char *name;
    const char *keys[MAX_KEYS]; /* the rest is NULL */
} known[] = {
    [VIT_OP_GREY] = {"grey", {"op"}},
    [VIT_OP_RGB] = {"rgb", {"op"}},
    [VIT_OP_RESIZE] = {"resize",
                       {"op", "height", "width", "shorter", "fit", "filter", "arithmetic",
                        "crop_share"}},
    [VIT_OP_CENTER_CROP] = {"center_crop", {"op", "height", "width", "rounding", "background"}},
    [VIT_OP_CROP] = {"crop", {"op", "height", "width"}},
    [VIT_OP_ORIENT] = {"orient", {"op"}},
    [VIT_OP_COMPOSITE] = {"composite", {"op", "background"}},
    [VIT_OP_DIGIT] = {"digit", {"op"}},
    [VIT_OP_NORMALIZE] = {"normalize", {"op", "mean", "std", "rescale", "fused"}},
};
enum { KNOWN = sizeof known / sizeof *known };

static const char *const fits[] = {"stretch", "cover", "contain", NULL};
static const char *const roundings[] = {"even", "zero", "floor", NULL};
VIT_CHECK_ROWS(fits, VIT_FIT_COUNT + 1);
VIT_CHECK_ROWS(roundings, VIT_ROUNDING_COUNT + 1);

/* The operation that is being read. */
typedef struct reader {
    const json_t *json;
    const char *name; /* for messages: of the text, */
    size_t index;     /* of the operation in the list, */
    const char *op;   /* and its name, "?" while it is unknown */
    vit_error *error;
} reader;

/* Fails with "NAME: operation 2 (resize): WHAT". */
static vit_status __attribute__((format(printf, 2, 3)))
refuse(const reader *r, const char *format, ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return vit_fail(r->error, VIT_ERROR_FORMAT, "%s: operation %zu (%s): %s", r->name, r->index + 1,
                    r->op, what);
}

/* Fails for an unknown word; the message has the nearest of the known names, or all of them. */
static vit_status refuse_word(const reader *r, const char *kind, const char *word,
                              const char *const *names, size_t count) {
    const char *nearest = vit_nearest(word, names, count);
    vit_string list = {0};
    for (size_t i = 0; i < count && !nearest; i++)
        vit_string_add(&list, "%s%s", i ? ", " : "known: ", names[i]);
    const vit_status status =
        refuse(r, "unknown %s \"%.40s\"; %s%s", kind, word, nearest ? "did you mean " : "",
               nearest     ? nearest
               : list.text ? list.text
                           : "");
    vit_string_free(&list);
    return status;
}

static vit_status read_kind(reader *r, vit_operation_kind *kind) {
    const char *names[KNOWN];
    const char *word = json_string_value(json_object_get(r->json, "op"));
    if (!json_is_object(r->json)) return refuse(r, "expected an object such as {\"op\": \"rgb\"}");
    if (!word) return refuse(r, "\"op\" is missing or not a string");
    for (size_t i = 0; i < KNOWN; i++) {
        names[i] = known[i].name;
        if (strcmp(word, names[i]) != 0) continue;
        *kind = (vit_operation_kind)i;
        r->op = names[i];
        return VIT_OK;
    }
    return refuse_word(r, "operation", word, names, KNOWN);
}

static vit_status check_keys(const reader *r, vit_operation_kind kind) {
    const char *const *keys = known[kind].keys;
    const char *key;
    json_t *value;
    size_t count = 0;
    while (count < MAX_KEYS && keys[count]) count++;
    json_object_foreach((json_t *)r->json, key, value) {
        size_t i = 0;
        while (i < count && strcmp(key, keys[i]) != 0) i++;
        if (i == count) return refuse_word(r, "key", key, keys, count);
    }
    return VIT_OK;
}

static vit_status read_size(const reader *r, const char *key, size_t *size) {
    const json_t *value = json_object_get(r->json, key);
    json_int_t number = json_integer_value(value);
    if (!value || number < 1 || number > (json_int_t)VIT_IMAGE_MAX_SIDE)
        return refuse(r, "\"%s\" is %s, expected an integer from 1 to %zu", key,
                      value ? "something else" : "missing", VIT_IMAGE_MAX_SIDE);
    *size = (size_t)number;
    return VIT_OK;
}

static vit_status read_sides(const reader *r, vit_operation *op) {
    const vit_status status = read_size(r, "height", &op->height);
    return status == VIT_OK ? read_size(r, "width", &op->width) : status;
}

/* *index = that of the value among `names`, which end with NULL; unchanged if the key is missing.
 */
static vit_status read_choice(const reader *r, const char *key, const char *const *names,
                              int *index) {
    const json_t *value = json_object_get(r->json, key);
    const char *word = json_string_value(value);
    size_t count = 0;
    if (!value) return VIT_OK;
    for (; names[count]; count++) {
        if (!word || strcmp(word, names[count]) != 0) continue;
        *index = (int)count;
        return VIT_OK;
    }
    return refuse_word(r, key, word ? word : "", names, count);
}

/* *number = a number greater than 0 and at most `most`; unchanged if the key is missing. */
static vit_status read_positive(const reader *r, const char *key, double most, double *number) {
    const json_t *value = json_object_get(r->json, key);
    const double found = json_number_value(value);
    if (!value) return VIT_OK;
    if (!(found > 0 && found <= most))
        return refuse(r, "\"%s\" must be a number greater than 0 and at most %g", key, most);
    *number = found;
    return VIT_OK;
}

static vit_status read_target(const reader *r, vit_operation *op) {
    bool has_shorter = json_object_get(r->json, "shorter");
    bool has_size = json_object_get(r->json, "height") || json_object_get(r->json, "width");
    if (has_shorter == has_size)
        return refuse(r, "expected either \"shorter\" or \"height\" and \"width\"");
    if (has_shorter && json_object_get(r->json, "fit"))
        return refuse(r, "\"fit\" goes with \"height\" and \"width\", not with \"shorter\"");
    if (has_shorter) return read_size(r, "shorter", &op->shorter);
    return read_sides(r, op);
}

static vit_status read_resize(const reader *r, vit_operation *op) {
    int fit = 0, filter = 0, arithmetic = 0;
    vit_status status = read_target(r, op);
    if (status == VIT_OK) status = read_choice(r, "fit", fits, &fit);
    if (status == VIT_OK && !json_string_value(json_object_get(r->json, "filter")))
        status = refuse(r, "\"filter\" is missing or not a string");
    if (status == VIT_OK) status = read_choice(r, "filter", vit_filter_names, &filter);
    if (status == VIT_OK) status = read_choice(r, "arithmetic", vit_arithmetic_names, &arithmetic);
    if (status == VIT_OK) status = read_positive(r, "crop_share", 16, &op->crop_share);
    op->fit = (vit_fit)fit;
    op->filter = (vit_filter)filter;
    op->arithmetic = (vit_arithmetic)arithmetic;
    return status;
}

/* Reads one number for all channels, or three. */
static vit_status read_triple(const reader *r, const char *key, float triple[3]) {
    const json_t *array = json_object_get(r->json, key);
    size_t count = json_array_size(array);
    if (count != 1 && count != 3)
        return refuse(r, "\"%s\" must be an array of 1 or 3 numbers", key);
    for (size_t i = 0; i < 3; i++) {
        const json_t *value = json_array_get(array, count == 1 ? 0 : i);
        triple[i] = (float)json_number_value(value);
        if (!json_is_number(value) || !isfinite(triple[i]))
            return refuse(r, "\"%s\" holds something that is not a finite number", key);
    }
    return VIT_OK;
}

static vit_status read_normalize(const reader *r, vit_operation *op) {
    vit_status status = read_triple(r, "mean", op->mean);
    if (status == VIT_OK) status = read_triple(r, "std", op->std);
    for (int i = 0; status == VIT_OK && i < 3; i++)
        if (!(op->std[i] > 0)) status = refuse(r, "\"std\" must be greater than 0");
    const json_t *fused = json_object_get(r->json, "fused");
    op->fused = json_is_true(fused);
    if (status == VIT_OK) status = read_positive(r, "rescale", 1e6, &op->rescale);
    if (status == VIT_OK && fused && (!json_is_boolean(fused) || op->rescale == 0))
        status = refuse(r, "\"fused\" is true or false, and goes with \"rescale\"");
    return status;
}

static vit_status read_background(const reader *r, vit_operation *op) {
    const json_t *array = json_object_get(r->json, "background");
    bool is_valid = json_array_size(array) == 3;
    for (size_t i = 0; is_valid && i < 3; i++) {
        const json_t *value = json_array_get(array, i);
        const json_int_t level = json_integer_value(value);
        is_valid = json_is_integer(value) && level >= 0 && level <= 255;
        op->background[i] = (uint8_t)level;
    }
    if (is_valid) return VIT_OK;
    return refuse(r, "\"background\" must be an array of 3 integers from 0 to 255");
}

static vit_status read_operation(reader *r, vit_operation *op) {
    int rounding = 0;
    vit_status status = read_kind(r, &op->kind);
    if (status == VIT_OK) status = check_keys(r, op->kind);
    if (status != VIT_OK) return status;
    switch (op->kind) {
    case VIT_OP_GREY:
    case VIT_OP_RGB:
    case VIT_OP_ORIENT:
    case VIT_OP_DIGIT:
        return VIT_OK;
    case VIT_OP_COMPOSITE:
        return read_background(r, op);
    case VIT_OP_RESIZE:
        return read_resize(r, op);
    case VIT_OP_CENTER_CROP:
        status = read_sides(r, op);
        if (status == VIT_OK) status = read_choice(r, "rounding", roundings, &rounding);
        op->rounding = (vit_rounding)rounding;
        if (status == VIT_OK && json_object_get(r->json, "background"))
            status = read_background(r, op);
        return status;
    case VIT_OP_CROP:
        return read_sides(r, op);
    case VIT_OP_NORMALIZE:
        return read_normalize(r, op);
    }
    return VIT_OK;
}

static vit_status read_list(vit_preprocessing *out, const json_t *list, const char *name,
                            vit_error *error) {
    size_t count = json_array_size(list);
    if (count < 1 || count > VIT_MAX_OPERATIONS)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: preprocessing must be an array of 1 to %d operations", name,
                        VIT_MAX_OPERATIONS);
    for (size_t i = 0; i < count; i++) {
        reader r = {
            .name = name, .index = i, .op = "?", .json = json_array_get(list, i), .error = error};
        vit_operation *op = &out->operations[i];
        vit_status status = read_operation(&r, op);
        if (status != VIT_OK) return status;
        if ((op->kind == VIT_OP_NORMALIZE) != (i == count - 1))
            return refuse(&r, "\"normalize\" must be the last operation, and only that");
    }
    out->count = count;
    return VIT_OK;
}

vit_status vit_preprocessing_read(vit_preprocessing *out, const char *json, const char *name,
                                  vit_error *error) {
    json_error_t reason;
    *out = (vit_preprocessing){0};
    json_t *list = json_loads(json, JSON_REJECT_DUPLICATES, &reason);
    if (!list)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: not valid JSON: line %d: %s", name,
                        reason.line, reason.text);
    vit_status status = read_list(out, list, name, error);
    if (status != VIT_OK) *out = (vit_preprocessing){0};
    json_decref(list);
    return status;
}

static void write_triple(vit_json_out *json, const char *key, const float triple[3]) {
    vit_json_floats(json, key, triple, triple[0] == triple[1] && triple[1] == triple[2] ? 1 : 3);
}

static void write_sides(vit_json_out *json, const vit_operation *op) {
    vit_json_count(json, "height", op->height);
    vit_json_count(json, "width", op->width);
}

static void write_resize(vit_json_out *json, const vit_operation *op) {
    if (op->shorter) {
        vit_json_count(json, "shorter", op->shorter);
    } else {
        write_sides(json, op);
        if (op->fit != VIT_FIT_STRETCH) vit_json_text(json, "fit", fits[op->fit]);
    }
    vit_json_text(json, "filter", vit_filter_names[op->filter]);
    if (op->arithmetic != VIT_ARITHMETIC_PILLOW)
        vit_json_text(json, "arithmetic", vit_arithmetic_names[op->arithmetic]);
    if (op->crop_share > 0) vit_json_number(json, "crop_share", op->crop_share);
}

static void write_background(vit_json_out *json, const vit_operation *op) {
    const uint8_t *b = op->background;
    vit_json_counts(json, "background", (const size_t[]){b[0], b[1], b[2]}, 3);
}

static void write_operation(vit_json_out *json, const vit_operation *op) {
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "op", known[op->kind].name);
    switch (op->kind) {
    case VIT_OP_GREY:
    case VIT_OP_RGB:
    case VIT_OP_ORIENT:
    case VIT_OP_DIGIT:
        break;
    case VIT_OP_RESIZE:
        write_resize(json, op);
        break;
    case VIT_OP_CENTER_CROP:
        write_sides(json, op);
        if (op->rounding != VIT_ROUNDING_EVEN)
            vit_json_text(json, "rounding", roundings[op->rounding]);
        if (op->background[0] || op->background[1] || op->background[2]) write_background(json, op);
        break;
    case VIT_OP_CROP:
        write_sides(json, op);
        break;
    case VIT_OP_COMPOSITE:
        write_background(json, op);
        break;
    case VIT_OP_NORMALIZE:
        write_triple(json, "mean", op->mean);
        write_triple(json, "std", op->std);
        if (op->rescale > 0) vit_json_number(json, "rescale", op->rescale);
        if (op->fused) vit_json_bool(json, "fused", true);
        break;
    }
    vit_json_close(json, '}');
}

char *vit_preprocessing_write(const vit_preprocessing *p) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '[');
    for (size_t i = 0; i < p->count; i++) write_operation(&json, &p->operations[i]);
    vit_json_close(&json, ']');
    return vit_json_take(&json);
}
