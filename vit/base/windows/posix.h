/* The calls of POSIX that the sources use, for Windows: there the Makefile includes this file
 * before every other one, so that the sources know one system only. Paths are UTF-8 with '/', as
 * long as the file system allows. What a call does not do is said beside it; errno is set as by
 * POSIX. */
#ifndef VIT_BASE_WINDOWS_POSIX_H
#define VIT_BASE_WINDOWS_POSIX_H
#ifdef _WIN32

#define _FILE_OFFSET_BITS 64

/* The headers come first: the names below are other functions in them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define tell vit_tell /* io.h has this name, and so has a program */

#undef PATH_MAX
#define PATH_MAX 4096

/* A program's main gets its arguments as UTF-8 (main.c). */
#ifndef main
#define main vit_program_main
#endif
int vit_program_main(int argc, char **argv);

/* ---- files ---- */

#define O_CLOEXEC 0x100000 /* no file is inherited */
#define O_NOCTTY 0
#define O_NONBLOCK 0 /* opening does not wait here */
#define O_DIRECTORY 0x200000
#define O_NOFOLLOW 0x400000
int vit_posix_open(const char *path, int flags, ...);
int vit_posix_openat(int directory, const char *name, int flags, ...);
#define open vit_posix_open
#define openat vit_posix_openat

#undef ftruncate
ssize_t vit_posix_read(int file, void *data, size_t size); /* at most 2 GiB at once */
ssize_t vit_posix_write(int file, const void *data, size_t size);
ssize_t vit_posix_pread(int file, void *data, size_t size, off_t offset);
int vit_posix_fsync(int file); /* EINVAL of a directory */
#define read vit_posix_read
#define write vit_posix_write
#define pread vit_posix_pread
#define fsync vit_posix_fsync
#define ftruncate(file, size) _chsize_s(file, size)
#define fchmod(file, mode) ((void)(file), (void)(mode), 0)
#define posix_fallocate(file, offset, size) ((void)(file), (void)(size), EOPNOTSUPP)

#undef stat
#undef fstat
#define S_IFLNK 0xa000
#define S_ISLNK(mode) (((mode)&S_IFMT) == S_IFLNK)
struct vit_posix_stat {
    uint64_t st_dev, st_ino, st_nlink;
    unsigned st_mode;
    off_t st_size;
    struct timespec st_mtim;
};
int vit_posix_stat(const char *path, struct vit_posix_stat *info);
int vit_posix_lstat(const char *path, struct vit_posix_stat *info);
int vit_posix_fstat(int file, struct vit_posix_stat *info);
#define stat vit_posix_stat
#define lstat vit_posix_lstat
#define fstat vit_posix_fstat

int vit_posix_access(const char *path, int mode); /* W_OK: whether it is read-only */
int vit_posix_mkdir(const char *path, int mode);
int vit_posix_rmdir(const char *path);
int vit_posix_unlink(const char *path);
int vit_posix_unlinkat(int directory, const char *name, int flags);
int vit_posix_rename(const char *from, const char *to); /* at once, over what is there */
char *vit_posix_realpath(const char *path, char *real);
char *vit_posix_mkdtemp(char *path);
FILE *vit_posix_fopen(const char *path, const char *mode); /* never as text with \r\n */
#define access vit_posix_access
#define mkdir vit_posix_mkdir
#define rmdir vit_posix_rmdir
#define unlink vit_posix_unlink
#define remove vit_posix_unlink
#define unlinkat vit_posix_unlinkat
#define rename vit_posix_rename
#define realpath vit_posix_realpath
#define mkdtemp vit_posix_mkdtemp
#define fopen vit_posix_fopen

struct vit_posix_dirent {
    char d_name[1024];
};
typedef struct vit_posix_directory vit_posix_directory;
vit_posix_directory *vit_posix_opendir(const char *path);
struct vit_posix_dirent *vit_posix_readdir(vit_posix_directory *directory);
int vit_posix_closedir(vit_posix_directory *directory);
int vit_posix_scandir(const char *path, struct vit_posix_dirent ***list, void *filter, void *order);
#define DIR vit_posix_directory
#define dirent vit_posix_dirent
#define opendir vit_posix_opendir
#define readdir vit_posix_readdir
#define closedir vit_posix_closedir
#define scandir vit_posix_scandir

#define LOCK_EX 2
#define LOCK_NB 4
int vit_posix_flock(int file, int how); /* exclusive, and does not wait */
#define flock vit_posix_flock

/* ---- memory ---- */

#define PROT_READ 1
#define MAP_PRIVATE 2
#define MAP_FAILED ((void *)-1)
#define MADV_DONTNEED 4
void *vit_posix_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);
int vit_posix_munmap(void *memory, size_t size);
#define mmap vit_posix_mmap
#define munmap vit_posix_munmap
static inline int vit_posix_madvise(void *memory, size_t size, int advice) {
    return (void)memory, (void)size, (void)advice, 0;
}
#define madvise vit_posix_madvise
/* What it gives is freed by _aligned_free. */
#define posix_memalign(memory, alignment, size) \
    ((*(memory) = _aligned_malloc(size, alignment)) ? 0 : ENOMEM)

/* ---- arithmetic ---- */

double vit_posix_fma(double a, double b, double c);
#define fma vit_posix_fma

/* ---- processes ---- */

#define _SC_PAGESIZE 1
#define _SC_NPROCESSORS_ONLN 2
long vit_posix_sysconf(int name);
#define sysconf vit_posix_sysconf

int vit_posix_strerror(int number, char *text, size_t size); /* of sockets, too */
#define strerror_r vit_posix_strerror

int vit_posix_setenv(const char *name, const char *value, int replace);
int vit_posix_gethostname(char *name, size_t size);
ssize_t vit_posix_readlink(const char *path, char *target, size_t size); /* of /proc/self/exe */
#define setenv vit_posix_setenv
#define gethostname vit_posix_gethostname
#define readlink vit_posix_readlink

#define F_GETFD 1
int vit_posix_fcntl(int file, int command); /* F_GETFD: whether the file is open */
#define fcntl vit_posix_fcntl

struct vit_posix_pollfd {
    int fd;
    short events, revents;
};
#define pollfd vit_posix_pollfd
#define POLLIN 1
#define POLLOUT 4 /* always: a write may wait for who reads */
int vit_posix_poll(struct pollfd *files, unsigned long count,
                   int timeout); /* one, without waiting */
#define poll vit_posix_poll
#undef PIPE_BUF
#define PIPE_BUF 4096

struct winsize {
    unsigned short ws_row, ws_col;
};
#define TIOCGWINSZ 1
int vit_posix_ioctl(int file, int request, struct winsize *size);
#define ioctl vit_posix_ioctl

/* Only SIGINT and SIGTERM arrive; the others are refused, and signal does nothing. */
#define SIGHUP 1
#define SIGUSR1 10
#define SIGPIPE 13
#define SIGXFSZ 25
#define SA_RESTART 0
struct sigaction {
    void (*sa_handler)(int number);
    int sa_flags, sa_mask;
};
int vit_posix_sigaction(int number, const struct sigaction *action, struct sigaction *before);
#define sigaction(number, action, before) vit_posix_sigaction(number, action, before)
#define sigemptyset(set) (*(set) = 0)
#define signal(number, handler) ((void)(number), (void)(handler))

/* Ctrl-C is SIGINT; Ctrl-Break, a closed window and the end of the session are SIGTERM. One that is
 * blocked is blocked in all threads. */
typedef unsigned vit_posix_sigset;
#define sigset_t vit_posix_sigset
#define sigaddset(set, number) (*(set) |= 1u << (number))
#undef SIG_BLOCK
#undef SIG_UNBLOCK
#undef pthread_sigmask
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
int vit_posix_sigmask(int how, const sigset_t *set, sigset_t *before); /* before: NULL */
int vit_posix_sigwait(const sigset_t *set, int *number);
#define pthread_sigmask vit_posix_sigmask
#define sigwait vit_posix_sigwait

/* ---- sockets (sockets.h) ---- */

#define MHD_PLATFORM_H /* microhttpd.h is to include none of the system's headers */

struct rlimit {
    uint64_t rlim_cur, rlim_max;
};
#define RLIMIT_NOFILE 7
#define RLIM_INFINITY UINT64_MAX
/* Windows has no limit of a process's sockets. */
static inline int vit_posix_getrlimit(int what, struct rlimit *limit) {
    return (void)what, *limit = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY}, 0;
}
#define getrlimit vit_posix_getrlimit
#define setrlimit(what, limit) ((void)(what), (void)(limit), -1)

#endif
#endif
