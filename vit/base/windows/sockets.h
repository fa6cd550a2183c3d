/* Sockets of POSIX, for Windows: scripts/cross makes <sys/socket.h>, <netinet/in.h> and the like
 * headers that include this one. In a file that includes one of them every descriptor is a
 * socket: close, read, write, poll, fcntl and pipe are those of sockets there. */
#ifndef VIT_BASE_WINDOWS_SOCKETS_H
#define VIT_BASE_WINDOWS_SOCKETS_H
#ifdef _WIN32

/* The names of posix.h are other things in the system's header, whose own are moved away. */
#undef pollfd
#undef poll
#undef gethostname
#define pollfd vit_windows_pollfd
#define poll vit_windows_poll
#define gethostname vit_windows_gethostname
#undef POLLIN
#undef POLLOUT
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <winsock2.h>
/**/
#include <ws2tcpip.h>
#undef near
#undef far
#undef interface
#undef pollfd
#define pollfd vit_posix_pollfd
#undef gethostname
#define gethostname vit_posix_gethostname
#undef POLLIN
#undef POLLOUT
#define POLLIN 1
#define POLLOUT 4

#define SHUT_WR SD_SEND
#define SHUT_RDWR SD_BOTH
#define MSG_DONTWAIT 0 /* a socket that was accepted never waits */
#define MSG_NOSIGNAL 0
#define F_SETFD 2
#define F_SETFL 4
#define F_DUPFD_CLOEXEC 1030
#define FD_CLOEXEC 1
#define O_NONBLOCK 0x800000

/* Of Winsock, SO_REUSEADDR lets two programs have one port; nobody else has it with this. */
#undef SO_REUSEADDR
#define SO_REUSEADDR (~4)

/* Begins Winsock, and is called before the others. */
int vit_posix_getaddrinfo(const char *host, const char *service, const struct addrinfo *wanted,
                          struct addrinfo **found);
int vit_posix_socket(int family, int type, int protocol);
int vit_posix_bind(int socket, const struct sockaddr *address, socklen_t size);
int vit_posix_listen(int socket, int waiting);
int vit_posix_accept(int socket, struct sockaddr *address, socklen_t *size);
int vit_posix_getsockname(int socket, struct sockaddr *address, socklen_t *size);
int vit_posix_setsockopt(int socket, int level, int name, const void *value, socklen_t size);
int vit_posix_shutdown(int socket, int how);
ssize_t vit_posix_send(int socket, const void *data, size_t size, int flags);
ssize_t vit_posix_recv(int socket, void *data, size_t size, int flags);
#undef getaddrinfo
#define getaddrinfo vit_posix_getaddrinfo
#define socket vit_posix_socket
#define bind vit_posix_bind
#define listen vit_posix_listen
#define accept vit_posix_accept
#define getsockname vit_posix_getsockname
#define setsockopt vit_posix_setsockopt
#define shutdown vit_posix_shutdown
#define send vit_posix_send
#define recv vit_posix_recv

int vit_socket_close(int socket);
int vit_socket_poll(struct pollfd *sockets, unsigned long count, int timeout); /* POLLIN alone */
int vit_socket_fcntl(int socket, int command, int value); /* F_SETFD, F_SETFL, F_DUPFD_CLOEXEC */
int vit_socket_pipe(int ends[2]);                         /* a connection of this machine */
#undef close
#undef read
#undef write
#undef poll
#undef fcntl
#undef pipe
#define close vit_socket_close
#define read(socket, data, size) vit_posix_recv(socket, data, size, 0)
#define write(socket, data, size) vit_posix_send(socket, data, size, 0)
#define poll vit_socket_poll
#define fcntl vit_socket_fcntl
#define pipe vit_socket_pipe

#endif
#endif
