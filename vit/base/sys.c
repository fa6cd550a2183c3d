#define _DEFAULT_SOURCE /* madvise: posix_madvise gives nothing back */
#include "vit/base/sys.h"
#include "vit/base/order.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

/* ---- memory ---- */

enum { ALIGNMENT = 64 };

/* Arrays of at least a huge page begin at one, so that the system may use huge pages: weights
 * and activations then cost a matrix product fewer page walks. */
enum { HUGE_PAGE = 2 << 20 };

bool vit_multiply(size_t a, size_t b, size_t *product) {
    if (b != 0 && a > SIZE_MAX / b) return false;
    *product = a * b;
    return true;
}

void *vit_alloc_unset(size_t count, size_t size) {
    size_t bytes;
    void *memory;
    /* More than PTRDIFF_MAX bytes cannot be indexed, whatever the allocator says. */
    if (!vit_multiply(count, size, &bytes) || bytes > PTRDIFF_MAX) return NULL;
    const bool large = bytes >= HUGE_PAGE;
    if (posix_memalign(&memory, large ? HUGE_PAGE : ALIGNMENT, bytes > 0 ? bytes : 1) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    /* A hint: it may fail. The last huge page would be more than is asked for. */
    if (large) madvise(memory, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#endif
#ifdef VIT_POISON
    memset(memory, VIT_POISON_BYTE, bytes);
#endif
    return memory;
}

void *vit_alloc(size_t count, size_t size) {
    void *memory = vit_alloc_unset(count, size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

void vit_free(void *memory) {
#ifdef _WIN32
    _aligned_free(memory);
#else
    free(memory);
#endif
}

void *vit_realloc(void *memory, size_t old_count, size_t new_count, size_t size) {
    void *grown = vit_alloc(new_count, size);
    if (grown && memory) {
        size_t kept = old_count < new_count ? old_count : new_count;
        memcpy(grown, memory, kept * size);
        vit_free(memory);
    }
    return grown;
}

void *vit_make_room(void *array, size_t count, size_t *capacity, size_t size, const char *what,
                    vit_error *error) {
    if (count < *capacity) return array;
    const size_t larger = count < 32 ? 64 : count * 2;
    void *memory = vit_realloc(array, count, larger, size);
    if (!memory) {
        vit_fail_memory(error, what, larger * size);
        return array;
    }
    *capacity = larger;
    return memory;
}

char *vit_strdup(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = vit_alloc(size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* ---- reading ---- */

static vit_status check_kind(const struct stat *info, const char *path, bool pipes,
                             vit_error *error) {
    if (S_ISDIR(info->st_mode))
        return vit_fail(error, VIT_ERROR_IO, "%s is a directory, expected a file", path);
    if (!S_ISREG(info->st_mode) && !(pipes && S_ISFIFO(info->st_mode)))
        return vit_fail(error, VIT_ERROR_IO, "%s is a device or other special file, expected %s",
                        path, pipes ? "a regular file or a pipe" : "a regular file");
    return VIT_OK;
}

/* Checks the kind of file before it opens it, since opening a device may have effects. What was a
 * regular file then is opened without waiting: it may have become a pipe that nobody writes to. */
static vit_status open_for_reading(int *fd, struct stat *info, const char *path, bool pipes,
                                   vit_error *error) {
    *fd = -1;
    if (stat(path, info) != 0) return vit_fail_errno(error, errno, "cannot open %s", path);
    vit_status status = check_kind(info, path, pipes, error);
    if (status != VIT_OK) return status;
    pipes = S_ISFIFO(info->st_mode);
    int opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (pipes ? 0 : O_NONBLOCK));
    if (opened < 0 || fstat(opened, info) != 0)
        status = vit_fail_errno(error, errno, "cannot open %s", path);
    else
        status = check_kind(info, path, pipes, error);
    if (status != VIT_OK && opened >= 0) {
        close(opened);
        return status;
    }
    *fd = opened;
    return status;
}

/* Bytes read, 0 only at the end; -1 with errno. */
static ssize_t read_some(int fd, void *data, size_t size) {
    const size_t most = 1 << 30; /* more than SSIZE_MAX may not be asked for at once */
    ssize_t n;
    do {
        n = read(fd, data, size < most ? size : most);
    } while (n < 0 && errno == EINTR);
    return n;
}

static vit_status grow(vit_bytes *out, size_t capacity, const char *name, vit_error *error) {
    uint8_t *grown = vit_realloc(out->data, out->size, capacity + 1, 1);
    if (!grown) return vit_fail_memory(error, name, capacity);
    out->data = grown;
    return VIT_OK;
}

static vit_status fail_limit(const char *name, size_t limit, vit_error *error) {
    return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s is larger than the limit of %zu bytes", name,
                    limit);
}

/* Reads to the end. `expected` is only the first guess: files grow and shrink, pipes have no size.
 */
static vit_status read_all(vit_bytes *out, int fd, size_t expected, const char *name, size_t limit,
                           vit_error *error) {
    size_t capacity = expected < limit ? expected : limit;
    vit_status status = grow(out, capacity, name, error);
    while (status == VIT_OK) {
        uint8_t probe;
        bool full = out->size == capacity;
        ssize_t n = full ? read_some(fd, &probe, 1)
                         : read_some(fd, out->data + out->size, capacity - out->size);
        if (n < 0) return vit_fail_errno(error, errno, "cannot read %s", name);
        if (n == 0) break;
        if (!full) {
            out->size += (size_t)n;
            continue;
        }
        if (capacity == limit) return fail_limit(name, limit, error);
        capacity = capacity < 4096 ? 4096 : capacity;
        capacity = capacity < limit / 2 ? capacity * 2 : limit;
        status = grow(out, capacity, name, error);
        if (status == VIT_OK) out->data[out->size++] = probe;
    }
    if (status == VIT_OK) out->data[out->size] = 0;
    return status;
}

/* Reads what was opened, whose kind `info` has, or standard input. */
static vit_status read_opened(vit_bytes *out, int fd, const struct stat *info, const char *name,
                              size_t limit, vit_error *error) {
    vit_status status = VIT_OK;
    const bool regular = S_ISREG(info->st_mode);
    const size_t expected = regular ? (size_t)info->st_size : 65536;
    *out = (vit_bytes){0};
    if (regular && (uint64_t)info->st_size > limit)
        status = vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s has %zu bytes, expected at most %zu",
                          name, expected, limit);
    if (status == VIT_OK) status = read_all(out, fd, expected, name, limit, error);
    if (status != VIT_OK) {
        vit_free(out->data);
        *out = (vit_bytes){0};
    }
    return status;
}

static vit_status read_named(vit_bytes *out, const char *path, bool pipes, size_t limit,
                             vit_error *error) {
    int fd;
    struct stat info;
    *out = (vit_bytes){0};
    vit_status status = open_for_reading(&fd, &info, path, pipes, error);
    if (status == VIT_OK) status = read_opened(out, fd, &info, path, limit, error);
    if (fd >= 0) close(fd);
    return status;
}

vit_status vit_read_file(vit_bytes *out, const char *path, size_t limit, vit_error *error) {
    const struct stat unknown = {0};
    if (strcmp(path, "-") == 0)
        return read_opened(out, STDIN_FILENO, &unknown, "standard input", limit, error);
    return read_named(out, path, true, limit, error);
}

vit_status vit_read_regular(vit_bytes *out, const char *path, size_t limit, vit_error *error) {
    return read_named(out, path, false, limit, error);
}

vit_status vit_file_open(int *file, uint64_t *size, const char *path, vit_error *error) {
    struct stat info;
    const vit_status status = open_for_reading(file, &info, path, false, error);
    *size = status == VIT_OK ? (uint64_t)info.st_size : 0;
    return status;
}

vit_status vit_file_read(void *data, size_t size, int file, uint64_t offset, const char *path,
                         vit_error *error) {
    const size_t most = 1 << 30;
    uint8_t *at = data;
    if (offset > INT64_MAX - (uint64_t)size)
        return vit_fail(error, VIT_ERROR_IO, "cannot read %s at %" PRIu64, path, offset);
    while (size > 0) {
        const ssize_t n = pread(file, at, size < most ? size : most, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return vit_fail_errno(error, errno, "cannot read %s", path);
        if (n == 0)
            return vit_fail(error, VIT_ERROR_IO,
                            "%s has become shorter: it ends before byte %" PRIu64, path,
                            offset + size);
        at += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return VIT_OK;
}

void vit_file_close(int file) {
    if (file >= 0) close(file);
}

vit_status vit_map_file(vit_bytes *out, const char *path, vit_error *error) {
    *out = (vit_bytes){0};
    int fd;
    struct stat info;
    vit_status status = open_for_reading(&fd, &info, path, false, error);
    if (status == VIT_OK && (uint64_t)info.st_size > PTRDIFF_MAX)
        status = fail_limit(path, PTRDIFF_MAX, error);
    if (status == VIT_OK && info.st_size > 0) {
        size_t size = (size_t)info.st_size;
        void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED)
            status = vit_fail_errno(error, errno, "cannot map %s", path);
        else
            *out = (vit_bytes){.data = data, .size = size};
    }
    if (fd >= 0) close(fd);
    return status;
}

void vit_unmap_file(vit_bytes *file) {
    if (file->data) munmap(file->data, file->size);
    *file = (vit_bytes){0};
}

/* Whether these pages were given back to the system, which on Linux makes them 0. */
static bool give_back(void *pages, size_t size) {
#ifdef __linux__
    if (size == 0 || madvise(pages, size, MADV_DONTNEED) != 0) return false;
    /* Otherwise the system may later replace a few pages that are left by a huge page. */
    madvise(pages, size, MADV_NOHUGEPAGE);
    return true;
#else
    (void)pages, (void)size;
    return false;
#endif
}

void vit_clear(void *data, size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t before = (page - (uintptr_t)data % page) % page;
    const size_t whole = size > before ? (size - before) / page * page : 0;
    uint8_t *pages = (uint8_t *)data + before;
    if (!give_back(pages, whole)) {
        memset(data, 0, size);
        return;
    }
    memset(data, 0, before);
    memset(pages + whole, 0, size - before - whole);
}

void vit_discard(void *data, size_t size) {
    vit_clear(data, size);
#ifdef VIT_POISON
    memset(data, VIT_POISON_BYTE, size);
#endif
#ifdef __SANITIZE_ADDRESS__
    ASAN_POISON_MEMORY_REGION(data, size);
#endif
}

void vit_map_release(const vit_bytes *file, const void *data, size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!file->data || size == 0) return;
    const size_t begin = (size_t)((const uint8_t *)data - file->data) / page * page;
    const size_t end = (size_t)((const uint8_t *)data - file->data) + size;
    madvise(file->data + begin, end - begin, MADV_DONTNEED);
}

/* ---- names ---- */

bool vit_name_is_wanted(const char *name) {
    static const char *const left[] = {"__MACOSX",     "@eaDir",      "#recycle",
                                       "$RECYCLE.BIN", "lost+found",  "System Volume Information",
                                       "Thumbs.db",    "ehthumbs.db", "desktop.ini",
                                       "Icon\r"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (strcasecmp(name, left[i]) == 0) return false;
    return name[0] != '.';
}

vit_path_kind vit_path_look(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) return VIT_PATH_NONE;
    return S_ISDIR(info.st_mode)   ? VIT_PATH_DIRECTORY
           : S_ISREG(info.st_mode) ? VIT_PATH_FILE
                                   : VIT_PATH_NONE;
}

bool vit_path_is_link(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

char *vit_path_real(const char *path) {
    char *real = realpath(path, NULL), *copy = real ? vit_strdup(real) : NULL;
    free(real);
    return copy;
}

void vit_path_name(char *name, size_t size, const char *path) {
    char *real = NULL;
    for (int turn = 0; turn < 2; turn++) {
        size_t end = strlen(path);
        while (end > 0 && path[end - 1] == '/') end--;
        size_t start = end;
        while (start > 0 && path[start - 1] != '/') start--;
        snprintf(name, size, "%.*s", (int)(end - start), path + start);
        if (turn > 0 || (*name != 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)) break;
        real = realpath(path, NULL);
        if (!real) break;
        path = real;
    }
    if (*name == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        snprintf(name, size, "data");
    free(real);
}

const char *vit_path_last(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *vit_path_directory(const char *path) {
    const size_t length = (size_t)(vit_path_last(path) - path);
    char *directory = vit_strdup(length > 0 ? path : ".");
    if (directory && length > 0) directory[length > 1 ? length - 1 : 1] = '\0';
    return directory;
}

char *vit_path_beside(const char *path, const char *name) {
    const size_t length = (size_t)(vit_path_last(path) - path), size = strlen(name) + 1;
    char *joined = vit_alloc(length + size, 1);
    if (!joined) return NULL;
    memcpy(joined, path, length);
    memcpy(joined + length, name, size);
    return joined;
}

char *vit_path_join(const char *directory, const char *name) {
    size_t length = strlen(directory);
    size_t name_size = strlen(name) + 1;
    size_t slash = length > 0 && directory[length - 1] != '/';
    char *path = vit_alloc(length + slash + name_size, 1);
    if (!path) return NULL;
    memcpy(path, directory, length);
    if (slash) path[length] = '/';
    memcpy(path + length + slash, name, name_size);
    return path;
}

/* Appends the names in the directory, each with its 0, to *text. Returns 0, or errno. */
static int read_names(DIR *directory, char **text, size_t *used, size_t *count) {
    size_t capacity = 0;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (!entry) return errno;
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        size_t size = strlen(name) + 1;
        if (*used + size > capacity) {
            size_t wanted = (*used + size) * 2 + 4096;
            char *grown = vit_realloc(*text, *used, wanted, 1);
            if (!grown) return ENOMEM;
            *text = grown;
            capacity = wanted;
        }
        memcpy(*text + *used, name, size);
        *used += size;
        ++*count;
    }
}

/* One block: the pointers, then the names they point to. */
static char **sorted_names(const char *text, size_t used, size_t count) {
    size_t table = count * sizeof(char *);
    char **names = vit_alloc(table + used, 1);
    if (!names || count == 0) return names;
    char *name = memcpy((char *)names + table, text, used);
    for (size_t i = 0; i < count; i++) {
        names[i] = name;
        name += strlen(name) + 1;
    }
    qsort(names, count, sizeof *names, vit_compare_texts);
    return names;
}

vit_status vit_list_directory(char ***names, size_t *count, const char *path, vit_error *error) {
    *names = NULL;
    *count = 0;
    DIR *directory = opendir(path);
    if (!directory) return vit_fail_errno(error, errno, "cannot open directory %s", path);
    char *text = NULL;
    size_t used = 0;
    int number = read_names(directory, &text, &used, count);
    closedir(directory);
    if (number == 0) {
        *names = sorted_names(text, used, *count);
        number = !*names ? ENOMEM : 0;
    }
    vit_free(text);
    if (number != 0) {
        *count = 0;
        return vit_fail_errno(error, number, "cannot read directory %s", path);
    }
    return VIT_OK;
}

vit_status vit_make_directory(const char *path, vit_error *error) {
    if (mkdir(path, 0777) == 0) return VIT_OK;
    int number = errno;
    if (number == EEXIST && vit_path_look(path) == VIT_PATH_DIRECTORY) return VIT_OK;
    if (number == EEXIST)
        return vit_fail(error, VIT_ERROR_IO, "cannot make directory %s: there is %s of that name",
                        path,
                        vit_path_look(path) == VIT_PATH_FILE ? "a file"
                        : vit_path_is_link(path)             ? "a link that leads nowhere"
                                                             : "something else");
    return vit_fail_errno(error, number, "cannot make directory %s", path);
}

vit_status vit_make_directories(const char *path, vit_error *error) {
    char *part = vit_strdup(path);
    if (!part) return vit_fail_memory(error, "a directory's name", strlen(path));
    vit_status status = VIT_OK;
    for (size_t i = 1; part[0] != '\0' && part[i] != '\0' && status == VIT_OK; i++) {
        if (part[i] != '/') continue;
        part[i] = '\0';
        if (vit_path_look(part) == VIT_PATH_NONE) status = vit_make_directory(part, error);
        part[i] = '/';
    }
    vit_free(part);
    return status == VIT_OK ? vit_make_directory(path, error) : status;
}

vit_status vit_remove_directory(const char *path, vit_error *error) {
    if (rmdir(path) != 0) return vit_fail_errno(error, errno, "cannot remove directory %s", path);
    return VIT_OK;
}

vit_status vit_remove_file(const char *path, vit_error *error) {
    if (unlink(path) != 0 && errno != ENOENT)
        return vit_fail_errno(error, errno, "cannot remove %s", path);
    return VIT_OK;
}

/* ---- time ---- */

void vit_yield(void) {
    sched_yield();
}

void vit_nap(double seconds) {
    const struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double vit_wall_clock(void) {
    return seconds_of(CLOCK_REALTIME);
}

double vit_clock(void) {
    return seconds_of(CLOCK_MONOTONIC);
}
