/* Reading single values of configs: a value of a wrong type is an error, never ignored. */
#include "vit/weights/configs/their_config.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/label_list.h"
#include <stdio.h>
#include <string.h>

void vit_their_config_init(vit_their_config *out, const char *name) {
    *out =
        (vit_their_config){.name = name, .gate = VIT_UNSPECIFIED, .position_rule = VIT_UNSPECIFIED};
}

void vit_their_config_clear(vit_their_config *d) {
    vit_free(d->labels);
    d->labels = NULL;
}

/* ---- single values ---- */

json_t *vit_json_given(const json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

bool vit_json_is_off(const json_t *value) {
    return json_typeof(value) == JSON_NULL || json_typeof(value) == JSON_FALSE;
}

static vit_status wrong(const vit_their_config *d, const char *key, const char *expected,
                        vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: \"%s\" must be %s", d->name, key, expected);
}

vit_status vit_read_object(json_t **found, const vit_their_config *d, const json_t *object,
                           const char *key, vit_error *error) {
    json_t *value = vit_json_given(object, key);
    if (!value) return VIT_OK;
    if (!json_is_object(value)) return wrong(d, key, "an object, {...}", error);
    *found = value;
    return VIT_OK;
}

static bool to_size(size_t *size, const json_t *value) {
    const json_int_t n = json_integer_value(value);
    if (!json_is_integer(value) || n < 0 || n > 1000000000) return false;
    *size = (size_t)n;
    return true;
}

vit_status vit_read_size(size_t *size, const vit_their_config *d, const json_t *object,
                         const char *key, vit_error *error) {
    const json_t *value = vit_json_given(object, key);
    if (!value || to_size(size, value)) return VIT_OK;
    return wrong(d, key, "a whole number, 0 or more", error);
}

vit_status vit_read_number(double *number, const vit_their_config *d, const json_t *object,
                           const char *key, vit_error *error) {
    const json_t *value = vit_json_given(object, key);
    if (!value) return VIT_OK;
    if (!json_is_number(value)) return wrong(d, key, "a number", error);
    *number = json_number_value(value);
    return VIT_OK;
}

vit_status vit_read_flag(int *flag, const vit_their_config *d, const json_t *object,
                         const char *key, vit_error *error) {
    const json_t *value = vit_json_given(object, key);
    if (!value) return VIT_OK;
    if (!json_is_boolean(value)) return wrong(d, key, "true or false", error);
    *flag = json_is_true(value);
    return VIT_OK;
}

vit_status vit_read_text(const char **text, const vit_their_config *d, const json_t *object,
                         const char *key, vit_error *error) {
    const json_t *value = vit_json_given(object, key);
    if (!value) return VIT_OK;
    if (!json_is_string(value)) return wrong(d, key, "a string", error);
    *text = json_string_value(value);
    return VIT_OK;
}

vit_status vit_read_keys(const vit_their_key *keys, size_t count, const vit_their_config *d,
                         const json_t *object, vit_error *error) {
    vit_status status = VIT_OK;
    for (const vit_their_key *k = keys; k < keys + count && status == VIT_OK; k++)
        status = k->size     ? vit_read_size(k->size, d, object, k->key, error)
                 : k->number ? vit_read_number(k->number, d, object, k->key, error)
                 : k->flag   ? vit_read_flag(k->flag, d, object, k->key, error)
                             : vit_read_text(k->text, d, object, k->key, error);
    return status;
}

vit_status vit_read_switch(vit_their_config *d, const vit_switch *row, const json_t *object,
                           const char *theirs, vit_error *error) {
    const bool contrary = theirs[0] == '!';
    const char *key = theirs + contrary;
    double value = vit_switch_get(row, &d->said);
    size_t size = (size_t)value;
    int flag = value > 0;
    vit_status status = VIT_OK;
    if (!vit_json_given(object, key)) return VIT_OK;
    if (row->kind == VIT_FIELD_SIZE)
        status = vit_read_size(&size, d, object, key, error);
    else if (row->kind == VIT_FIELD_BOOL)
        status = vit_read_flag(&flag, d, object, key, error);
    else
        status = vit_read_number(&value, d, object, key, error);
    if (row->kind == VIT_FIELD_SIZE) value = (double)size;
    if (row->kind == VIT_FIELD_BOOL) value = flag != contrary;
    vit_switch_set(row, &d->said, value);
    d->given[row - vit_switches] = row->kind != VIT_FIELD_SIZE || value >= (double)row->low;
    return status;
}

static bool is_called(const char *key, const char *known) {
    const size_t length = strlen(known) - 1;
    return known[length] == '*' ? strncmp(key, known, length) == 0 : strcmp(key, known) == 0;
}

vit_status vit_check_known(const vit_their_config *d, json_t *object, const char *of,
                           const char *const *known, size_t count, vit_error *error) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        size_t i = 0;
        while (i < count && !is_called(key, known[i])) i++;
        if (i < count || vit_json_is_off(value)) continue;
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"%s\" in \"%s\" is not supported",
                        d->name, key, of);
    }
    return VIT_OK;
}

vit_status vit_read_sides(size_t sides[2], const vit_their_config *d, const json_t *object,
                          const char *key, vit_error *error) {
    const json_t *value = vit_json_given(object, key);
    const bool is_pair = json_array_size(value) == 2, is_object = json_is_object(value);
    if (!value) return VIT_OK;
    const json_t *height = is_pair ? json_array_get(value, 0) : value;
    const json_t *width = is_pair ? json_array_get(value, 1) : value;
    if (is_object) {
        height = json_object_get(value, "height");
        width = json_object_get(value, "width");
    }
    if (to_size(&sides[0], height) && to_size(&sides[1], width) && sides[0] > 0 && sides[1] > 0)
        return VIT_OK;
    return wrong(d, key, "a number of pixels, or [height, width]", error);
}

vit_status vit_read_image(vit_their_config *d, const json_t *object, const char *key,
                          vit_error *error) {
    size_t sides[2] = {d->said.height, d->said.width};
    const vit_status status = vit_read_sides(sides, d, object, key, error);
    d->said.height = sides[0];
    d->said.width = sides[1];
    return status;
}

vit_status vit_read_patch(vit_their_config *d, const json_t *object, const char *key,
                          vit_error *error) {
    size_t sides[2] = {d->said.patch, d->said.patch};
    const vit_status status = vit_read_sides(sides, d, object, key, error);
    if (status != VIT_OK) return status;
    if (sides[0] != sides[1])
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s: \"%s\" [%zu, %zu] is not square, which is not supported", d->name, key,
                        sides[0], sides[1]);
    d->said.patch = sides[0];
    return VIT_OK;
}

vit_status vit_read_ratio(vit_their_config *d, const json_t *object, vit_error *error) {
    static const char key[] = "mlp_ratio";
    double ratio = 1;
    const vit_status status = vit_read_number(&ratio, d, object, key, error);
    if (status != VIT_OK || !vit_json_given(object, key)) return status;
    if (!(ratio > 0 && ratio < 1000))
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: \"%s\" is %g, expected above 0 to 1000",
                        d->name, key, ratio);
    /* where the config leaves the features to the tensors, it leaves this, too */
    if (d->said.dim > 0) d->said.mlp = vit_max((size_t)((double)d->said.dim * ratio), 1);
    return VIT_OK;
}

vit_status vit_read_triple(double triple[3], bool *found, const vit_their_config *d,
                           const json_t *object, const char *key, vit_error *error) {
    const json_t *value = vit_json_given(object, key);
    const size_t count = json_array_size(value);
    *found = value;
    if (!value) return VIT_OK;
    for (size_t i = 0; i < 3; i++) {
        const json_t *number =
            json_is_number(value) ? value : json_array_get(value, count == 1 ? 0 : i);
        if (!json_is_number(number) || count == 2 || count > 3)
            return wrong(d, key, "one number, or three", error);
        triple[i] = json_number_value(number);
    }
    return VIT_OK;
}

vit_status vit_find_line(json_t **out, const char *const *lines, const char *name, size_t length,
                         vit_error *error) {
    char key[96];
    *out = NULL;
    if (snprintf(key, sizeof key, "\"%.*s\": ", (int)length, name) >= (int)sizeof key)
        return VIT_OK;
    for (size_t i = 0; lines[i]; i++) {
        const char *line = lines[i];
        if (strncmp(line, key, strlen(key)) != 0) continue;
        line += strlen(key);
        return vit_json_parse(out, line, (size_t)(strrchr(line, '}') + 1 - line),
                              "a list of models", error);
    }
    return VIT_OK;
}

/* ---- labels ---- */

vit_status vit_read_labels(vit_their_config *d, const json_t *labels, const char *key,
                           vit_error *error) {
    if (!labels) return VIT_OK;
    json_t *list = json_is_object(labels) ? vit_label_list_of_object(labels) : NULL;
    if (json_is_object(labels) && !list)
        return wrong(d, key, "a list of names, or {\"0\": name, \"1\": name, ...} without a gap",
                     error);
    vit_free(d->labels);
    d->labels = NULL;
    const vit_status status =
        vit_json_strings(&d->labels, &d->label_count, list ? list : labels, key, error);
    json_decref(list);
    return status == VIT_OK ? status : vit_fail_prefix(error, status, d->name);
}

/* ---- activations ---- */

vit_status vit_read_activation(vit_their_config *d, const char *name, const char *key,
                               vit_error *error) {
    char expected[160] = "";
    if (!name) return VIT_OK;
    for (size_t i = 0; i < VIT_ACTIVATION_COUNT; i++) {
        const vit_activation_row *row = &vit_activations[i];
        const char *const theirs[] = {row->hf, row->timm};
        bool known = false;
        for (size_t k = 0; k < 2; k++) known |= theirs[k] && strcmp(theirs[k], name) == 0;
        for (size_t a = 0; row->aliases[a]; a++) known |= strcmp(row->aliases[a], name) == 0;
        if (known) {
            VIT_SAY(d, activation, row->value);
            return VIT_OK;
        }
        const size_t used = strlen(expected);
        const char *comma = i == 0 ? "" : i + 1 < VIT_ACTIVATION_COUNT ? ", " : " or ";
        snprintf(expected + used, sizeof expected - used, "%s%s", comma,
                 row->timm ? row->timm : row->name);
    }
    return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: \"%s\" \"%s\" is not supported, expected %s",
                    d->name, key, name, expected);
}

/* ---- what a head answers ---- */

vit_status vit_read_problem(vit_their_config *d, const json_t *object, vit_error *error) {
    static const char *const types[] = {"single_label_classification", "multi_label_classification",
                                        "regression"};
    VIT_CHECK_ROWS(types, VIT_SCORING_COUNT);
    const char *type = types[0];
    const vit_status status = vit_read_text(&type, d, object, "problem_type", error);
    if (status != VIT_OK) return status;
    for (int i = 0; i < VIT_SCORING_COUNT; i++) {
        d->scoring = (vit_scoring)i;
        if (strcmp(types[i], type) == 0) return VIT_OK;
    }
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: \"problem_type\" \"%s\" is not supported, expected %s, %s or %s", d->name,
                    type, types[0], types[1], types[2]);
}
