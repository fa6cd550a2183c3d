/* Files come to a place without replacing what is there (place.h). */
#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE

#include "vit/base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

enum { PORTION = 1 << 18 }; /* bytes that are copied at a time */

/* ---- a new name ---- */

/* -1 with ENOSYS: the system, or this file system, has no such call. */
static int rename_without_replacing(const char *from, const char *to) {
#if defined(__linux__) && defined(SYS_renameat2)
    enum { NO_REPLACE = 1 };
    const long result = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, NO_REPLACE);
    if (result != 0 && errno == EINVAL) errno = ENOSYS;
    return (int)result;
#elif defined(__APPLE__)
    const int result = renamex_np(from, to, RENAME_EXCL);
    if (result != 0 && errno == ENOTSUP) errno = ENOSYS;
    return result;
#else
    (void)from, (void)to;
    errno = ENOSYS;
    return -1;
#endif
}

int vit_rename_new(const char *from, const char *to) {
    if (rename_without_replacing(from, to) == 0) return 0;
    if (errno != ENOSYS) return -1;
    const int file = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    close(file);
    if (rename(from, to) == 0) return 0;
    const int number = errno;
    unlink(to);
    errno = number;
    return -1;
}

vit_place_kind vit_place_look(const char *path, uint64_t *size) {
    struct stat info;
    if (lstat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR ? VIT_PLACE_NOTHING : VIT_PLACE_OTHER;
    if (S_ISLNK(info.st_mode)) return VIT_PLACE_SYMLINK;
    if (!S_ISREG(info.st_mode)) return VIT_PLACE_OTHER;
    if (size) *size = (uint64_t)info.st_size;
    return VIT_PLACE_FILE;
}

/* ---- copies ---- */

static ssize_t read_some(int file, void *data, size_t size) {
    ssize_t n;
    do n = read(file, data, size);
    while (n < 0 && errno == EINTR);
    return n;
}

/* A file that is neither a link nor anything but a file. */
static int open_source(const char *path, struct stat *info) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return -1;
    if (fstat(file, info) == 0 && S_ISREG(info->st_mode)) return file;
    close(file);
    errno = EINVAL;
    return -1;
}

static vit_status copy_bytes(vit_writer *writer, int file, const char *from, vit_error *error) {
    uint8_t *bytes = vit_alloc_unset(1, PORTION);
    if (!bytes) return vit_fail_memory(error, from, PORTION);
    ssize_t n = 1;
    vit_status status = VIT_OK;
    while (status == VIT_OK && (n = read_some(file, bytes, PORTION)) > 0)
        status = vit_writer_put(writer, bytes, (size_t)n, error);
    if (status == VIT_OK && n < 0) status = vit_fail_errno(error, errno, "cannot read %s", from);
    vit_free(bytes);
    return status;
}

/* What the file was when it was opened, and is still: it was not written to meanwhile. */
static bool is_unchanged(int file, const struct stat *before) {
    struct stat now;
    return fstat(file, &now) == 0 && now.st_size == before->st_size &&
           now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

static vit_status copy_file(bool *taken, bool *full, const char *to, const char *from,
                            vit_error *error) {
    struct stat info;
    vit_writer *writer = NULL;
    const int file = open_source(from, &info);
    if (file < 0) return vit_fail_errno(error, errno, "cannot open %s", from);
    errno = 0;
    vit_status status = vit_writer_open(&writer, to, error);
    if (status == VIT_OK) status = copy_bytes(writer, file, from, error);
    if (status == VIT_OK && !is_unchanged(file, &info))
        status = vit_fail(error, VIT_ERROR_IO, "%s was written to while it was copied", from);
    *full = status == VIT_ERROR_IO && (errno == ENOSPC || errno == EDQUOT);
    close(file);
    if (status == VIT_OK) return vit_writer_commit_new(writer, &info, taken, error);
    vit_writer_abort(writer);
    return status;
}

/* To another file system. The copy is compared, and on the disk, before the file is removed. */
static vit_status move_by_copy(bool *taken, bool *full, const char *to, const char *from,
                               vit_error *error) {
    bool same = false;
    vit_status status = copy_file(taken, full, to, from, error);
    if (status != VIT_OK || *taken) return status;
    status = vit_place_same(&same, to, from, error);
    if (status == VIT_OK && !same)
        status = vit_fail(error, VIT_ERROR_IO,
                          "%s was copied to %s, which reads otherwise: both stay", from, to);
    if (status == VIT_OK && unlink(from) != 0) {
        const int number = errno;
        unlink(to);
        status = vit_fail_errno(error, number, "cannot remove %s, so that it stays there", from);
    }
    return status == VIT_OK ? vit_sync_place(from, error) : status;
}

static vit_status move_file(bool *taken, bool *full, const char *to, const char *from,
                            vit_error *error) {
    if (vit_rename_new(from, to) == 0) {
        const vit_status status = vit_sync_place(to, error);
        return status == VIT_OK ? vit_sync_place(from, error) : status;
    }
    if (errno == EXDEV) return move_by_copy(taken, full, to, from, error);
    *taken = errno == EEXIST;
    if (*taken) return VIT_OK;
    *full = errno == ENOSPC || errno == EDQUOT;
    return vit_fail_errno(error, errno, "cannot move %s to %s", from, to);
}

static vit_status link_file(bool *taken, bool *full, const char *to, const char *from,
                            vit_error *error) {
#ifdef _WIN32
    (void)taken, (void)full, (void)from;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: links are not made on Windows: copy or move the pictures", to);
#else
    if (symlink(from, to) == 0) return vit_sync_place(to, error);
    *taken = errno == EEXIST;
    if (*taken) return VIT_OK;
    *full = errno == ENOSPC || errno == EDQUOT;
    return vit_fail_errno(error, errno, "cannot make the link %s to %s", to, from);
#endif
}

vit_status vit_place_file(bool *taken, bool *full, const char *to, const char *from,
                          vit_place_how how, vit_error *error) {
    *taken = *full = false;
    if (vit_place_look(to, NULL) != VIT_PLACE_NOTHING) {
        *taken = true;
        return VIT_OK;
    }
    switch (how) {
    case VIT_PLACE_LINK:
        return link_file(taken, full, to, from, error);
    case VIT_PLACE_COPY:
        return copy_file(taken, full, to, from, error);
    case VIT_PLACE_MOVE:
        return move_file(taken, full, to, from, error);
    case VIT_PLACE_COUNT:
        break;
    }
    return vit_fail(error, VIT_ERROR_ARGUMENT, "how a file comes to its place is unknown");
}

/* ---- comparing ---- */

/* Bytes until `size` are read or the file ends. */
static ssize_t read_whole(int file, uint8_t *data, size_t size) {
    size_t all = 0;
    while (all < size) {
        const ssize_t n = read_some(file, data + all, size - all);
        if (n < 0) return n;
        if (n == 0) break;
        all += (size_t)n;
    }
    return (ssize_t)all;
}

static vit_status compare_bytes(bool *same, const int files[2], const char *const paths[2],
                                uint8_t *bytes, vit_error *error) {
    for (ssize_t n = 1; *same && n > 0;) {
        ssize_t counts[2];
        for (int i = 0; i < 2; i++) {
            counts[i] = read_whole(files[i], bytes + i * PORTION, PORTION);
            if (counts[i] < 0) return vit_fail_errno(error, errno, "cannot read %s", paths[i]);
        }
        n = counts[0];
        *same = n == counts[1] && memcmp(bytes, bytes + PORTION, (size_t)n) == 0;
    }
    return VIT_OK;
}

vit_status vit_place_same(bool *same, const char *a, const char *b, vit_error *error) {
    const char *const paths[2] = {a, b};
    struct stat info[2];
    int files[2] = {-1, -1};
    vit_status status = VIT_OK;
    *same = false;
    uint8_t *bytes = vit_alloc_unset(2, PORTION);
    if (!bytes) return vit_fail_memory(error, a, 2 * (size_t)PORTION);
    for (int i = 0; i < 2 && status == VIT_OK; i++) {
        files[i] = open_source(paths[i], &info[i]);
        if (files[i] < 0) status = vit_fail_errno(error, errno, "cannot open %s", paths[i]);
    }
    if (status == VIT_OK) {
        *same = info[0].st_size == info[1].st_size;
        status = compare_bytes(same, files, paths, bytes, error);
        if (status != VIT_OK) *same = false;
    }
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0) close(files[i]);
    vit_free(bytes);
    return status;
}

bool vit_place_links_to(const char *path, const char *target) {
    char found[PATH_MAX];
    const ssize_t length = readlink(path, found, sizeof found);
    return length > 0 && (size_t)length == strlen(target) &&
           memcmp(found, target, (size_t)length) == 0;
}
