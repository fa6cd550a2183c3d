#ifdef __APPLE__

#include "vit/base/macos/posix.h"

#include <errno.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <stdlib.h>
#include <string.h>

#undef fsync

int vit_posix_fallocate(int file, off_t offset, off_t size) {
    fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, offset, size, 0};
    return fcntl(file, F_PREALLOCATE, &store) == 0 ? 0 : errno == ENOTSUP ? EOPNOTSUPP : errno;
}

int vit_posix_fsync(int file) {
    return fcntl(file, F_FULLFSYNC) == 0 ? 0 : fsync(file);
}

ssize_t vit_posix_readlink(const char *path, char *target, size_t size) {
    char own[PATH_MAX], real[PATH_MAX];
    uint32_t room = sizeof own;
    errno = EINVAL;
    if (strcmp(path, "/proc/self/exe") != 0 || _NSGetExecutablePath(own, &room) != 0 ||
        !realpath(own, real) || strlen(real) > size)
        return -1;
    memcpy(target, real, strlen(real));
    return (ssize_t)strlen(real);
}

#endif
