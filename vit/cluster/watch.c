#define _GNU_SOURCE /* getifaddrs */
#include "vit/cluster/watch.h"
#include "vit/base/helpers.h"
#include "vit/base/sys.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TICK_MILLISECONDS 1000
#define TICKS_BETWEEN_SIGNS 5
#define TICKS_UNTIL_LOST 30
#define SECONDS_TO_JOIN 20
#define ADDRESSES (sizeof((vit_watch_place){0}.addresses) / sizeof *(vit_watch_place){0}.addresses)

/* What is sent: a sign of life, a rank that was lost, that the sender ends as it should. */
enum { ALIVE = 'a', LOST = 'l', LEAVING = 'e' };
typedef struct word {
    uint8_t kind, rank[4];
} word;

/* What a rank says first. */
typedef struct greeting {
    uint8_t secret[16];
    int32_t rank;
} greeting;

typedef struct peer {
    int socket, rank;
    int silent; /* ticks */
    bool is_gone;
    size_t have; /* bytes of `read` that have come */
    word read;
} peer;

struct vit_watch {
    int listener; /* -1: none */
    uint8_t secret[16];
    peer *peers; /* [count]: of rank 0 all others, of the others rank 0 */
    size_t count, wanted;
    struct pollfd *polled; /* [count + 1] */
    bool is_first;         /* this is rank 0 */
    int wake[2];           /* a pipe: closed at [1], the thread ends */
    pthread_t thread;
    bool runs;
    atomic_int lost;
};

/* ---- sockets ---- */

static bool move_all(int socket, void *data, size_t size, bool sends) {
    char *at = data;
    while (size > 0) {
        struct pollfd wait = {socket, sends ? POLLOUT : POLLIN, 0};
        if (poll(&wait, 1, 1000 * SECONDS_TO_JOIN) <= 0) return false;
        const ssize_t moved =
            sends ? send(socket, at, size, MSG_NOSIGNAL) : recv(socket, at, size, 0);
        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) return false;
        at += moved;
        size -= (size_t)moved;
    }
    return true;
}

static vit_watch *new_watch(size_t count, bool is_first) {
    vit_watch *w = vit_alloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (vit_watch){.listener = -1, .wanted = count, .is_first = is_first, .wake = {-1, -1}};
    atomic_init(&w->lost, -1);
    w->peers = vit_alloc(count, sizeof *w->peers);
    if (w->peers) return w;
    vit_free(w);
    return NULL;
}

static void list_addresses(vit_watch_place *place) {
    struct ifaddrs *all = NULL;
    size_t count = 0;
    if (getifaddrs(&all) != 0) return;
    for (int loopback = 0; loopback < 2; loopback++) /* a machine's own comes last */
        for (const struct ifaddrs *a = all; a && count + 1 < ADDRESSES; a = a->ifa_next) {
            const int family = a->ifa_addr ? a->ifa_addr->sa_family : AF_UNSPEC;
            const bool is_own = a->ifa_name && strncmp(a->ifa_name, "lo", 2) == 0;
            const socklen_t size =
                family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
            if (family != AF_INET && (family != AF_INET6 || is_own)) continue;
            if (is_own != (loopback == 1)) continue;
            if (getnameinfo(a->ifa_addr, size, place->addresses[count],
                            sizeof place->addresses[count], NULL, 0, NI_NUMERICHOST) == 0 &&
                !strchr(place->addresses[count], '%'))
                count++;
            else
                place->addresses[count][0] = '\0';
        }
    freeifaddrs(all);
}

/* A socket for both IPv6 and IPv4 where there is IPv6. */
static int listen_anywhere(uint16_t *port, int backlog) {
    struct sockaddr_storage own = {0};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t size = sizeof own;
    const int off = 0;
    int s = socket(AF_INET6, SOCK_STREAM, 0);
    if (s >= 0) {
        setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        if (bind(s, (struct sockaddr *)&six, sizeof six) != 0) {
            close(s);
            s = -1;
        }
    }
    if (s < 0) {
        s = socket(AF_INET, SOCK_STREAM, 0);
        if (s >= 0 && bind(s, (struct sockaddr *)&four, sizeof four) != 0) {
            close(s);
            s = -1;
        }
    }
    if (s < 0) return -1;
    if (listen(s, backlog) != 0 || getsockname(s, (struct sockaddr *)&own, &size) != 0) {
        close(s);
        return -1;
    }
    *port = ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port
                                            : ((struct sockaddr_in *)&own)->sin_port);
    return s;
}

vit_status vit_watch_listen(vit_watch **out, vit_watch_place *place, int size, vit_error *error) {
    *place = (vit_watch_place){0};
    vit_watch *w = *out = new_watch((size_t)size - 1, true);
    if (!w) return vit_fail_memory(error, "the watch of the ranks", sizeof *w);
    const vit_status status = vit_secret(w->secret, sizeof w->secret, error);
    if (status != VIT_OK) return status;
    w->listener = listen_anywhere(&place->port, size);
    if (w->listener < 0)
        return vit_fail_errno(error, errno, "rank 0 cannot listen for the other ranks");
    memcpy(place->secret, w->secret, sizeof w->secret);
    list_addresses(place);
    return VIT_OK;
}

static void take_connection(vit_watch *w, int socket) {
    greeting hello;
    if (!move_all(socket, &hello, sizeof hello, false) ||
        memcmp(hello.secret, w->secret, sizeof w->secret) != 0) {
        close(socket);
        return;
    }
    w->peers[w->count++] = (peer){.socket = socket, .rank = (int)hello.rank};
}

vit_status vit_watch_accept(vit_watch *w, vit_error *error) {
    struct pollfd wait = {w->listener, POLLIN, 0};
    const double start = vit_clock();
    while (w->count < w->wanted && vit_clock() - start < SECONDS_TO_JOIN) {
        if (poll(&wait, 1, TICK_MILLISECONDS) <= 0) continue;
        const int socket = accept(w->listener, NULL, NULL);
        if (socket >= 0) take_connection(w, socket);
    }
    close(w->listener);
    w->listener = -1;
    if (w->count == w->wanted) return VIT_OK;
    return vit_fail(error, VIT_ERROR_IO, "%zu of %zu other ranks connect to rank 0 over TCP",
                    w->count, w->wanted);
}

/* A connection within some seconds; -1: none. */
static int connect_to(const char *address, uint16_t port) {
    char service[8];
    struct addrinfo *found,
        hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    int failed = 0;
    socklen_t size = sizeof failed;
    snprintf(service, sizeof service, "%u", (unsigned)port);
    if (getaddrinfo(address, service, &hints, &found) != 0) return -1;
    const int s = socket(found->ai_family, SOCK_STREAM, 0);
    if (s >= 0) {
        fcntl(s, F_SETFL, O_NONBLOCK);
        struct pollfd wait = {s, POLLOUT, 0};
        const bool begun =
            connect(s, found->ai_addr, found->ai_addrlen) == 0 || errno == EINPROGRESS;
        if (!begun || poll(&wait, 1, 2 * TICK_MILLISECONDS) != 1 ||
            getsockopt(s, SOL_SOCKET, SO_ERROR, &failed, &size) != 0 || failed != 0) {
            close(s);
            freeaddrinfo(found);
            return -1;
        }
        fcntl(s, F_SETFL, 0);
    }
    freeaddrinfo(found);
    return s;
}

vit_status vit_watch_join(vit_watch **out, const vit_watch_place *place, int rank,
                          vit_error *error) {
    greeting hello = {.rank = rank};
    vit_watch *w = *out = new_watch(1, false);
    if (!w) return vit_fail_memory(error, "the watch of the ranks", sizeof *w);
    memcpy(hello.secret, place->secret, sizeof hello.secret);
    for (size_t i = 0; i < ADDRESSES && place->addresses[i][0] && w->count == 0; i++) {
        const int s = connect_to(place->addresses[i], place->port);
        if (s < 0) continue;
        if (move_all(s, &hello, sizeof hello, true))
            w->peers[w->count++] = (peer){.socket = s};
        else
            close(s);
    }
    if (w->count == 1) return VIT_OK;
    return vit_fail(error, VIT_ERROR_IO, "rank 0 cannot be reached over TCP, port %u",
                    (unsigned)place->port);
}

/* ---- the thread ---- */

static void say(const peer *p, uint8_t kind, int rank) {
    const word w = {
        kind, {(uint8_t)(rank >> 24), (uint8_t)(rank >> 16), (uint8_t)(rank >> 8), (uint8_t)rank}};
    if (!p->is_gone) send(p->socket, &w, sizeof w, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void lose(vit_watch *w, peer *p, int rank) {
    int none = -1;
    p->is_gone = true;
    if (!atomic_compare_exchange_strong(&w->lost, &none, rank) || !w->is_first) return;
    for (size_t i = 0; i < w->count; i++) say(&w->peers[i], LOST, rank);
}

static void hear(vit_watch *w, peer *p) {
    const ssize_t got =
        recv(p->socket, (char *)&p->read + p->have, sizeof p->read - p->have, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        lose(w, p, p->rank);
        return;
    }
    p->silent = 0;
    p->have += (size_t)got;
    if (p->have < sizeof p->read) return;
    p->have = 0;
    const uint8_t *r = p->read.rank;
    if (p->read.kind == LEAVING) p->is_gone = true;
    if (p->read.kind == LOST) lose(w, p, r[0] << 24 | r[1] << 16 | r[2] << 8 | r[3]);
}

/* A tick counts only what this thread has lived through, so that a job that was suspended as a
 * whole goes on. */
static void tick(vit_watch *w, unsigned ticks) {
    for (size_t i = 0; i < w->count; i++) {
        peer *p = &w->peers[i];
        if (p->is_gone) continue;
        if (ticks % TICKS_BETWEEN_SIGNS == 0) say(p, ALIVE, 0);
        if (++p->silent > TICKS_UNTIL_LOST) lose(w, p, p->rank);
    }
}

static void *watch_thread(void *context) {
    vit_watch *w = context;
    double last = vit_clock();
    struct pollfd *all = w->polled;
    for (unsigned ticks = 0;;) {
        all[w->count] = (struct pollfd){w->wake[0], POLLIN, 0};
        for (size_t i = 0; i < w->count; i++)
            all[i] = (struct pollfd){w->peers[i].is_gone ? -1 : w->peers[i].socket, POLLIN, 0};
        poll(all, (nfds_t)w->count + 1, TICK_MILLISECONDS);
        if (all[w->count].revents != 0) return NULL;
        for (size_t i = 0; i < w->count; i++)
            if (all[i].revents != 0) hear(w, &w->peers[i]);
        if (vit_clock() - last < 1e-3 * TICK_MILLISECONDS) continue;
        last = vit_clock();
        tick(w, ++ticks);
    }
}

vit_status vit_watch_start(vit_watch *w, vit_error *error) {
    w->polled = vit_alloc(w->count + 1, sizeof *w->polled);
    if (!w->polled) return vit_fail_memory(error, "the watch of the ranks", w->count);
    if (pipe(w->wake) != 0) return vit_fail_errno(error, errno, "the watch of the ranks");
    const int failed = vit_start_thread(&w->thread, watch_thread, w);
    if (failed != 0) return vit_fail_errno(error, failed, "the watch of the ranks");
    w->runs = true;
    return VIT_OK;
}

int vit_watch_lost(const vit_watch *w) {
    return w ? atomic_load_explicit(&w->lost, memory_order_relaxed) : -1;
}

void vit_watch_leave(vit_watch *w) {
    if (!w || !w->runs) return;
    close(w->wake[1]);
    w->wake[1] = -1;
    pthread_join(w->thread, NULL);
    w->runs = false;
    for (size_t i = 0; i < w->count; i++) say(&w->peers[i], LEAVING, 0);
}

void vit_watch_free(vit_watch *w) {
    if (!w) return;
    vit_watch_leave(w);
    for (size_t i = 0; i < 2; i++)
        if (w->wake[i] >= 0) close(w->wake[i]);
    for (size_t i = 0; i < w->count; i++) close(w->peers[i].socket);
    if (w->listener >= 0) close(w->listener);
    vit_free(w->peers);
    vit_free(w->polled);
    vit_free(w);
}
