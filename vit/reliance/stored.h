/* Files that this guest writes: calibrations and banks. */
#ifndef VIT_RELIANCE_STORED_H
#define VIT_RELIANCE_STORED_H

#include "vit/base/error.h"
#include "vit/base/sys.h"

#define VIT_STORED_CALIBRATION "a calibration has there; calibrate again"
#define VIT_STORED_BANK "a bank has there; build it again"

/* The value of a key is none that the file, one of the above, can have. */
static inline vit_status vit_fail_stored(const char *kind, const char *path, const char *key,
                                         vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: \"%s\" is not what %s", path, key, kind);
}

/* Reads such a file; freed by vit_free. A pipe, which would be waited for, is refused. */
static inline vit_status vit_read_stored(vit_bytes *bytes, const char *path, size_t limit,
                                         vit_error *error) {
    bool exists = true;
    const vit_path_kind kind = vit_path_look(path);
    if (kind == VIT_PATH_NONE && vit_path_exists(&exists, path, error) != VIT_OK)
        return error->status;
    if (!exists) return vit_fail(error, VIT_ERROR_IO, "%s: there is no such file", path);
    if (kind == VIT_PATH_NONE)
        return vit_fail(error, VIT_ERROR_IO,
                        "%s is a pipe, a device or a link that leads nowhere, expected a regular "
                        "file",
                        path);
    return vit_read_file(bytes, path, limit, error);
}

#endif
