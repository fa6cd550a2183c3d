#include "vit/base/stamp.h"
#include <errno.h>
#include <sys/stat.h>

vit_status vit_stamp_of(vit_stamp *out, const char *path, vit_error *error) {
    struct stat info;
    *out = (vit_stamp){0};
    if (stat(path, &info) != 0) return vit_fail_errno(error, errno, "cannot look at %s", path);
    *out = (vit_stamp){(int64_t)info.st_mtim.tv_sec, (int64_t)info.st_mtim.tv_nsec,
                       (uint64_t)info.st_size};
    return VIT_OK;
}
