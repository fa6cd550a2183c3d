/* The listening socket, and the thread that accepts connections, hands them to the HTTP library and
 * enforces their deadlines. */
#ifndef VIT_CLI_SERVE_NET_LISTEN_H
#define VIT_CLI_SERVE_NET_LISTEN_H

#include <sys/socket.h>

#include "vit/cli/serve/net/connections.h"
#include "vit/cli/serve/work/metrics.h"

typedef struct serve_listener serve_listener;

/* The whole answer, 503, to a client for whom there is no place or no thread. */
extern const char serve_busy[];

/* Opens the socket. host: an address, or "localhost"; port 0: any free port. No connection is
 * accepted yet. Freed by serve_listener_free. */
vit_status serve_listen(serve_listener **out, const char *host, unsigned port, vit_error *error);

/* "http://127.0.0.1:8080"; lives as long as the listener. */
const char *serve_listener_url(const serve_listener *listener);

/* Takes ownership of a socket that was admitted; false: it could not be used and was closed. */
typedef bool serve_take_socket(int socket, const struct sockaddr *address, socklen_t length,
                               void *context);

/* Starts the thread; `take` is called for each connection that is admitted. */
vit_status serve_listener_start(serve_listener *listener, serve_connections *connections,
                                serve_metrics *metrics, serve_take_socket *take, void *context,
                                vit_error *error);

/* Accepts the connections that are waiting, then closes the socket. Deadlines are still enforced.
 */
void serve_listener_close(serve_listener *listener);

/* Ends the thread; NULL is allowed. */
void serve_listener_free(serve_listener *listener);

#endif
