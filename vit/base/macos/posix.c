#ifdef __APPLE__

#include "vit/base/macos/posix.h"

#include <errno.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>

#undef fsync
#undef poll

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

/* The system's poll knows no terminals, and calls them invalid; select knows them. */
int vit_posix_poll(struct pollfd *files, nfds_t count, int timeout) {
    const int ready = poll(files, count, timeout);
    if (count != 1 || ready != 1 || !(files->revents & POLLNVAL) || files->fd >= FD_SETSIZE)
        return ready;
    fd_set set;
    FD_ZERO(&set);
    FD_SET(files->fd, &set);
    struct timeval time = {timeout / 1000, timeout % 1000 * 1000};
    const int selected =
        select(files->fd + 1, files->events & POLLIN ? &set : NULL,
               files->events & POLLOUT ? &set : NULL, NULL, timeout < 0 ? NULL : &time);
    if (selected >= 0) files->revents = selected > 0 ? files->events : 0;
    return selected >= 0 ? selected : ready;
}

#endif
