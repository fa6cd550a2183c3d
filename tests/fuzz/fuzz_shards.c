/* Any bytes as the index of a sharded checkpoint: the files that it names must lie beside it. */
#include "vit/tensors/shards.h"

#include "vit/base/sys.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

static void check_file(const char *file) {
    char *path = vit_path_beside("directory/index", file);
    require(path && strncmp(path, "directory/", 10) == 0 && strlen(path) > 10);
    require(!strchr(path + 10, '/') && strcmp(path + 10, "..") != 0);
    vit_free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_t *map, *file;
    const char *tensor;
    vit_error error = {0};
    vit_shards_probe(data, size);
    const vit_status status = vit_shards_parse(&map, data, size, "input", &error);
    if (status != VIT_OK) {
        require(!map && error.status == status);
        return 0;
    }
    json_object_foreach(map, tensor, file) check_file(json_string_value(file));
    json_decref(map);
    return 0;
}
