/* What tells whether a file has changed: its size, and when it was written last. */
#ifndef VIT_BASE_STAMP_H
#define VIT_BASE_STAMP_H

#include "vit/base/error.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct vit_stamp {
    int64_t seconds, nanoseconds; /* since 1970 */
    uint64_t size;                /* in bytes */
} vit_stamp;

/* Of the file that a path leads to, through symbolic links. IO if there is none. */
vit_status vit_stamp_of(vit_stamp *out, const char *path, vit_error *error);

static inline bool vit_stamps_equal(const vit_stamp *a, const vit_stamp *b) {
    return a->seconds == b->seconds && a->nanoseconds == b->nanoseconds && a->size == b->size;
}

#endif
