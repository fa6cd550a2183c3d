/* Files that this guest writes: calibrations and banks. */
#ifndef VIT_RELIANCE_STORED_H
#define VIT_RELIANCE_STORED_H

#include "vit/base/error.h"

#define VIT_STORED_CALIBRATION "a calibration has there; calibrate again"
#define VIT_STORED_BANK "a bank has there; build it again"

/* The value of a key is none that the file, one of the above, can have. */
static inline vit_status vit_fail_stored(const char *kind, const char *path, const char *key,
                                         vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: \"%s\" is not what %s", path, key, kind);
}

#endif
