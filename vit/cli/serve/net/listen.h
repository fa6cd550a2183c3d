/* The socket that takes connections, and the thread that accepts them, hands them to the HTTP
 * library and watches their time. */
#ifndef VIT_CLI_SERVE_NET_LISTEN_H
#define VIT_CLI_SERVE_NET_LISTEN_H

#include "vit/cli/serve/net/connections.h"
#include "vit/cli/serve/work/metrics.h"

typedef struct serve_listener serve_listener;

/* host: an address, or "localhost". port 0: one that is free. Nothing is accepted yet. */
vit_status serve_listen(serve_listener **out, const char *host, unsigned port, vit_error *error);

/* "http://127.0.0.1:8080"; lives as long as the listener. */
const char *serve_listener_url(const serve_listener *listener);

/* What takes a socket that was admitted, to close it some time; false: it has closed it. */
typedef bool serve_take_socket(int socket, const struct sockaddr *address, socklen_t length,
                               void *context);

vit_status serve_listener_start(serve_listener *listener, serve_connections *connections,
                                serve_metrics *metrics, serve_take_socket *take, void *context,
                                vit_error *error);

/* Accepts what has come so far, then no more; those who come later are refused by the system. The
 * connections' time is still watched. */
void serve_listener_close(serve_listener *listener);
void serve_listener_free(serve_listener *listener); /* ends the thread; takes NULL */

#endif
