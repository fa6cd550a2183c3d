/* Locks between processes, checks of paths that distinguish "missing" from "cannot tell", and where
 * links lead (sys.h).
 */
#define _DEFAULT_SOURCE /* flock, realpath */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vit/base/sys.h"

vit_status vit_path_exists(bool *exists, const char *path, vit_error *error) {
    struct stat info;
    *exists = lstat(path, &info) == 0;
    if (*exists || errno == ENOENT) return VIT_OK;
    return vit_fail_errno(error, errno, "cannot look at %s", path);
}

bool vit_path_same(const char *a, const char *b) {
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Whether the folder that a link leads to is one that the file system has it in. */
static bool leads_above(const char *path) {
    char target[PATH_MAX], place[PATH_MAX], *parent = vit_path_beside(path, ".");
    const bool found = parent && realpath(path, target) && realpath(parent, place);
    const size_t length = found ? strlen(target) : 0;
    vit_free(parent);
    if (!found || strcmp(target, "/") == 0) return true;
    return strncmp(place, target, length) == 0 && (place[length] == '/' || place[length] == 0);
}

bool vit_path_leads_back(const char *path) {
    if (!vit_path_is_link(path)) return false;
    if (leads_above(path)) return true;
    char *above = vit_strdup(path); /* through other links there may be more on its way */
    bool found = !above;
    for (char *slash = above ? strrchr(above, '/') : NULL; slash && !found;
         slash = strrchr(above, '/')) {
        *slash = 0;
        found = vit_path_same(path, *above ? above : "/");
    }
    vit_free(above);
    return found;
}

vit_status vit_lock_take(int *lock, const char *path, vit_error *error) {
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*lock < 0 && errno == ENOENT && vit_path_last(path) > path) {
        const int length = (int)(vit_path_last(path) - path);
        return vit_fail(error, VIT_ERROR_IO,
                        "cannot write %s: there is no such directory; make it first: mkdir -p %.*s",
                        path, length, path);
    }
    if (*lock < 0) return vit_fail_errno(error, errno, "cannot write %s", path);
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0) return VIT_OK;
    const int number = errno;
    /* These mean that the file system has no locks; the training then goes on without one. */
    if (number == ENOLCK || number == EOPNOTSUPP || number == ENOSYS || number == EINVAL)
        return VIT_OK;
    close(*lock);
    *lock = -1;
    if (number == EWOULDBLOCK)
        return vit_fail(error, VIT_ERROR_IO, "%s is locked by another process that is at work here",
                        path);
    return vit_fail_errno(error, number, "cannot lock %s", path);
}

bool vit_lock_holds(int lock, const char *path) {
    struct stat ours, there;
    return lock >= 0 && fstat(lock, &ours) == 0 && stat(path, &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

void vit_lock_drop(int lock) {
    if (lock >= 0) close(lock);
}
