/* Any JSON as the config of any tensors: two bytes are the config's length, then come the config
 * and a file of weights. What is taken must be a network that is whole. */
#include "vit/weights/published.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

static void build(const vit_tensors *file, json_t *config) {
    static char path[] = "config.json", processor_path[] = "preprocessor_config.json";
    const vit_configs configs = {path, processor_path, config, config, .wanted = &(vit_wanted){0}};
    vit_model_file model;
    vit_error error = {0};
    const vit_status status = vit_published_build(&model, file, &configs, &error);
    if (status != VIT_OK) {
        require(!model.values && error.status == status && !strchr(error.message, '\n'));
        return;
    }
    require(vit_config_check(&model.config, NULL) == VIT_OK && model.preprocessing.count > 0);
    vit_model_file_clear(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_tensors *file;
    json_t *config = NULL;
    if (size < 2) return 0;
    const size_t length = data[0] | (size_t)data[1] << 8;
    if (length > size - 2) return 0;
    if (vit_tensors_parse(&file, data + 2 + length, size - 2 - length, "input", NULL) != VIT_OK)
        return 0;
    if (length > 0) vit_json_parse(&config, (const char *)data + 2, length, "config", NULL);
    build(file, config);
    json_decref(config);
    vit_tensors_close(file);
    return 0;
}
