#include "vit/cli/serve/net/connections.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "vit/base/sys.h"

enum { MOST_LINGERING = 64 };
static const double lingering_seconds = 2;

struct serve_connection {
    int socket;
    serve_state state;
    bool known;             /* the HTTP library has it, and will call serve_connection_end */
    bool must_linger;       /* when it ends */
    bool cut;               /* it was shut down, its owner is about to close it */
    double since, deadline; /* of the state, vit_clock(); deadline 0: none */
    double worked;          /* seconds that its last answer took to compute; 0: there was none */
    bool is_proxy;
    char address[INET6_ADDRSTRLEN], client[INET6_ADDRSTRLEN]; /* client: "": it is the address */
    serve_connection *next;
};

struct serve_connections {
    serve_connections_options options;
    pthread_mutex_t lock; /* of all that follows */
    serve_connection *first;
    size_t count, lingering; /* count: without those that linger */
};

vit_status serve_connections_new(serve_connections **out, const serve_connections_options *options,
                                 vit_error *error) {
    serve_connections *cs = vit_alloc(1, sizeof *cs);
    *out = cs;
    if (!cs) return vit_fail_memory(error, "the connections", sizeof *cs);
    cs->options = *options;
    pthread_mutex_init(&cs->lock, NULL);
    return VIT_OK;
}

void serve_connections_free(serve_connections *cs) {
    if (!cs) return;
    for (serve_connection *c = cs->first, *next; c; c = next) {
        next = c->next;
        if (c->state == SERVE_LINGERING) close(c->socket);
        vit_free(c);
    }
    pthread_mutex_destroy(&cs->lock);
    vit_free(cs);
}

/* ---- with the lock held ---- */

static void remove_connection(serve_connections *cs, serve_connection *connection) {
    serve_connection **link = &cs->first;
    while (*link != connection) link = &(*link)->next;
    *link = connection->next;
    if (connection->state == SERVE_LINGERING) {
        cs->lingering--;
        close(connection->socket);
    } else {
        cs->count--;
    }
    vit_free(connection);
}

static serve_connection *find(serve_connections *cs, int socket) {
    for (serve_connection *c = cs->first; c; c = c->next)
        if (c->socket == socket) return c;
    return NULL;
}

static void enter(serve_connections *cs, serve_connection *c, serve_state state) {
    const double now = vit_clock();
    /* The deadline of a first request runs from the connection, not from its first line. */
    if (state == SERVE_READING && c->state == SERVE_READING && c->since > 0) return;
    if (c->state == SERVE_WORKING) c->worked = now - c->since;
    if (state == SERVE_READING) c->client[0] = '\0';
    c->state = state;
    c->since = now;
    switch (state) {
    case SERVE_WORKING:
        c->deadline = 0;
        break;
    case SERVE_LINGERING:
        c->deadline = now + lingering_seconds;
        break;
    case SERVE_IDLE:
    case SERVE_READING:
    case SERVE_SENDING:
        c->deadline = now + cs->options.timeout;
        break;
    }
}

/* Shuts down both directions, so that a thread waiting for the socket wakes up. Its owner closes
 * it.
 */
static void cut(serve_connection *c) {
    if (!c->cut) shutdown(c->socket, SHUT_RDWR);
    c->cut = true;
}

static bool has_arrived(const serve_connection *c) {
    char byte;
    return recv(c->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static serve_connection *longest_idle(serve_connections *cs) {
    serve_connection *longest = NULL;
    for (serve_connection *c = cs->first; c; c = c->next) {
        if (c->state == SERVE_IDLE && !c->cut && (!longest || c->since < longest->since) &&
            !has_arrived(c))
            longest = c;
    }
    return longest;
}

/* The connections of a client; those that a proxy has, while it asks for the client. */
static size_t count_of(serve_connections *cs, const char *address) {
    size_t count = 0;
    for (serve_connection *c = cs->first; c; c = c->next) {
        const bool is_own = c->is_proxy ? c->state != SERVE_IDLE && c->client[0] != '\0' : true;
        count += c->state != SERVE_LINGERING && !c->cut && is_own &&
                 strcmp(serve_connection_address(c), address) == 0;
    }
    return count;
}

/* ---- beginning ---- */

/* IPv6 addresses with the same first 64 bits count as one: who has one of them has them all. */
static void format_address(char text[INET6_ADDRSTRLEN], struct in6_addr v6) {
    if (IN6_IS_ADDR_V4MAPPED(&v6)) {
        inet_ntop(AF_INET, &v6.s6_addr[12], text, INET6_ADDRSTRLEN);
        return;
    }
    if (!IN6_IS_ADDR_LOOPBACK(&v6)) memset(&v6.s6_addr[8], 0, 8);
    inet_ntop(AF_INET6, &v6, text, INET6_ADDRSTRLEN);
}

serve_admission serve_connections_admit(serve_connections *cs, int socket,
                                        const struct sockaddr *address) {
    serve_connection *fresh = vit_alloc(1, sizeof *fresh);
    if (!fresh) return SERVE_FULL;
    struct in6_addr numbers;
    fresh->socket = socket;
    if (serve_address_of(&numbers, address)) {
        format_address(fresh->address, numbers);
        fresh->is_proxy = serve_proxies_has(cs->options.proxies, &numbers);
    }
    pthread_mutex_lock(&cs->lock);
    /* The same descriptor belonged to a socket that was closed without serve_connection_end. */
    serve_connection *stale = find(cs, socket);
    if (stale) remove_connection(cs, stale);
    serve_admission admission = SERVE_ADMITTED;
    serve_connection *idle = cs->count >= cs->options.most ? longest_idle(cs) : NULL;
    if (!fresh->is_proxy && count_of(cs, fresh->address) >= cs->options.per_address)
        admission = SERVE_ADDRESS_FULL;
    else if (cs->count >= cs->options.most && !idle)
        admission = SERVE_FULL;
    if (admission == SERVE_ADMITTED) {
        if (idle) cut(idle);
        enter(cs, fresh, SERVE_READING);
        fresh->next = cs->first;
        cs->first = fresh;
        cs->count++;
    }
    pthread_mutex_unlock(&cs->lock);
    if (admission != SERVE_ADMITTED) vit_free(fresh);
    return admission;
}

serve_connection *serve_connection_find(serve_connections *cs, int socket) {
    pthread_mutex_lock(&cs->lock);
    serve_connection *c = find(cs, socket);
    if (c) c->known = true;
    pthread_mutex_unlock(&cs->lock);
    return c;
}

void serve_connection_enter(serve_connections *cs, serve_connection *c, serve_state state) {
    if (!c) return;
    pthread_mutex_lock(&cs->lock);
    enter(cs, c, state);
    pthread_mutex_unlock(&cs->lock);
}

const char *serve_connection_address(const serve_connection *c) {
    return !c ? "" : c->client[0] != '\0' ? c->client : c->address;
}

bool serve_connection_forward(serve_connections *cs, serve_connection *c, const char *forwarded) {
    struct in6_addr numbers;
    char client[INET6_ADDRSTRLEN];
    if (!c || !c->is_proxy || !serve_proxies_client(&numbers, cs->options.proxies, forwarded))
        return true;
    format_address(client, numbers);
    pthread_mutex_lock(&cs->lock);
    const bool fits = count_of(cs, client) < cs->options.per_address;
    memcpy(c->client, client, sizeof client);
    pthread_mutex_unlock(&cs->lock);
    return fits;
}

size_t serve_connections_count(serve_connections *cs) {
    pthread_mutex_lock(&cs->lock);
    const size_t count = cs->count;
    pthread_mutex_unlock(&cs->lock);
    return count;
}

size_t serve_connections_asking(serve_connections *cs) {
    size_t count = 0;
    pthread_mutex_lock(&cs->lock);
    const double now = vit_clock();
    for (const serve_connection *c = cs->first; c; c = c->next) {
        const bool is_soon = c->state != SERVE_LINGERING && now - c->since < c->worked / 20;
        count += !c->cut && (c->state == SERVE_WORKING || is_soon);
    }
    pthread_mutex_unlock(&cs->lock);
    return count;
}

/* ---- ending ---- */

/* Takes ownership of the socket. The lock is held. */
static void add_lingering(serve_connections *cs, int socket) {
    serve_connection *c = cs->lingering < MOST_LINGERING ? vit_alloc(1, sizeof *c) : NULL;
    if (!c) {
        close(socket);
        return;
    }
    shutdown(socket, SHUT_WR);
    *c = (serve_connection){.socket = socket, .known = true, .next = cs->first};
    enter(cs, c, SERVE_LINGERING);
    cs->first = c;
    cs->lingering++;
}

void serve_connections_refuse(serve_connections *cs, int socket, const char *text) {
    const ssize_t sent = send(socket, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)sent; /* the connection is closed whether or not the answer arrives */
    fcntl(socket, F_SETFL, O_NONBLOCK);
    pthread_mutex_lock(&cs->lock);
    add_lingering(cs, socket);
    pthread_mutex_unlock(&cs->lock);
}

void serve_connection_linger(serve_connections *cs, serve_connection *c) {
    if (!c) return;
    pthread_mutex_lock(&cs->lock);
    c->must_linger = true;
    pthread_mutex_unlock(&cs->lock);
}

void serve_connection_end(serve_connections *cs, serve_connection *c) {
    if (!c) return;
    pthread_mutex_lock(&cs->lock);
    const int kept = c->must_linger && !c->cut ? fcntl(c->socket, F_DUPFD_CLOEXEC, 0) : -1;
    remove_connection(cs, c);
    if (kept >= 0) add_lingering(cs, kept);
    pthread_mutex_unlock(&cs->lock);
}

/* Reads and drops what has arrived; false if the connection has ended. */
static bool drain(const serve_connection *c) {
    char bytes[16384];
    for (int i = 0; i < 64; i++) {
        const ssize_t got = recv(c->socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        if (got == 0) return false;
    }
    return true;
}

static const char is_late[] = "HTTP/1.1 408 Request Timeout\r\n"
                              "Content-Type: application/json\r\nConnection: close\r\n"
                              "Content-Length: 51\r\n\r\n"
                              "{\"error\": \"the request did not arrive in its time\"}";
static const char is_ending[] = "HTTP/1.1 503 Service Unavailable\r\n"
                                "Content-Type: application/json\r\nConnection: close\r\n"
                                "Content-Length: 61\r\n\r\n"
                                "{\"error\": \"the server ends, and the request had not arrived\"}";

/* Cuts off a connection, with `text` if its request has not arrived. */
static void cut_with(serve_connection *c, const char *text) {
    if (c->state == SERVE_READING && !c->cut) {
        const ssize_t sent = send(c->socket, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
        (void)sent;
    }
    c->deadline = 0;
    cut(c);
}

static void time_out(serve_connections *cs, serve_connection *c) {
    if (c->known)
        cut_with(c, is_late);
    else
        remove_connection(cs, c); /* its socket may have been closed */
}

double serve_connections_sweep(serve_connections *cs) {
    pthread_mutex_lock(&cs->lock);
    const double now = vit_clock();
    double due = now + 1;
    for (serve_connection *c = cs->first, *next; c; c = next) {
        next = c->next;
        if (c->state == SERVE_LINGERING && (now >= c->deadline || !drain(c)))
            remove_connection(cs, c);
        else if (c->state != SERVE_LINGERING && c->deadline > 0 && now >= c->deadline)
            time_out(cs, c);
        else if (c->deadline > 0 && c->deadline < due)
            due = c->deadline;
    }
    if (cs->lingering > 0 && due > now + 0.02) due = now + 0.02;
    pthread_mutex_unlock(&cs->lock);
    return due > now ? due - now : 0;
}

static bool is_over(const serve_connection *c, serve_ending ending) {
    bool is_silent = c->state == SERVE_IDLE;
    switch (ending) {
    case SERVE_END_IDLE:
        break;
    case SERVE_END_LATE:
        is_silent |= c->state == SERVE_READING;
        break;
    case SERVE_END_ALL:
        return true;
    }
    return is_silent && !has_arrived(c);
}

void serve_connections_close(serve_connections *cs, serve_ending ending) {
    pthread_mutex_lock(&cs->lock);
    for (serve_connection *c = cs->first; c; c = c->next)
        if (c->state != SERVE_LINGERING && is_over(c, ending)) cut_with(c, is_ending);
    pthread_mutex_unlock(&cs->lock);
}
