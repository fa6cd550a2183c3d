/* HTTP, by libmicrohttpd: requests are read and checked, and answered by the routes. The library
 * has no files, no programs and no scripts to serve; sockets and their time are our own
 * (net/connections.h). */
#ifndef VIT_CLI_SERVE_HTTP_H
#define VIT_CLI_SERVE_HTTP_H

#include "vit/cli/serve/server.h"

typedef struct serve_http serve_http;

vit_status serve_http_start(serve_http **out, serve_server *server, vit_error *error);

/* A serve_take_socket; `context` is the serve_http. */
bool serve_http_take(int socket, const struct sockaddr *address, socklen_t length, void *context);

void serve_http_stop(serve_http *http); /* takes NULL */

#endif
