#include "tests/support/fixture.h"
#include "tests/support/unit.h"
#include "vit/base/sys.h"
#include "vit/formats/json.h"

json_t *read_json(const char *path) {
    vit_bytes bytes;
    vit_error error;
    json_t *object;
    if (vit_read_file(&bytes, path, 1 << 20, &error) != VIT_OK) fail_msg("%s", error.message);
    if (vit_json_parse(&object, (const char *)bytes.data, bytes.size, path, &error) != VIT_OK)
        fail_msg("%s", error.message);
    vit_free(bytes.data);
    return object;
}
