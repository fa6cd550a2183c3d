#include <string.h>

#include "vit/base/npy.h"
#include "vit/base/sys.h"
#include "vit/cli/answers.h"

static vit_status put_values(vit_writer *writer, const float *values, size_t count,
                             vit_error *error) {
    uint8_t bytes[4096];
    vit_status status = VIT_OK;
    for (size_t i = 0, used = 0; i < count && status == VIT_OK; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (size_t j = 0; j < 4; j++) bytes[used++] = (uint8_t)(bits >> 8 * j);
        if (used < sizeof bytes && i + 1 < count) continue;
        status = vit_writer_put(writer, bytes, used, error);
        used = 0;
    }
    return status;
}

vit_status vit_npy_write(const char *path, const float *values, size_t rows, size_t columns,
                         vit_error *error) {
    vit_text header = {0};
    vit_writer *writer = NULL;
    vit_text_add_npy(&header, "<f4", (const size_t[]){rows, columns}, 2);
    vit_status status = header.failed ? vit_fail_memory(error, "an array's header", 0)
                                      : vit_writer_open(&writer, path, error);
    if (status == VIT_OK) status = vit_writer_put(writer, header.text, header.length, error);
    if (status == VIT_OK) status = put_values(writer, values, rows * columns, error);
    vit_text_free(&header);
    if (status == VIT_OK) return vit_writer_commit(writer, error);
    vit_writer_abort(writer);
    return status;
}
