#include "vit/cli/serve/net/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vit/base/sys.h"

struct serve_listener {
    int socket;  /* -1: closed */
    int wake[2]; /* a pipe: a byte wakes the thread, which looks at `closing` and `ending` */
    int reserve; /* a descriptor that is kept to refuse a client when none is left; -1: in use */
    char url[96];
    bool running;
    pthread_t thread;
    atomic_bool closing, ending, closed;
    serve_connections *connections;
    serve_metrics *metrics;
    serve_take_socket *take;
    void *context;
};

/* ---- opening ---- */

static void set_flags(int descriptor) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
}

/* Any descriptor does. */
static int reserve(void) {
    return socket(AF_INET, SOCK_STREAM, 0);
}

static int open_socket(const struct addrinfo *address) {
    const int yes = 1, opened = socket(address->ai_family, SOCK_STREAM, 0);
    if (opened < 0) return -1;
    set_flags(opened);
    setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(opened, address->ai_addr, (socklen_t)address->ai_addrlen) == 0 &&
        listen(opened, 1024) == 0)
        return opened;
    const int number = errno;
    close(opened);
    errno = number;
    return -1;
}

static void write_url(serve_listener *l) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[64] = "", port[8] = "";
    getsockname(l->socket, (struct sockaddr *)&address, &length);
    getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    const bool is_v6 = address.ss_family == AF_INET6;
    snprintf(l->url, sizeof l->url, "http://%s%s%s:%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "",
             port);
}

vit_status serve_listen(serve_listener **out, const char *host, unsigned port, vit_error *error) {
    struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    char service[8];
    *out = NULL;
    snprintf(service, sizeof service, "%u", port);
    const bool is_local = strcmp(host, "localhost") == 0;
    wanted.ai_flags = AI_NUMERICSERV | AI_NUMERICHOST;
    if (getaddrinfo(is_local ? "127.0.0.1" : host, service, &wanted, &found) != 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "--host: \"%s\" is no address, expected one such as 127.0.0.1, 0.0.0.0 or "
                        "::1",
                        host);
    serve_listener *l = vit_alloc(1, sizeof *l);
    vit_status status = !l ? vit_fail_memory(error, "the listener", sizeof *l) : VIT_OK;
    if (status == VIT_OK) {
        l->wake[0] = l->wake[1] = -1;
        l->socket = open_socket(found);
        l->reserve = reserve();
        if (l->socket < 0)
            status = vit_fail_errno(error, errno, "cannot listen on %s, port %u", host, port);
        else if (pipe(l->wake) != 0)
            status = vit_fail_errno(error, errno, "cannot make a pipe");
    }
    freeaddrinfo(found);
    if (status == VIT_OK) {
        set_flags(l->wake[0]);
        set_flags(l->wake[1]);
        write_url(l);
        *out = l;
    } else {
        serve_listener_free(l);
    }
    return status;
}

const char *serve_listener_url(const serve_listener *l) {
    return l->url;
}

/* ---- the thread ---- */

const char serve_busy[] = "HTTP/1.1 503 Service Unavailable\r\n"
                          "Content-Type: application/json\r\nRetry-After: 1\r\n"
                          "Connection: close\r\nContent-Length: 42\r\n\r\n"
                          "{\"error\": \"too many connections are open\"}";
static const char address_busy[] =
    "HTTP/1.1 429 Too Many Requests\r\n"
    "Content-Type: application/json\r\nRetry-After: 1\r\n"
    "Connection: close\r\nContent-Length: 60\r\n\r\n"
    "{\"error\": \"too many connections are open from this address\"}";

static void take_connection(serve_listener *l, int socket, const struct sockaddr *address,
                            socklen_t length) {
    const int yes = 1;
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    switch (serve_connections_admit(l->connections, socket, address)) {
    case SERVE_ADMITTED:
        l->take(socket, address, length, l->context);
        return;
    case SERVE_ADDRESS_FULL:
        serve_connections_refuse(l->connections, socket, address_busy);
        break;
    case SERVE_FULL:
        serve_connections_refuse(l->connections, socket, serve_busy);
        break;
    }
    serve_metrics_refused(l->metrics);
}

/* No descriptor is left: uses the reserve to refuse the next client with 503. */
static void refuse_one(serve_listener *l) {
    if (l->reserve >= 0) close(l->reserve);
    const int socket = accept(l->socket, NULL, NULL);
    if (socket >= 0) {
        const ssize_t sent =
            send(socket, serve_busy, strlen(serve_busy), MSG_DONTWAIT | MSG_NOSIGNAL);
        char bytes[4096];
        const ssize_t got = recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
        (void)sent;
        (void)got;
        close(socket);
        serve_metrics_refused(l->metrics);
    }
    l->reserve = reserve();
    vit_nap(0.01);
}

/* Accepts all connections that are waiting. */
static void accept_all(serve_listener *l) {
    for (;;) {
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        const int socket = accept(l->socket, (struct sockaddr *)&address, &length);
        if (socket >= 0) {
            take_connection(l, socket, (const struct sockaddr *)&address, length);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            refuse_one(l);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static void *run_listener(void *context) {
    serve_listener *l = context;
    while (!atomic_load(&l->ending)) {
        const double due = serve_connections_sweep(l->connections);
        struct pollfd waits[2] = {{.fd = l->wake[0], .events = POLLIN},
                                  {.fd = l->socket, .events = POLLIN}};
        poll(waits, 2, (int)(due * 1000) + 1);
        char bytes[64];
        const ssize_t got = read(l->wake[0], bytes, sizeof bytes);
        (void)got;
        if (l->socket >= 0) accept_all(l);
        if (atomic_load(&l->closing) && l->socket >= 0) {
            close(l->socket);
            l->socket = -1;
            atomic_store(&l->closed, true);
        }
    }
    return NULL;
}

vit_status serve_listener_start(serve_listener *l, serve_connections *connections,
                                serve_metrics *metrics, serve_take_socket *take, void *context,
                                vit_error *error) {
    l->connections = connections;
    l->metrics = metrics;
    l->take = take;
    l->context = context;
    const int number = pthread_create(&l->thread, NULL, run_listener, l);
    if (number != 0) return vit_fail_errno(error, number, "cannot start the thread that listens");
    l->running = true;
    return VIT_OK;
}

static void wake(serve_listener *l) {
    const ssize_t put = write(l->wake[1], "", 1);
    (void)put; /* a full pipe wakes, too */
}

void serve_listener_close(serve_listener *l) {
    atomic_store(&l->closing, true);
    wake(l);
    while (l->running && !atomic_load(&l->closed)) vit_nap(0.001);
}

void serve_listener_free(serve_listener *l) {
    if (!l) return;
    if (l->running) {
        atomic_store(&l->ending, true);
        wake(l);
        pthread_join(l->thread, NULL);
    }
    const int descriptors[] = {l->socket, l->wake[0], l->wake[1], l->reserve};
    for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++)
        if (descriptors[i] >= 0) close(descriptors[i]);
    vit_free(l);
}
