/* The connections that are open, and how long each may take.
 *
 * A timeout of inactivity alone would let a client hold a connection for ever by sending a byte now
 * and then. So a request must arrive within `timeout` of its first line (which must come within
 * `timeout` of the connection, or of the previous answer), and its answer must be read within
 * `timeout`. A request that is late is answered with 408; then the connection is cut off.
 *
 * Functions may be called from any thread. */
#ifndef VIT_CLI_SERVE_NET_CONNECTIONS_H
#define VIT_CLI_SERVE_NET_CONNECTIONS_H

#include "vit/base/error.h"
#include "vit/cli/serve/net/proxy.h"

typedef enum serve_state {
    SERVE_IDLE,      /* between an answer and the next request */
    SERVE_READING,   /* a request is arriving, or the first one is awaited */
    SERVE_WORKING,   /* the request has arrived and is being answered; this has no deadline */
    SERVE_SENDING,   /* the answer is being sent */
    SERVE_LINGERING, /* the request was refused before it had arrived: the rest is read and dropped
                        for a moment, since closing a socket with unread bytes may destroy the
                        answer */
} serve_state;

typedef struct serve_connection serve_connection;
typedef struct serve_connections serve_connections;

typedef struct serve_connections_options {
    size_t most, per_address;
    double timeout;               /* seconds */
    const serve_proxies *proxies; /* have as many as they like: their clients are counted */
} serve_connections_options;

vit_status serve_connections_new(serve_connections **out, const serve_connections_options *options,
                                 vit_error *error);
void serve_connections_free(serve_connections *connections);

typedef enum serve_admission {
    SERVE_ADMITTED,
    SERVE_ADDRESS_FULL, /* its address has `per_address` connections already */
    SERVE_FULL,         /* there are `most` connections, and none is idle */
} serve_admission;

/* Admits a socket that was accepted. If there are `most` connections, the one that has been idle
 * for the longest time is closed. */
serve_admission serve_connections_admit(serve_connections *connections, int socket,
                                        const struct sockaddr *address);

/* Sends `text` to a socket that was not admitted, and closes it. */
void serve_connections_refuse(serve_connections *connections, int socket, const char *text);

/* The connection of an admitted socket, or NULL. */
serve_connection *serve_connection_find(serve_connections *connections, int socket);

/* Call when its socket is about to be closed: frees the connection. */
void serve_connection_end(serve_connections *connections, serve_connection *connection);

/* When the connection ends, it is to linger (SERVE_LINGERING). */
void serve_connection_linger(serve_connections *connections, serve_connection *connection);

/* The connection is in this state from now on; sets its deadline. */
void serve_connection_enter(serve_connections *connections, serve_connection *connection,
                            serve_state state);

/* "127.0.0.1"; behind a proxy, the client's. */
const char *serve_connection_address(const serve_connection *connection);

/* forwarded: the value of X-Forwarded-For of the request that arrives, which says for whom a proxy
 * asks; without meaning on other connections. False: that client has `per_address` requests and
 * connections already. */
bool serve_connection_forward(serve_connections *connections, serve_connection *connection,
                              const char *forwarded);

size_t serve_connections_count(serve_connections *connections);

/* Connections whose request is being answered, and those that are likely to ask soon: they entered
 * their state less than a twentieth of the time ago that their last answer took. */
size_t serve_connections_asking(serve_connections *connections);

/* Cuts off connections that are late. Returns the seconds until it must be called again. */
double serve_connections_sweep(serve_connections *connections);

/* How far the server's end has come. */
typedef enum serve_ending {
    SERVE_END_IDLE, /* cuts off idle connections on which nothing has arrived, */
    SERVE_END_LATE, /* and those whose requests have not arrived, with 503, */
    SERVE_END_ALL,  /* and all others */
} serve_ending;
void serve_connections_close(serve_connections *connections, serve_ending ending);

#endif
