#include "vit/base/append.h"
#include "vit/base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct vit_append {
    int file;
    char *path;
};

/* (*out)->file is negative, and errno says why, if the file cannot be opened with these flags. */
static vit_status open_file(vit_append **out, const char *path, int flags, vit_error *error) {
    *out = NULL;
    vit_append *a = vit_alloc(1, sizeof *a);
    if (a) a->path = vit_strdup(path);
    if (!a || !a->path) {
        vit_free(a);
        return vit_fail_memory(error, path, sizeof *a);
    }
    do a->file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666);
    while (a->file < 0 && errno == EINTR);
    *out = a;
    return VIT_OK;
}

/* Frees *out, and keeps errno. */
static void drop(vit_append **out) {
    const int reason = errno;
    if ((*out)->file >= 0) close((*out)->file);
    vit_free((*out)->path);
    vit_free(*out);
    *out = NULL;
    errno = reason;
}

vit_status vit_append_new(vit_append **out, const char *path, vit_error *error) {
    const vit_status status = open_file(out, path, O_CREAT | O_EXCL, error);
    if (status != VIT_OK || (*out)->file >= 0) return status;
    drop(out);
    return errno == EEXIST ? VIT_OK : vit_fail_errno(error, errno, "cannot make %s", path);
}

vit_status vit_append_open(vit_append **out, const char *path, uint64_t size, vit_error *error) {
    const vit_status status = open_file(out, path, 0, error);
    if (status != VIT_OK || ((*out)->file >= 0 && ftruncate((*out)->file, (off_t)size) == 0))
        return status;
    drop(out);
    return vit_fail_errno(error, errno, "cannot write %s", path);
}

vit_status vit_append_sync(vit_append *a, vit_error *error) {
    if (fsync(a->file) != 0 && errno != EINVAL)
        return vit_fail_errno(error, errno, "cannot write %s", a->path);
    return VIT_OK;
}

vit_status vit_append_put(vit_append *a, const void *data, size_t size, vit_error *error) {
    const char *bytes = data;
    while (size > 0) {
        const ssize_t n = write(a->file, bytes, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return vit_fail_errno(error, n < 0 ? errno : EIO, "cannot write %s", a->path);
        bytes += n;
        size -= (size_t)n;
    }
    return VIT_OK;
}

vit_status vit_append_close(vit_append *a, vit_error *error) {
    if (!a) return VIT_OK;
    vit_status status = vit_append_sync(a, error);
    if (close(a->file) != 0 && status == VIT_OK)
        status = vit_fail_errno(error, errno, "cannot write %s", a->path);
    vit_free(a->path);
    vit_free(a);
    return status;
}
