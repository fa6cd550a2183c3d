/* The connections that are open, and how long each may take.
 *
 * A clock of inactivity alone lets a client hold a connection for ever with a byte now and then. So
 * a request must have arrived whole within `timeout` of its first line (which itself must come
 * within `timeout` of the connection, or of the answer before), and its answer must have been taken
 * within another. What is late is told so where that makes sense (408), and cut off.
 *
 * Functions may be called from any thread. */
#ifndef VIT_CLI_SERVE_NET_CONNECTIONS_H
#define VIT_CLI_SERVE_NET_CONNECTIONS_H

#include <sys/socket.h>

#include "vit/base/error.h"

typedef enum serve_state {
    SERVE_IDLE,      /* between an answer and the next request */
    SERVE_READING,   /* a request is on its way, or the first one is awaited */
    SERVE_WORKING,   /* it has arrived and is being answered: as long as that takes */
    SERVE_SENDING,   /* the answer is on its way */
    SERVE_LINGERING, /* refused, yet still sent to: what comes is thrown away for a moment, since a
                        socket closed on unread bytes takes the answer back */
} serve_state;

typedef struct serve_connection serve_connection;
typedef struct serve_connections serve_connections;

typedef struct serve_connections_options {
    size_t most, per_address;
    double timeout; /* seconds */
} serve_connections_options;

vit_status serve_connections_new(serve_connections **out, const serve_connections_options *options,
                                 vit_error *error);
void serve_connections_free(serve_connections *connections);

typedef enum serve_admission {
    SERVE_ADMITTED,
    SERVE_ADDRESS_FULL, /* its address has as many as it may */
    SERVE_FULL,         /* there are as many as may be, and none is idle */
} serve_admission;

/* A socket that was accepted. Where all places are taken, the one that has been idle longest makes
 * room. */
serve_admission serve_connections_admit(serve_connections *connections, int socket,
                                        const struct sockaddr *address);

/* Answers `text` to a socket that is not admitted, and closes it. */
void serve_connections_refuse(serve_connections *connections, int socket, const char *text);

/* The one with an admitted socket, or NULL. */
serve_connection *serve_connection_find(serve_connections *connections, int socket);

/* Its socket is about to be closed. Lingers where serve_connection_linger has asked for it. */
void serve_connection_end(serve_connections *connections, serve_connection *connection);
void serve_connection_linger(serve_connections *connections, serve_connection *connection);

void serve_connection_enter(serve_connections *connections, serve_connection *connection,
                            serve_state state);

const char *serve_connection_address(const serve_connection *connection); /* "127.0.0.1" */

size_t serve_connections_count(serve_connections *connections);

/* Those whose request has arrived and is not answered yet, and those that will ask soon, as far as
 * can be known: whose answer is on its way, or was less than a twentieth of the time ago that it
 * took, or whose next request has begun so shortly ago. */
size_t serve_connections_asking(serve_connections *connections);

/* Cuts off what is late. Returns the seconds until it is due again. */
double serve_connections_sweep(serve_connections *connections);

/* Ends connections that are idle and on which nothing has arrived; `all`: all of them. */
void serve_connections_close(serve_connections *connections, bool all);

#endif
