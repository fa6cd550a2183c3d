/* Files that appear complete or not at all (vit/base/sys.h). */
#define _XOPEN_SOURCE 700 /* realpath */
#define _DEFAULT_SOURCE   /* flock */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "vit/base/place.h"
#include "vit/base/sys.h"

struct vit_writer {
    char *path;      /* as the caller named it: for messages */
    char *target;    /* the file itself, symbolic links resolved */
    char *place;     /* its directory */
    char *temporary; /* beside the target; NULL once it is gone or renamed */
    int fd, directory;
    bool failed;
};

/* A symbolic link stays one: the file that it leads to is replaced. A missing file has no real path
 * yet. */
static vit_status find_target(vit_writer *w, mode_t *mode, vit_error *error) {
    struct stat info;
    *mode = 0;
    if (lstat(w->path, &info) != 0) {
        if (errno != ENOENT) return vit_fail_errno(error, errno, "cannot write %s", w->path);
        w->target = vit_strdup(w->path);
        return w->target ? VIT_OK : vit_fail_memory(error, "a file name", strlen(w->path));
    }
    if (stat(w->path, &info) != 0)
        return vit_fail_errno(error, errno, "cannot write %s, a symbolic link", w->path);
    if (S_ISDIR(info.st_mode))
        return vit_fail(error, VIT_ERROR_IO, "cannot write %s: it is a directory, expected a file",
                        w->path);
    if (!S_ISREG(info.st_mode))
        return vit_fail(error, VIT_ERROR_IO,
                        "cannot write %s: it is a device or a pipe, expected the name of a regular "
                        "file, which is replaced as a whole",
                        w->path);
    char *real = access(w->path, W_OK) == 0 ? realpath(w->path, NULL) : NULL;
    if (!real) return vit_fail_errno(error, errno, "cannot write %s", w->path);
    w->target = vit_strdup(real);
    free(real);
    *mode = info.st_mode & 0777;
    return w->target ? VIT_OK : vit_fail_memory(error, "a file name", strlen(w->path));
}

/* Opens the directory now, so that this does not fail after the file was replaced. */
static vit_status open_directory(vit_writer *w, size_t length, vit_error *error) {
    w->place = vit_alloc(length + 2, 1);
    if (!w->place) return vit_fail_memory(error, "a file name", length + 2);
    memcpy(w->place, length > 0 ? w->target : ".", length > 0 ? length : 1);
    w->directory = open(w->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int name = length > 1 ? (int)length - 1 : 1; /* without its last slash */
    if (w->directory < 0 && errno == ENOENT)
        return vit_fail(error, VIT_ERROR_IO,
                        "cannot write %s: there is no directory %.*s; make it first: mkdir -p %.*s",
                        w->path, name, w->place, name, w->place);
    if (w->directory < 0)
        return vit_fail_errno(error, errno, "cannot write %s: cannot open its directory", w->path);
    return VIT_OK;
}

/* ".vit-NAME-" for the name of the target, the same in every process that writes it. */
static void temporary_prefix(char prefix[32], const char *name) {
    const uLong digits = crc32(0, (const Bytef *)name, (uInt)strlen(name));
    snprintf(prefix, 32, ".vit-%08lx-", (unsigned long)digits);
}

/* Removes temporary files of this target whose processes were killed: a living process has a lock
 * on its file. Files that cannot be removed do no harm. */
static void remove_leftovers(const vit_writer *w, const char *prefix) {
    struct dirent **list;
    const int directory = w->directory, found = scandir(w->place, &list, NULL, NULL);
    for (int i = 0; i < found; i++) {
        const char *name = list[i]->d_name;
        if (strncmp(name, prefix, strlen(prefix)) == 0) {
            const int fd = openat(directory, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
            if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) unlinkat(directory, name, 0);
            if (fd >= 0) close(fd);
        }
        free(list[i]);
    }
    if (found >= 0) free(list);
}

/* Makes the file `name` and locks it. 1: the name is taken, or another process has just removed the
 * file as a leftover: try another name; -1: it cannot be made, see errno. */
static int make_temporary(vit_writer *w, const char *name) {
    struct stat info;
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return errno == EEXIST || errno == EINTR ? 1 : -1;
    flock(fd, LOCK_EX | LOCK_NB); /* where there are no locks, leftovers are not removed either */
    if (fstat(fd, &info) == 0 && info.st_nlink == 0) {
        close(fd);
        return 1;
    }
    w->fd = fd;
    return 0;
}

/* Creates the first free name of ".vit-NAME-PID-N.tmp", which is short even if the target's name
 * has the greatest length. `length`: of the directory before it, with its slash. */
static vit_status open_temporary(vit_writer *w, size_t length, vit_error *error) {
    const size_t size = length + 64;
    char prefix[32], *name = vit_alloc(size, 1);
    if (!name) return vit_fail_memory(error, "a file name", size);
    memcpy(name, w->target, length);
    temporary_prefix(prefix, w->target + length);
    remove_leftovers(w, prefix);
    int made = 1;
    for (int i = 0; i < 10000 && made == 1; i++) {
        snprintf(name + length, size - length, "%s%ld-%d.tmp", prefix, (long)getpid(), i);
        made = make_temporary(w, name);
    }
    if (made != 0) {
        vit_status status =
            vit_fail_errno(error, errno, "cannot write %s: cannot make a file beside it", w->path);
        vit_free(name);
        return status;
    }
    w->temporary = name;
    return VIT_OK;
}

/* Closes and removes everything that is left. */
static void clear(vit_writer *w) {
    if (w->fd >= 0) close(w->fd);
    if (w->directory >= 0) close(w->directory);
    if (w->temporary) unlink(w->temporary);
    vit_free(w->temporary);
    vit_free(w->place);
    vit_free(w->target);
    vit_free(w->path);
    vit_free(w);
}

vit_status vit_writer_open(vit_writer **out, const char *path, vit_error *error) {
    *out = NULL;
    size_t size = strlen(path);
    if (size == 0 || path[size - 1] == '/')
        return vit_fail(error, VIT_ERROR_IO, "cannot write \"%s\": expected the name of a file",
                        path);
    vit_writer *w = vit_alloc(1, sizeof *w);
    if (!w) return vit_fail_memory(error, path, sizeof *w);
    *w = (vit_writer){.path = vit_strdup(path), .fd = -1, .directory = -1};
    mode_t mode = 0;
    vit_status status =
        w->path ? find_target(w, &mode, error) : vit_fail_memory(error, "a file name", size + 1);
    if (status == VIT_OK) {
        const char *slash = strrchr(w->target, '/');
        size_t length = !slash ? 0 : (size_t)(slash - w->target) + 1;
        status = open_directory(w, length, error);
        if (status == VIT_OK) status = open_temporary(w, length, error);
    }
    if (status == VIT_OK && mode != 0 && fchmod(w->fd, mode) != 0)
        status = vit_fail_errno(error, errno, "cannot write %s: cannot set its mode", path);
    if (status != VIT_OK) {
        clear(w);
        return status;
    }
    *out = w;
    return VIT_OK;
}

vit_status vit_writer_put(vit_writer *w, const void *data, size_t size, vit_error *error) {
    const size_t most = 1 << 30; /* more than SSIZE_MAX may not be asked for at once */
    const uint8_t *bytes = data;
    while (size > 0) {
        ssize_t n = write(w->fd, bytes, size < most ? size : most);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            w->failed = true;
            return vit_fail_errno(error, n < 0 ? errno : ENOSPC, "cannot write %s", w->path);
        }
        bytes += n;
        size -= (size_t)n;
    }
    return VIT_OK;
}

vit_status vit_writer_reserve(vit_writer *w, size_t size, vit_error *error) {
    int number;
    do number = size > 0 ? posix_fallocate(w->fd, 0, (off_t)size) : 0;
    while (number == EINTR);
    if (number == 0 || number == EINVAL || number == EOPNOTSUPP) return VIT_OK;
    return vit_fail_errno(error, number, "cannot write %s: it needs %zu bytes", w->path, size);
}

/* After EINTR the descriptor is closed on Linux, and closing again could hit another thread's. */
static vit_status close_file(vit_writer *w, vit_error *error) {
    if (w->failed)
        return vit_fail(error, VIT_ERROR_IO, "cannot write %s: an earlier part failed", w->path);
    if (fsync(w->fd) != 0)
        return vit_fail_errno(error, errno, "cannot write %s to the disk", w->path);
    int fd = w->fd;
    w->fd = -1;
    if (close(fd) != 0 && errno != EINTR)
        return vit_fail_errno(error, errno, "cannot write %s to the disk", w->path);
    return VIT_OK;
}

static void forget_temporary(vit_writer *w) {
    vit_free(w->temporary);
    w->temporary = NULL;
}

static vit_status finish_file(vit_writer *w, vit_error *error) {
    const vit_status status = close_file(w, error);
    if (status != VIT_OK) return status;
    if (rename(w->temporary, w->target) != 0)
        return vit_fail_errno(error, errno, "cannot replace %s", w->path);
    forget_temporary(w);
    return VIT_OK;
}

vit_status vit_writer_commit_new(vit_writer *w, const struct stat *like, bool *taken,
                                 vit_error *error) {
    vit_status status = VIT_OK;
    *taken = false;
#ifndef _WIN32
    const struct timespec times[2] = {like ? like->st_mtim : (struct timespec){0},
                                      like ? like->st_mtim : (struct timespec){0}};
    /* A file system without such modes or times has the copy without them. */
    if (like && fchmod(w->fd, like->st_mode & 0777) == 0) (void)futimens(w->fd, times);
#else
    (void)like;
#endif
    status = close_file(w, error);
    if (status == VIT_OK && vit_rename_new(w->temporary, w->target) == 0) {
        forget_temporary(w);
        if (fsync(w->directory) != 0 && errno != EINVAL)
            status = vit_fail_errno(error, errno, "cannot sync the directory of %s", w->path);
    } else if (status == VIT_OK) {
        *taken = errno == EEXIST;
        if (!*taken) status = vit_fail_errno(error, errno, "cannot make %s", w->path);
    }
    clear(w);
    return status;
}

vit_status vit_writer_commit(vit_writer *w, vit_error *error) {
    vit_status status = finish_file(w, error);
    /* Some file systems cannot sync a directory and say EINVAL; they are as safe as they get. */
    if (status == VIT_OK && fsync(w->directory) != 0 && errno != EINVAL)
        status = vit_fail_errno(error, errno,
                                "%s is written, but its directory could not be synced, so that it "
                                "may not survive a power failure",
                                w->path);
    clear(w);
    return status;
}

void vit_writer_abort(vit_writer *w) {
    if (w) clear(w);
}

vit_status vit_write_file(const char *path, const void *data, size_t size, vit_error *error) {
    vit_writer *writer;
    vit_status status = vit_writer_open(&writer, path, error);
    if (status != VIT_OK) return status;
    status = vit_writer_put(writer, data, size, error);
    if (status == VIT_OK) return vit_writer_commit(writer, error);
    vit_writer_abort(writer);
    return status;
}

vit_status vit_sync_place(const char *path, vit_error *error) {
    vit_writer w = {.path = (char *)path, .target = (char *)path, .fd = -1, .directory = -1};
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/') length--;
    while (length > 0 && path[length - 1] != '/') length--;
    vit_status status = open_directory(&w, length, error);
    if (status == VIT_OK && fsync(w.directory) != 0 && errno != EINVAL)
        status = vit_fail_errno(error, errno, "cannot sync the directory of %s", path);
    if (w.directory >= 0) close(w.directory);
    vit_free(w.place);
    return status;
}

vit_status vit_rename_file(const char *from, const char *to, vit_error *error) {
    vit_writer w = {.path = (char *)to, .target = (char *)to, .fd = -1, .directory = -1};
    const char *slash = strrchr(to, '/');
    vit_status status = open_directory(&w, slash ? (size_t)(slash - to) + 1 : 0, error);
    if (status == VIT_OK && rename(from, to) != 0)
        status = vit_fail_errno(error, errno, "cannot rename %s to %s", from, to);
    if (status == VIT_OK && fsync(w.directory) != 0 && errno != EINVAL)
        status = vit_fail_errno(error, errno, "cannot sync the directory of %s", to);
    if (w.directory >= 0) close(w.directory);
    vit_free(w.place);
    return status;
}
