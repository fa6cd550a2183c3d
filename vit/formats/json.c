#include "vit/formats/json.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS 64

static vit_status parse(json_t **out, const char *text, size_t size, size_t flags, const char *name,
                        vit_error *error) {
    json_error_t reason;
    const size_t mark = vit_utf8_mark(text, size); /* RFC 8259 lets readers ignore it */
    text += mark;
    size -= mark;
    *out = json_loadb(text, size, JSON_REJECT_DUPLICATES | flags, &reason);
    if (!*out && json_error_code(&reason) == json_error_out_of_memory)
        return vit_fail_memory(error, name, size);
    if (!*out)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: line %d, column %d: %s", name, reason.line,
                        reason.column, reason.text);
    if (json_is_object(*out)) return VIT_OK;
    json_decref(*out);
    *out = NULL;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: expected a JSON object, {...}", name);
}

vit_status vit_json_parse(json_t **out, const char *text, size_t size, const char *name,
                          vit_error *error) {
    return parse(out, text, size, 0, name, error);
}

vit_status vit_json_parse_reals(json_t **out, const char *text, size_t size, const char *name,
                                vit_error *error) {
    return parse(out, text, size, JSON_DECODE_INT_AS_REAL, name, error);
}

/* Names that other programs use for our keys. */
static const char *const other_names[][2] = {
    {"learning_rate", "lr"},
    {"learningrate", "lr"},
    {"base_lr", "lr"},
    {"max_lr", "lr"},
    {"patch_size", "patch"},
    {"batch_size", "batch"},
    {"embed_dim", "dim"},
    {"hidden_size", "dim"},
    {"num_heads", "heads"},
    {"num_attention_heads", "heads"},
    {"num_layers", "depth"},
    {"layers", "depth"},
    {"num_hidden_layers", "depth"},
    {"mlp_dim", "mlp"},
    {"mlp_ratio", "mlp"},
    {"hidden_dim", "mlp"},
    {"intermediate_size", "mlp"},
    {"num_classes", "classes"},
    {"num_labels", "classes"},
    {"img_size", "image"},
    {"image_size", "image"},
    {"in_chans", "channels"},
    {"num_channels", "channels"},
    {"wd", "weight_decay"},
    {"num_epochs", "epochs"},
    {"warmup_ratio", "warmup"},
    {"warmup_epochs", "warmup"},
    {"warmup_steps", "warmup"},
    {"opt", "optimizer"},
    {"optim", "optimizer"},
    {"sched", "schedule"},
    {"lr_scheduler", "schedule"},
    {"mixup_alpha", "mixup"},
    {"cutmix_alpha", "cutmix"},
    {"reprob", "erase"},
    {"random_erasing", "erase"},
    {"drop_path_rate", "drop_path"},
    {"stochastic_depth", "drop_path"},
    {"max_grad_norm", "clip"},
    {"smoothing", "label_smoothing"},
    {"clip_grad", "clip"},
    {"hidden_act", "activation"},
    {"layer_norm_eps", "norm_eps"},
    {"global_pool", "pool"},
    {"reg_tokens", "registers"},
    {"num_register_tokens", "registers"},
    {"act", "activation"},
    {"act_layer", "activation"},
    {"norm_layer", "norm"},
    {"pooling", "pool"},
    {"pos", "positions"},
    {"pos_embed", "positions"},
    {"position_embedding", "positions"},
    {"accumulation_steps", "accumulate"},
};

static const char *find_key(const char *key, const char *const *keys, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(keys[k], key) == 0) return keys[k];
    return NULL;
}

const char *vit_json_known_key(const char *key, const char *const *keys, size_t count) {
    const char *known = find_key(key, keys, count);
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names && !known; i++)
        if (strcmp(key, other_names[i][0]) == 0) known = find_key(other_names[i][1], keys, count);
    return known;
}

const char *vit_json_nearest_key(const char *key, const char *const *keys, size_t count) {
    const char *known = vit_json_known_key(key, keys, count);
    return known ? known : vit_nearest(key, keys, count);
}

static vit_status unknown_key(const char *key, const vit_field *fields, size_t count,
                              const char *name, vit_error *error) {
    const char *keys[MAX_FIELDS];
    for (size_t i = 0; i < count; i++) keys[i] = fields[i].key;
    const char *near = vit_json_nearest_key(key, keys, count);
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: unknown key \"%s\"%s%s%s", name, key,
                    near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static vit_status wrong_type(const vit_field *field, const char *expected, const json_t *value,
                             const char *name, vit_error *error) {
    char *found = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    const vit_status status =
        vit_fail(error, VIT_ERROR_FORMAT, "%s: \"%s\" must be %s, not %.60s%s", name, field->key,
                 expected, found ? found : "this", found && strlen(found) > 60 ? "..." : "");
    free(found);
    return status;
}

static vit_status read_enum(const vit_field *field, const json_t *value, const char *name,
                            vit_error *error) {
    const char *word = json_string_value(value);
    char expected[256] = "one of";
    for (int i = 0; field->names[i]; i++) {
        if (word && strcmp(word, field->names[i]) == 0) {
            *(int *)field->value = i;
            return VIT_OK;
        }
        const size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s \"%s\"", i ? "," : "",
                 field->names[i]);
    }
    return wrong_type(field, expected, value, name, error);
}

static vit_status read_field(const vit_field *field, const json_t *value, const char *name,
                             vit_error *error) {
    const json_int_t largest = (json_int_t)1 << 53;
    switch (field->kind) {
    case VIT_FIELD_SIZE: {
        const json_int_t n = json_integer_value(value);
        if (!json_is_integer(value) || n < 0 || n > largest || (uint64_t)n > SIZE_MAX)
            return wrong_type(field, "a whole number, 0 or more", value, name, error);
        *(size_t *)field->value = (size_t)n;
        return VIT_OK;
    }
    case VIT_FIELD_DOUBLE:
        if (!json_is_number(value) || !isfinite(json_number_value(value)))
            return wrong_type(field, "a number", value, name, error);
        *(double *)field->value = json_number_value(value);
        return VIT_OK;
    case VIT_FIELD_BOOL:
        if (!json_is_boolean(value)) return wrong_type(field, "true or false", value, name, error);
        *(bool *)field->value = json_is_true(value);
        return VIT_OK;
    case VIT_FIELD_ENUM:
        return read_enum(field, value, name, error);
    case VIT_FIELD_OTHER:
        break;
    }
    return VIT_OK;
}

vit_status vit_json_read(json_t *object, const vit_field *fields, size_t count, const char *name,
                         vit_error *error) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        size_t i = 0;
        while (i < count && strcmp(fields[i].key, key) != 0) i++;
        if (i == count) return unknown_key(key, fields, count, name, error);
        const vit_status status = read_field(&fields[i], value, name, error);
        if (status != VIT_OK) return status;
    }
    return VIT_OK;
}

vit_status vit_json_strings(char ***out, size_t *count, const json_t *array, const char *name,
                            vit_error *error) {
    size_t bytes = 0, n = json_array_size(array);
    *out = NULL;
    *count = 0;
    if (!json_is_array(array))
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: expected a list of strings, [\"...\"]", name);
    for (size_t i = 0; i < n; i++) {
        if (!json_is_string(json_array_get(array, i)))
            return vit_fail(error, VIT_ERROR_FORMAT, "%s: entry %zu must be a string", name, i);
        bytes += json_string_length(json_array_get(array, i)) + 1;
    }
    char **strings = vit_alloc(1, n * sizeof *strings + bytes);
    if (!strings) return vit_fail_memory(error, name, n * sizeof *strings + bytes);
    char *text = (char *)(strings + n);
    for (size_t i = 0; i < n; i++) {
        const json_t *string = json_array_get(array, i);
        strings[i] = memcpy(text, json_string_value(string), json_string_length(string) + 1);
        text += json_string_length(string) + 1;
    }
    *out = strings;
    *count = n;
    return VIT_OK;
}
