#include "vit/cli/parts/map_words.h"

#include <string.h>

#include "vit/base/size.h"
#include "vit/base/text.h"

extern const char *const vit_fuse_names[]; /* vit/explain/maps.c */

vit_status vit_map_read_method(vit_method *out, const char *option, const char *word,
                               vit_error *error) {
    const char *names[VIT_METHOD_COUNT];
    for (size_t i = 0; i < VIT_METHOD_COUNT; i++) {
        names[i] = vit_method_name((vit_method)i);
        *out = (vit_method)i;
        if (strcmp(word, names[i]) == 0) return VIT_OK;
    }
    const char *near = vit_nearest(word, names, VIT_METHOD_COUNT);
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "%s \"%s\" is none, such as attention, rollout or relevance%s%s%s", option,
                    word, near ? ": did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

vit_status vit_map_read_class(vit_map_options *out, const vit_model *model, const char *option,
                              const char *word, vit_error *error) {
    const size_t classes = vit_model_describe(model).classes;
    uint64_t number;
    for (size_t i = 0; i < classes; i++) {
        out->class_index = vit_given((double)i);
        if (strcmp(vit_model_label(model, i), word) == 0) return VIT_OK;
    }
    if (!vit_parse_u64(word, &number) || number >= classes)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s \"%s\" is neither a label of the model nor a number below %zu", option,
                        word, classes);
    out->class_index = vit_given((double)number);
    return VIT_OK;
}

vit_status vit_map_read_head(vit_map_options *out, const char *option, const char *word,
                             vit_error *error) {
    uint64_t number;
    for (size_t i = 0; i < VIT_FUSE_COUNT; i++) {
        if (strcmp(word, vit_fuse_names[i]) != 0) continue;
        out->fused = true;
        out->fuse = (vit_fuse)i;
        return VIT_OK;
    }
    if (!vit_parse_u64(word, &number))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s \"%s\", expected a number from 0, mean, max or min", option, word);
    out->head = vit_given((double)number);
    return VIT_OK;
}

/* *patch: the number of the patch "N" or "ROW,COLUMN". */
static bool read_patch(size_t *patch, const vit_model_info *info, const char *text) {
    char row_text[32];
    uint64_t row, column = 0;
    const size_t length = strcspn(text, ",");
    const bool pair = text[length] == ',';
    if (length >= sizeof row_text) return false;
    memcpy(row_text, text, length);
    row_text[length] = '\0';
    if (!vit_parse_u64(row_text, &row) || (pair && !vit_parse_u64(text + length + 1, &column)))
        return false;
    *patch = (size_t)(pair ? row * info->columns + column : row);
    return pair ? row < info->rows && column < info->columns : row < info->rows * info->columns;
}

vit_status vit_map_read_query(vit_map_options *out, const vit_model_info *info, const char *option,
                              const char *word, vit_error *error) {
    const bool has_class = info->prefix > info->registers;
    uint64_t number;
    size_t patch;
    out->query = VIT_QUERY_TOKEN;
    if (strcmp(word, "mean") == 0) {
        out->query = VIT_QUERY_MEAN;
    } else if (strcmp(word, "pool") == 0) {
        out->query = VIT_QUERY_POOL;
    } else if (strcmp(word, "cls") == 0 && has_class) {
        out->token = 0;
    } else if (strncmp(word, "reg", 3) == 0 && vit_parse_u64(word + 3, &number) &&
               number < info->registers) {
        out->token = info->prefix - info->registers + (size_t)number;
    } else if (read_patch(&patch, info, word)) {
        out->token = info->prefix + patch;
    } else {
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s \"%s\": the network has %s class token, %zu registers and %zu x %zu "
                        "patches; expected cls, regN, a patch N or ROW,COLUMN from 0, mean or pool",
                        option, word, has_class ? "a" : "no", info->registers, info->rows,
                        info->columns);
    }
    return VIT_OK;
}

void vit_map_add_json(vit_json_out *json, const char *file, const vit_model *model,
                      vit_method method, const vit_map *map, bool shape) {
    const bool grid = map->dims == 2 && map->shape[0] == map->rows && map->shape[1] == map->columns;
    size_t count = 1;
    for (size_t i = 0; i < map->dims; i++) count *= map->shape[i];
    vit_json_text(json, "file", file);
    vit_json_text(json, "method", vit_method_name(method));
    vit_json_count(json, "class", map->class_index);
    vit_json_text(json, "label", vit_model_label(model, map->class_index));
    vit_json_number(json, "probability", map->probability);
    vit_json_counts(json, "grid", (const size_t[]){map->rows, map->columns}, 2);
    if (shape || !grid) vit_json_counts(json, "shape", map->shape, map->dims);
    vit_json_g9s(json, "map", map->values, count);
    vit_json_open(json, "outliers", '[');
    for (size_t i = 0; i < map->rows * map->columns; i++)
        if (map->outliers[i]) vit_json_count(json, NULL, i);
    vit_json_close(json, ']');
}
