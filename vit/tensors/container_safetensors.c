/* safetensors.h as a container. */
#include "vit/tensors/container.h"
#include "vit/tensors/safetensors.h"

#include <string.h>

static bool safetensors_probe(const uint8_t *bytes, size_t size) {
    uint64_t length = 0;
    if (size < 9) return false;
    for (size_t i = 8; i-- > 0;) length = length << 8 | bytes[i];
    return length <= size - 8 && strchr("{ \t\r\n", bytes[8]);
}

static vit_status safetensors_open(void **state, const uint8_t *bytes, size_t size,
                                   const char *name, vit_error *error) {
    vit_safetensors *file = NULL;
    const vit_status status = vit_safetensors_parse(&file, bytes, size, name, error);
    *state = file;
    return status;
}

static void safetensors_close(void *state) {
    vit_safetensors_close(state);
}

static size_t safetensors_count(const void *state) {
    return vit_safetensors_count(state);
}

static const vit_tensor *safetensors_at(const void *state, size_t index) {
    return vit_safetensors_at(state, index);
}

static const char *safetensors_metadata(const void *state, const char *key) {
    return vit_safetensors_metadata(state, key);
}

const vit_container vit_container_safetensors = {.kind = "safetensors",
                                                 .probe = safetensors_probe,
                                                 .open = safetensors_open,
                                                 .close = safetensors_close,
                                                 .count = safetensors_count,
                                                 .at = safetensors_at,
                                                 .metadata = safetensors_metadata};
