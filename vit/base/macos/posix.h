/* The calls of POSIX that macOS has not, or has otherwise: there the Makefile includes this file
 * before every other one. */
#ifndef VIT_BASE_MACOS_POSIX_H
#define VIT_BASE_MACOS_POSIX_H
#ifdef __APPLE__

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define st_mtim st_mtimespec
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* programs with sockets ignore SIGPIPE */
#endif

/* A pipe that is ready takes 512 bytes; a longer line of a log may wait for who reads. */
#undef PIPE_BUF
#define PIPE_BUF 4096

int vit_posix_fallocate(int file, off_t offset, off_t size);
int vit_posix_fsync(int file); /* to the disk itself, not only to what it keeps in memory */
ssize_t vit_posix_readlink(const char *path, char *target, size_t size); /* of /proc/self/exe */
int vit_posix_poll(struct pollfd *files, nfds_t count, int timeout);     /* one may be a device */
#define posix_fallocate vit_posix_fallocate
#define fsync vit_posix_fsync
#define readlink vit_posix_readlink
#define poll vit_posix_poll

#endif
#endif
