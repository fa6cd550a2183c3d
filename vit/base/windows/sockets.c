/* Sockets of posix.h: descriptors are the numbers of Winsock's, and errno is set. */
#ifdef _WIN32

#include "vit/base/windows/sockets.h"

#include <stdbool.h>

#undef socket
#undef bind
#undef listen
#undef accept
#undef getsockname
#undef setsockopt
#undef shutdown
#undef send
#undef recv
#undef getaddrinfo

/* What a call gave, with errno where it failed. */
static int result(int value) {
    static const struct {
        int windows, posix;
    } table[] = {
        {WSAEWOULDBLOCK, EAGAIN},
        {WSAEINTR, EINTR},
        {WSAECONNABORTED, ECONNABORTED},
        {WSAEMFILE, EMFILE},
        {WSAENOBUFS, ENOBUFS},
        {WSAEADDRINUSE, EADDRINUSE},
        {WSAEACCES, EACCES},
        {WSAEADDRNOTAVAIL, EADDRNOTAVAIL},
        {WSAEAFNOSUPPORT, EAFNOSUPPORT},
        {WSAEINVAL, EINVAL},
    };
    if (value != SOCKET_ERROR) return value;
    const int why = WSAGetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].windows == why) errno = table[i].posix;
    return -1;
}

static SOCKET socket_of(int number) {
    return (SOCKET)number;
}

/* A handle has 32 bits that count. No program that this one starts inherits it. */
static int number_of(SOCKET socket) {
    if (socket == INVALID_SOCKET) return result(SOCKET_ERROR);
    SetHandleInformation((HANDLE)socket, HANDLE_FLAG_INHERIT, 0);
    return (int)socket;
}

static int never_waits(int socket) {
    u_long yes = 1;
    return result(ioctlsocket(socket_of(socket), FIONBIO, &yes));
}

int vit_posix_getaddrinfo(const char *host, const char *service, const struct addrinfo *wanted,
                          struct addrinfo **found) {
    static bool begun;
    WSADATA about;
    if (!begun && WSAStartup(MAKEWORD(2, 2), &about) != 0) return EAI_FAIL;
    begun = true;
    return getaddrinfo(host, service, wanted, found);
}

int vit_posix_socket(int family, int type, int protocol) {
    return number_of(socket(family, type, protocol));
}

int vit_posix_bind(int socket, const struct sockaddr *address, socklen_t size) {
    return result(bind(socket_of(socket), address, size));
}

int vit_posix_listen(int socket, int waiting) {
    return result(listen(socket_of(socket), waiting));
}

int vit_posix_accept(int socket, struct sockaddr *address, socklen_t *size) {
    const int accepted = number_of(accept(socket_of(socket), address, size));
    if (accepted >= 0) never_waits(accepted);
    return accepted;
}

int vit_posix_getsockname(int socket, struct sockaddr *address, socklen_t *size) {
    return result(getsockname(socket_of(socket), address, size));
}

int vit_posix_setsockopt(int socket, int level, int name, const void *value, socklen_t size) {
    return result(setsockopt(socket_of(socket), level, name, value, size));
}

int vit_posix_shutdown(int socket, int how) {
    return result(shutdown(socket_of(socket), how));
}

static int at_most(size_t size) {
    return size < INT_MAX ? (int)size : INT_MAX;
}

ssize_t vit_posix_send(int socket, const void *data, size_t size, int flags) {
    return result(send(socket_of(socket), data, at_most(size), flags));
}

ssize_t vit_posix_recv(int socket, void *data, size_t size, int flags) {
    return result(recv(socket_of(socket), data, at_most(size), flags));
}

int vit_socket_close(int socket) {
    return result(closesocket(socket_of(socket)));
}

static int duplicate(int socket) {
    WSAPROTOCOL_INFOW what;
    if (WSADuplicateSocketW(socket_of(socket), GetCurrentProcessId(), &what) != 0)
        return result(SOCKET_ERROR);
    return number_of(WSASocketW(FROM_PROTOCOL_INFO, FROM_PROTOCOL_INFO, FROM_PROTOCOL_INFO, &what,
                                0, WSA_FLAG_OVERLAPPED));
}

int vit_socket_fcntl(int socket, int command, int value) {
    if (command == F_DUPFD_CLOEXEC) return duplicate(socket);
    return command == F_SETFL && value & O_NONBLOCK ? never_waits(socket) : 0;
}

int vit_socket_poll(struct pollfd *sockets, unsigned long count, int timeout) {
    struct timeval time = {timeout / 1000, timeout % 1000 * 1000};
    fd_set ready;
    FD_ZERO(&ready);
    for (unsigned long i = 0; i < count; i++)
        if (sockets[i].fd >= 0) FD_SET(socket_of(sockets[i].fd), &ready);
    const int found = result(select(0, &ready, NULL, NULL, timeout < 0 ? NULL : &time));
    for (unsigned long i = 0; i < count; i++)
        sockets[i].revents =
            found > 0 && sockets[i].fd >= 0 && FD_ISSET(socket_of(sockets[i].fd), &ready) ? POLLIN
                                                                                          : 0;
    return found;
}

int vit_socket_pipe(int ends[2]) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in peer = {0};
    struct sockaddr *address = (struct sockaddr *)&here;
    socklen_t size = sizeof here, room = sizeof peer;
    const SOCKET listener = socket(AF_INET, SOCK_STREAM, 0), one = socket(AF_INET, SOCK_STREAM, 0);
    SOCKET other = INVALID_SOCKET;
    if (bind(listener, address, size) == 0 && listen(listener, 1) == 0 &&
        getsockname(listener, address, &size) == 0 && connect(one, address, size) == 0)
        other = accept(listener, (struct sockaddr *)&peer, &room);
    /* Who else connected meanwhile is refused: the two ends know each other. */
    size = sizeof here;
    const bool fine = other != INVALID_SOCKET && getsockname(one, address, &size) == 0 &&
                      here.sin_port == peer.sin_port;
    ends[0] = number_of(other);
    ends[1] = number_of(one);
    closesocket(listener);
    if (fine) return 0;
    closesocket(one);
    if (other != INVALID_SOCKET) closesocket(other);
    ends[0] = ends[1] = -1;
    return -1;
}

#endif
