/* The files of posix.h: paths become UTF-16, and descriptors are those of the C library. */
#ifdef _WIN32

#include "vit/base/windows/paths.h"

#include <stdarg.h>

static int shared(void) {
    return FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
}

static DWORD disposition_of(int flags) {
    if (flags & O_CREAT)
        return flags & O_EXCL ? CREATE_NEW : flags & O_TRUNC ? CREATE_ALWAYS : OPEN_ALWAYS;
    return flags & O_TRUNC ? TRUNCATE_EXISTING : OPEN_EXISTING;
}

int vit_posix_open(const char *path, int flags, ...) {
    wchar_t *name = vit_windows_path(path);
    if (!name) return -1;
    const DWORD access = flags & O_RDWR     ? GENERIC_READ | GENERIC_WRITE
                         : flags & O_WRONLY ? GENERIC_WRITE
                                            : GENERIC_READ;
    const DWORD kind = (flags & O_DIRECTORY ? FILE_FLAG_BACKUP_SEMANTICS : 0) |
                       (flags & O_NOFOLLOW ? FILE_FLAG_OPEN_REPARSE_POINT : 0);
    const HANDLE handle = CreateFileW(name, access, (DWORD)shared(), NULL, disposition_of(flags),
                                      FILE_ATTRIBUTE_NORMAL | kind, NULL);
    free(name);
    if (handle == INVALID_HANDLE_VALUE) return vit_windows_fail();
    const int file =
        _open_osfhandle((intptr_t)handle, (flags & (O_APPEND | O_RDWR | O_WRONLY)) | _O_BINARY);
    if (file < 0) CloseHandle(handle);
    struct vit_posix_stat info;
    if (file >= 0 && flags & O_DIRECTORY && fstat(file, &info) == 0 && !S_ISDIR(info.st_mode)) {
        close(file);
        errno = ENOTDIR;
        return -1;
    }
    return file;
}

static HANDLE handle_of(int file) {
    return (HANDLE)_get_osfhandle(file);
}

/* The path of a name in an open directory, freed by free. */
static char *path_at(int directory, const char *name) {
    char *folder = vit_windows_path_of(handle_of(directory));
    const size_t size = folder ? strlen(folder) + strlen(name) + 2 : 0;
    char *path = folder ? malloc(size) : NULL;
    if (path) snprintf(path, size, "%s/%s", folder, name);
    free(folder);
    return path;
}

int vit_posix_openat(int directory, const char *name, int flags, ...) {
    char *path = path_at(directory, name);
    const int file = path ? vit_posix_open(path, flags) : -1;
    free(path);
    return file;
}

int vit_posix_unlinkat(int directory, const char *name, int flags) {
    (void)flags;
    char *path = path_at(directory, name);
    const int result = path ? unlink(path) : -1;
    free(path);
    return result;
}

FILE *vit_posix_fopen(const char *path, const char *mode) {
    wchar_t *name = vit_windows_path(path), how[8] = {0};
    for (size_t i = 0; mode[i] && i < 6; i++) how[i] = (wchar_t)mode[i];
    if (!strchr(mode, 'b')) how[strlen(mode)] = L'b';
    FILE *file = name ? _wfopen(name, how) : NULL;
    free(name);
    return file;
}

static unsigned at_most(size_t size) {
    return size < INT_MAX ? (unsigned)size : INT_MAX;
}

ssize_t vit_posix_read(int file, void *data, size_t size) {
    return _read(file, data, at_most(size));
}

ssize_t vit_posix_write(int file, const void *data, size_t size) {
    const int wrote = _write(file, data, at_most(size));
    /* The C library calls a full disk EINVAL; wine's has no number of the system for it. */
    if (wrote < 0 && errno == EINVAL && (_doserrno == ERROR_DISK_FULL || _doserrno == 0))
        errno = ENOSPC;
    return wrote;
}

ssize_t vit_posix_pread(int file, void *data, size_t size, off_t offset) {
    OVERLAPPED at = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)((uint64_t)offset >> 32)};
    DWORD got = 0;
    if (ReadFile(handle_of(file), data, at_most(size), &got, &at)) return (ssize_t)got;
    return GetLastError() == ERROR_HANDLE_EOF ? 0 : vit_windows_fail();
}

int vit_posix_fsync(int file) {
    struct vit_posix_stat info;
    if (fstat(file, &info) == 0 && S_ISDIR(info.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    return FlushFileBuffers(handle_of(file)) ? 0 : vit_windows_fail();
}

/* ---- what a file is ---- */

/* Windows counts 100 nanoseconds from 1601. */
static struct timespec time_of(FILETIME time) {
    const uint64_t ticks = (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
    const uint64_t since_1970 = ticks - 116444736000000000u;
    return (struct timespec){(time_t)(since_1970 / 10000000), (long)(since_1970 % 10000000) * 100};
}

static int describe(HANDLE handle, struct vit_posix_stat *info, bool links) {
    BY_HANDLE_FILE_INFORMATION found;
    *info = (struct vit_posix_stat){.st_nlink = 1};
    const DWORD kind = GetFileType(handle);
    if (kind == FILE_TYPE_PIPE || kind == FILE_TYPE_CHAR) {
        info->st_mode = kind == FILE_TYPE_PIPE ? S_IFIFO : S_IFCHR;
        return 0;
    }
    if (!GetFileInformationByHandle(handle, &found)) return vit_windows_fail();
    const bool fixed = found.dwFileAttributes & FILE_ATTRIBUTE_READONLY;
    info->st_mode = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR | 0111 : S_IFREG) |
                    (fixed ? 0444u : 0666u);
    if (links && found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) info->st_mode = S_IFLNK;
    info->st_dev = found.dwVolumeSerialNumber;
    info->st_ino = (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow;
    info->st_nlink = found.nNumberOfLinks;
    info->st_size = (off_t)((uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow);
    info->st_mtim = time_of(found.ftLastWriteTime);
    return 0;
}

int vit_posix_fstat(int file, struct vit_posix_stat *info) {
    const HANDLE handle = handle_of(file);
    return handle == INVALID_HANDLE_VALUE ? -1 : describe(handle, info, false);
}

static int look(const char *path, struct vit_posix_stat *info, bool links) {
    wchar_t *name = vit_windows_path(path);
    if (!name) return -1;
    const HANDLE handle =
        CreateFileW(name, FILE_READ_ATTRIBUTES, (DWORD)shared(), NULL, OPEN_EXISTING,
                    FILE_FLAG_BACKUP_SEMANTICS | (links ? FILE_FLAG_OPEN_REPARSE_POINT : 0), NULL);
    free(name);
    if (handle == INVALID_HANDLE_VALUE) return vit_windows_fail();
    const int result = describe(handle, info, links);
    CloseHandle(handle);
    return result;
}

int vit_posix_stat(const char *path, struct vit_posix_stat *info) {
    return look(path, info, false);
}

int vit_posix_lstat(const char *path, struct vit_posix_stat *info) {
    return look(path, info, true);
}

int vit_posix_access(const char *path, int mode) {
    struct vit_posix_stat info;
    if (look(path, &info, false) != 0) return -1;
    if (!(mode & W_OK) || info.st_mode & 0222) return 0;
    errno = EACCES;
    return -1;
}

/* ---- locks and maps ---- */

/* The locked byte lies behind every file: a lock keeps nobody from reading. */
int vit_posix_flock(int file, int how) {
    (void)how;
    OVERLAPPED at = {.OffsetHigh = 0x40000000};
    if (LockFileEx(handle_of(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
                   &at))
        return 0;
    if (GetLastError() != ERROR_LOCK_VIOLATION) return vit_windows_fail();
    errno = EWOULDBLOCK;
    return -1;
}

void *vit_posix_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    (void)at, (void)size, (void)protection, (void)flags, (void)offset;
    const HANDLE map = CreateFileMappingW(handle_of(file), NULL, PAGE_READONLY, 0, 0, NULL);
    void *memory = map ? MapViewOfFile(map, FILE_MAP_READ, 0, 0, 0) : NULL;
    if (!memory) vit_windows_fail();
    if (map) CloseHandle(map);
    return memory ? memory : MAP_FAILED;
}

int vit_posix_munmap(void *memory, size_t size) {
    (void)size;
    return UnmapViewOfFile(memory) ? 0 : vit_windows_fail();
}

#endif
