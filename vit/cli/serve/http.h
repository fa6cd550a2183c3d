/* HTTP, by libmicrohttpd: reads requests, checks them, and has them answered by the routes. That
 * library serves no files and runs no scripts; accepting connections and limiting their time is
 * done in net/. */
#ifndef VIT_CLI_SERVE_HTTP_H
#define VIT_CLI_SERVE_HTTP_H

#include <sys/socket.h>

#include "vit/cli/serve/server.h"

typedef struct serve_http serve_http;

/* `server` must outlive it. Stopped and freed by serve_http_stop. */
vit_status serve_http_start(serve_http **out, serve_server *server, vit_error *error);

/* A serve_take_socket (net/listen.h); `context` is the serve_http. */
bool serve_http_take(int socket, const struct sockaddr *address, socklen_t length, void *context);

/* Waits for the answers under way, then closes all connections; NULL is allowed. */
void serve_http_stop(serve_http *http);

#endif
