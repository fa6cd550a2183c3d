#include "tests/support/fault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/power.h"

static atomic_long target, count, trickled;
static atomic_bool armed, trickling;
static const char *_Atomic failed;

void fault_arm(long n) {
    target = n;
    count = 0;
    failed = NULL;
    armed = true;
}

void fault_disarm(void) {
    armed = false;
}

long fault_count(void) {
    return count;
}

const char *fault_call(void) {
    return failed;
}

void fault_trickle(bool on) {
    trickled = 0;
    trickling = on;
}

/* Whether this call is the one that must fail; then sets errno. */
static bool fails(const char *name, int number) {
    if (!armed || atomic_fetch_add(&count, 1) + 1 != target) return false;
    failed = name;
    errno = number;
    return true;
}

/* Whether the power is gone (tests/support/power.h); then sets errno. */
static bool off(void) {
    const bool gone = power_gone();
    if (gone) errno = EIO;
    return gone;
}

static bool interrupted(size_t *size) {
    if (!trickling) return false;
    if (atomic_fetch_add(&trickled, 1) % 2 == 0) {
        errno = EINTR;
        return true;
    }
    *size = *size < 3 ? *size : 3;
    return false;
}

/* The linker (--wrap=call) replaces the calls by __wrap_call, and names the originals __real_call.
 */
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size);
ssize_t __real_pread(int fd, void *data, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *data, size_t size, off_t offset);
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
struct dirent *__real_readdir(DIR *directory);
struct dirent *__wrap_readdir(DIR *directory);

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size) {
    return fails("posix_memalign", ENOMEM) ? ENOMEM
                                           : __real_posix_memalign(memory, alignment, size);
}

int __wrap_open(const char *path, int flags, ...) {
    int mode = 0;
    if ((flags & O_CREAT) != 0) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, int);
        va_end(arguments);
    }
    const bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if (fails("open", EMFILE) || (writes && off())) return -1;
    const int fd = __real_open(path, flags, mode);
    if (writes && fd >= 0) power_opened(fd, path);
    return fd;
}

ssize_t __wrap_read(int fd, void *data, size_t size) {
    return fails("read", EIO) || interrupted(&size) ? -1 : __real_read(fd, data, size);
}

ssize_t __wrap_pread(int fd, void *data, size_t size, off_t offset) {
    return fails("pread", EIO) || interrupted(&size) ? -1 : __real_pread(fd, data, size, offset);
}

ssize_t __wrap_write(int fd, const void *data, size_t size) {
    if (fails("write", ENOSPC) || interrupted(&size) || off()) return -1;
    power_wrote(fd);
    return __real_write(fd, data, size);
}

int __wrap_fsync(int fd) {
    if (fails("fsync", EIO) || off()) return -1;
    power_synced(fd);
    return __real_fsync(fd);
}

int __wrap_unlink(const char *path) {
    if (off()) return -1;
    power_will_replace(path);
    const int result = __real_unlink(path);
    if (result == 0) power_removed(path);
    return result;
}

/* A close that fails has closed the file nevertheless. */
int __wrap_close(int fd) {
    bool failing = fails("close", EIO);
    int result = __real_close(fd);
    if (failing) errno = EIO;
    return failing ? -1 : result;
}

int __wrap_rename(const char *from, const char *to) {
    if (fails("rename", ENOSPC) || off()) return -1;
    power_will_replace(to);
    const int result = __real_rename(from, to);
    if (result == 0) power_renamed(from, to);
    return result;
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    return fails("mmap", ENOMEM) ? MAP_FAILED
                                 : __real_mmap(address, size, protection, flags, fd, offset);
}

DIR *__wrap_opendir(const char *path) {
    return fails("opendir", EMFILE) ? NULL : __real_opendir(path);
}

struct dirent *__wrap_readdir(DIR *directory) {
    return fails("readdir", EIO) ? NULL : __real_readdir(directory);
}

/* By default AddressSanitizer ends the program when an allocation fails. */
const char *__asan_default_options(void);

__attribute__((visibility("default"))) const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}
