#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/answers.h"

/* Version 1.0 of https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html: magic,
 * version, the header's length, the header, padded with spaces to a multiple of 64 bytes. */
enum { HEADER = 128, PREFIX = 10 };

static void write_header(char header[HEADER], size_t rows, size_t columns) {
    static const char prefix[PREFIX] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, HEADER - PREFIX, 0};
    memset(header, ' ', HEADER);
    memcpy(header, prefix, PREFIX);
    int length =
        snprintf(header + PREFIX, HEADER - PREFIX,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", rows, columns);
    header[PREFIX + length] = ' ';
    header[HEADER - 1] = '\n';
}

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
    char header[HEADER];
    vit_writer *writer;
    vit_status status = vit_writer_open(&writer, path, error);
    if (status != VIT_OK) {
        return status;
    }
    write_header(header, rows, columns);
    status = vit_writer_put(writer, header, sizeof header, error);
    if (status == VIT_OK) status = put_values(writer, values, rows * columns, error);
    if (status != VIT_OK) {
        vit_writer_abort(writer);
        return status;
    }
    return vit_writer_commit(writer, error);
}
