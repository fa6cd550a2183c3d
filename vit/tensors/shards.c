#include "vit/tensors/shards.h"

#include "vit/formats/json.h"
#include "vit/tensors/tensor.h"

#include <string.h>

bool vit_shards_probe(const uint8_t *bytes, size_t size) {
    size_t i = 0;
    while (i < size && i < 64 && strchr(" \t\r\n", bytes[i]) && bytes[i] != '\0') i++;
    return i < size && bytes[i] == '{';
}

static vit_status check_pair(const char *tensor, const json_t *value, const char *name,
                             vit_error *error) {
    const char *file = json_string_value(value);
    char shown[VIT_NAME_TEXT], wrong[VIT_NAME_TEXT];
    vit_name_text(shown, tensor);
    if (!file)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: \"weight_map\": the value of '%s' must be the name of a file", name,
                        shown);
    if (*file == '\0' || strlen(file) != json_string_length(value) || strchr(file, '/') ||
        strcmp(file, ".") == 0 || strcmp(file, "..") == 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: \"weight_map\": tensor '%s' is said to be in '%s', expected the name "
                        "of a file beside the index, without '/'",
                        name, shown, vit_name_text(wrong, file));
    return VIT_OK;
}

vit_status vit_shards_parse(json_t **map, const uint8_t *bytes, size_t size, const char *name,
                            vit_error *error) {
    json_t *root, *value;
    const char *tensor;
    *map = NULL;
    vit_status status = vit_json_parse(&root, (const char *)bytes, size, name, error);
    if (status != VIT_OK) return status;
    json_t *found = json_object_get(root, "weight_map");
    if (!json_is_object(found) || json_object_size(found) == 0)
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: expected weights, or the index of a sharded checkpoint with a "
                          "\"weight_map\" of tensors to files",
                          name);
    json_object_foreach(found, tensor, value) {
        if (status == VIT_OK) status = check_pair(tensor, value, name, error);
    }
    if (status == VIT_OK) *map = json_incref(found);
    json_decref(root);
    return status;
}
