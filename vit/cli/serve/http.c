#include "vit/cli/serve/http.h"

#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "vit/base/sys.h"
#include "vit/cli/serve/head.h"
#include "vit/cli/serve/net/listen.h"
#include "vit/cli/serve/route.h"
#include "vit/cli/serve/work/access_log.h"

struct serve_http {
    serve_server *server;
    struct MHD_Daemon *daemon;
};

/* A request while it is received and answered. */
typedef struct exchange {
    serve_request request;
    struct MHD_Connection *connection;
    serve_connection *peer;
    const serve_route *route; /* NULL: the path has none */
    char allow[64];           /* the methods of the path */
    uint8_t *body;
    size_t size, capacity;
    bool is_old;                              /* HTTP/1.0 */
    bool has_zero;                            /* "%00" in the path */
    bool is_checked, is_answered, is_refused; /* refused: before its header was read */
    serve_entry entry;                        /* for the log */
    double started;
} exchange;

/* ---- fields ---- */

/* The value of a header field; NULL: there is none. */
static const char *header(const exchange *x, const char *name) {
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result take_argument(void *context, enum MHD_ValueKind kind, const char *key,
                                     const char *value) {
    serve_request *r = context;
    (void)kind;
    return serve_add_argument(r, key, value ? value : "") ? MHD_YES : MHD_NO;
}

/* Gives the handlers all that they need of the header. */
static void describe(exchange *x) {
    x->request.content_type = header(x, "Content-Type");
    x->request.json_length = header(x, "Inference-Header-Content-Length");
    MHD_get_connection_values(x->connection, MHD_GET_ARGUMENT_KIND, take_argument, &x->request);
}

/* ---- replies ---- */

static void add_headers(struct MHD_Response *response, const exchange *x, const serve_reply *r) {
    static const char *const always[][2] = {
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
        {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
    };
    const serve_server *server = x->request.server;
    const char *origin = header(x, "Origin");
    char number[32];
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        const bool is_page = strcmp(always[i][0], "Content-Security-Policy") == 0 && r->policy;
        MHD_add_response_header(response, always[i][0], is_page ? r->policy : always[i][1]);
    }
    if (r->policy)
        MHD_add_response_header(response, "Permissions-Policy",
                                "camera=(self), microphone=(), geolocation=()");
    MHD_add_response_header(response, "Content-Type", r->type);
    if (r->allow) MHD_add_response_header(response, "Allow", r->allow);
    if (r->status == 401) MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (r->retry_after > 0) {
        snprintf(number, sizeof number, "%u", r->retry_after);
        MHD_add_response_header(response, "Retry-After", number);
    }
    if (r->json_size > 0) {
        snprintf(number, sizeof number, "%zu", r->json_size);
        MHD_add_response_header(response, "Inference-Header-Content-Length", number);
    }
    if (serve_origin_named(&server->guard, origin)) {
        MHD_add_response_header(response, "Access-Control-Allow-Origin", origin);
        MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, POST, PUT");
        MHD_add_response_header(response, "Access-Control-Allow-Headers",
                                "Authorization, Content-Type");
        MHD_add_response_header(response, "Vary", "Origin");
    }
    if (r->is_last || atomic_load(&server->stopping))
        MHD_add_response_header(response, "Connection", "close");
}

/* Queues the reply to be sent; takes ownership of its body. */
static enum MHD_Result send_reply(exchange *x, serve_reply *r) {
    serve_server *server = x->request.server;
    if (r->body.failed) serve_fail(r, 503, "no memory for the answer: try again later");
    struct MHD_Response *response =
        r->body.failed ? NULL
                       : MHD_create_response_from_buffer_with_free_callback(r->body.length,
                                                                            r->body.text, vit_free);
    if (!response) {
        vit_string_free(&r->body);
        return MHD_NO;
    }
    x->entry.status = r->status;
    x->entry.sent = r->body.length;
    x->is_answered = true;
    add_headers(response, x, r);
    serve_connection_enter(server->connections, x->peer, SERVE_SENDING);
    const enum MHD_Result result = MHD_queue_response(x->connection, r->status, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- checks, before the body is read ---- */

/* *has_body: whether a body follows. A request that states its length twice, or in two ways, is
 * refused: a proxy before this server might read it as two requests (request smuggling). */
static bool check_length(const exchange *x, const serve_head *f, bool *has_body,
                         serve_reply *reply) {
    uint64_t length = 0;
    const size_t most = x->request.server->body;
    const bool is_chunked = f->encoding_count > 0;
    *has_body = is_chunked;
    if (f->is_folded) {
        *has_body = true;
        serve_fail(reply, 400, "a field of the header goes on in the next line, expected one line");
    } else if (f->is_odd) {
        serve_fail(reply, 400, "a field of the header has a space in its name");
    } else if (f->has_control) {
        *has_body = true;
        serve_fail(reply, 400, "a field of the header has a control character");
    } else if (is_chunked && x->is_old) {
        serve_fail(reply, 400, "Transfer-Encoding: not known in HTTP/1.0");
    } else if (f->length_count > 1 || f->encoding_count > 1 ||
               (f->length_count > 0 && is_chunked)) {
        *has_body = true;
        serve_fail(reply, 400, "the length of the body is said more than once");
    } else if (is_chunked && strcasecmp(f->encoding, "chunked") != 0) {
        serve_fail(reply, 501, "Transfer-Encoding: expected chunked, or none");
    } else if (f->length_count > 0 && !vit_parse_u64(f->length, &length)) {
        *has_body = true;
        serve_fail(reply, 400, "Content-Length: expected a whole number");
    } else if (length > most) {
        *has_body = true;
        serve_fail(reply, 413, "the body has %llu bytes, expected at most %zu",
                   (unsigned long long)length, most);
    } else {
        *has_body = is_chunked || length > 0;
        return true;
    }
    reply->is_last = true;
    return false;
}

/* For "http://HOST/PATH", the form that is sent to a proxy: *path becomes /PATH. False: HOST is not
 * a name of this server. */
static bool take_authority(const serve_guard *guard, const char **path) {
    static const char *const schemes[] = {"http://", "https://"};
    char host[256];
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        const size_t scheme = strlen(schemes[i]);
        if (strncasecmp(*path, schemes[i], scheme) != 0) continue;
        const size_t length = strcspn(*path + scheme, "/");
        if (length >= sizeof host) return false;
        memcpy(host, *path + scheme, length);
        host[length] = '\0';
        *path += scheme + length;
        if (**path == '\0') *path = "/";
        return serve_host_allowed(guard, host);
    }
    return true;
}

static bool check_address(exchange *x, const char *path, serve_reply *reply) {
    const bool is_ours = take_authority(&x->request.server->guard, &path);
    x->route = serve_route_find(&x->request, path);
    if (x->route) serve_route_methods(x->route, x->allow, sizeof x->allow);
    if (!is_ours)
        serve_fail(reply, 403, "\"%.80s\" is not an address of this server", x->entry.path);
    else if (x->has_zero)
        serve_fail(reply, 400, "the address has a zero byte");
    else
        return true;
    return false;
}

static bool check_asker(exchange *x, const serve_head *f, serve_reply *reply) {
    const serve_guard *guard = &x->request.server->guard;
    const char *origin = header(x, "Origin");
    const bool is_open = x->route && (x->route->how & SERVE_OPEN) != 0;
    const bool needs_host = f->host_count > 0 || !is_open; /* a health check may have none */
    if (f->host_count > 1 || (needs_host && !serve_host_allowed(guard, f->hosts))) {
        serve_fail(reply, 403,
                   "Host: \"%.80s\" is not a name of this server: expected an address, localhost, "
                   "or a name given with --allow-host",
                   f->hosts ? f->hosts : "");
    } else if (!serve_origin_allowed(guard, origin, f->hosts)) {
        serve_fail(reply, 403, "Origin: \"%.80s\" is another site: --allow-origin would let it ask",
                   origin);
    } else if (strcmp(x->request.method, "OPTIONS") == 0) {
        reply->status = 204; /* a browser asks this before a page of another site may ask (CORS) */
        reply->allow = x->route ? x->allow : NULL;
    } else if (!is_open && !serve_key_allowed(guard, header(x, "Authorization"))) {
        serve_fail(reply, 401, "a key is needed: Authorization: Bearer KEY");
    } else if (!serve_connection_forward(x->request.server->connections, x->peer, f->forwarded)) {
        serve_fail(reply, 429, "too many requests of this address are under way: try again soon");
        serve_metrics_refused(x->request.server->metrics);
    } else {
        return true;
    }
    return false;
}

/* TorchServe's clients call the first version 1.0, the others' 1. */
static bool is_our_version(const char *version) {
    return strcmp(version, "1") == 0 || strcmp(version, "1.0") == 0;
}

static bool check_route(const exchange *x, bool has_body, serve_reply *reply) {
    const char *encoding = header(x, "Content-Encoding"), *near = NULL;
    const char *unknown = x->route ? serve_route_unknown(x->route, &x->request, &near) : NULL;
    const char *twice = x->route && x->route->keys ? serve_given_twice(&x->request) : NULL;
    if (!x->route) {
        serve_fail(reply, 404, "there is nothing here");
    } else if (!serve_route_takes(x->route, x->request.method)) {
        serve_fail(reply, 405, "%.16s is not answered here", x->request.method);
        reply->allow = x->allow;
    } else if (!(x->route->how & SERVE_TEACHING) && x->request.model[0] != '\0' &&
               !serve_models_has(x->request.server->models, x->request.model)) {
        serve_fail(reply, 404,
                   "no model is called \"%s\": GET /v2/models names those that are served",
                   x->request.model);
    } else if (!(x->route->how & SERVE_TEACHING) && x->request.version[0] != '\0' &&
               !is_our_version(x->request.version)) {
        serve_fail(reply, 404, "%s has no version \"%.32s\": the one version is 1",
                   x->request.model, x->request.version);
    } else if (encoding && strcasecmp(encoding, "identity") != 0) {
        serve_fail(reply, 415, "Content-Encoding: a body is expected as it is");
    } else if (has_body && (x->route->how & SERVE_BODY) == 0) {
        serve_fail(reply, 400, "a body is not expected here");
    } else if (unknown) {
        serve_fail(reply, 400, "?%.32s: there is no such argument%s%s%s", unknown,
                   near ? ", did you mean ?" : "", near ? near : "", near ? "=..." : "");
    } else if (twice) {
        serve_fail(reply, 400, "?%.32s is given twice", twice);
    } else {
        return true;
    }
    return false;
}

/* Checks all but the body. False: a reply was sent, *result is for the HTTP library, and the body
 * is not read. */
static bool check(exchange *x, const char *path, enum MHD_Result *result) {
    serve_server *server = x->request.server;
    serve_reply reply = {.status = 200, .type = "application/json"};
    serve_head f;
    bool has_body = false;
    serve_head_read(&f, x->connection);
    x->is_checked = true;
    describe(x);
    if (check_length(x, &f, &has_body, &reply) && check_address(x, path, &reply) &&
        check_asker(x, &f, &reply) && check_route(x, has_body, &reply))
        return true;
    if (has_body) serve_connection_linger(server->connections, x->peer);
    *result = send_reply(x, &reply);
    return false;
}

/* ---- the body ---- */

/* Writes a whole answer to the socket, where the HTTP library has no way to do so. Returns the
 * bytes of it that were sent. */
static size_t write_refusal(int socket, unsigned status, const char *sentence) {
    char text[512];
    const int length =
        snprintf(text, sizeof text,
                 "HTTP/1.1 %u %s\r\nContent-Type: application/json\r\n%s"
                 "Connection: close\r\nContent-Length: %zu\r\n\r\n"
                 "{\"error\": \"%s\"}\n",
                 status, MHD_get_reason_phrase_for(status),
                 status == 503 ? "Retry-After: 1\r\n" : "", strlen(sentence) + 14, sentence);
    const ssize_t sent = send(socket, text, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent > 0 ? (size_t)sent : 0;
}

static int socket_of(struct MHD_Connection *connection) {
    return (int)MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/* Refuses a request before it has arrived as a whole. */
static enum MHD_Result break_off(exchange *x, unsigned status, const char *sentence) {
    serve_server *server = x->request.server;
    x->entry.status = status;
    x->entry.sent = write_refusal(socket_of(x->connection), status, sentence);
    serve_connection_linger(server->connections, x->peer);
    return MHD_NO;
}

/* Makes the body's memory larger; false: there is none, or all requests hold as much as they may.
 */
static bool grow(exchange *x, size_t needed) {
    serve_server *server = x->request.server;
    size_t capacity = x->capacity > 0 ? x->capacity : 16384;
    while (capacity < needed) capacity *= 2;
    const size_t more = capacity - x->capacity;
    if (atomic_fetch_add(&server->held, more) + more > server->bodies) {
        atomic_fetch_sub(&server->held, more);
        return false;
    }
    uint8_t *larger = vit_alloc_unset(capacity, 1);
    if (!larger) {
        atomic_fetch_sub(&server->held, more);
        return false;
    }
    if (x->size > 0) memcpy(larger, x->body, x->size);
    vit_free(x->body);
    x->body = larger;
    x->capacity = capacity;
    return true;
}

static enum MHD_Result take_data(exchange *x, const char *data, size_t *size) {
    if (x->is_answered) {
        *size = 0;
        return MHD_YES;
    }
    if (x->size + *size > x->request.server->body)
        return break_off(x, 413, "the body is longer than it may be");
    if (x->size + *size > x->capacity && !grow(x, x->size + *size))
        return break_off(x, 503, "no memory for the body: try again soon");
    memcpy(x->body + x->size, data, *size);
    x->size += *size;
    *size = 0;
    return MHD_YES;
}

/* ---- the HTTP library's callbacks ---- */

/* The seconds without a byte after which the HTTP library ends a connection. net/connections.c has
 * ended it before, except on Windows, where a thread that waits for a socket is not woken when the
 * socket is shut down. */
static unsigned idle_limit(const serve_server *server) {
    return (unsigned)server->timeout + 2;
}

/* What this thread of a connection does now: for on_message, which is told of no connection. */
static _Thread_local struct {
    int socket;
    exchange *exchange; /* NULL: between two requests */
    bool is_known;      /* a request has arrived on the socket */
} current;

/* The number of arguments in an address. */
static size_t count_arguments(const char *uri) {
    size_t count = 0;
    for (const char *at = strchr(uri, '?'); at; at = strchr(at + 1, '&')) count++;
    return count;
}

/* The first line of a request has arrived; uri: as it was sent. Returns the exchange. Arguments are
 * counted here, as the HTTP library closes the connection without an answer if they are too many.
 */
static void *on_line(void *context, const char *uri, struct MHD_Connection *connection) {
    serve_http *http = context;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    serve_connection *peer = info ? info->socket_context : NULL;
    serve_connection_enter(http->server->connections, peer, SERVE_READING);
    exchange *x = vit_alloc(1, sizeof *x);
    if (!x) return NULL;
    x->request.server = http->server;
    x->connection = connection;
    x->peer = peer;
    x->started = vit_clock();
    x->has_zero = strstr(uri, "%00");
    current.socket = socket_of(connection);
    current.exchange = x;
    current.is_known = true;
    serve_log_path(x->entry.path, sizeof x->entry.path, uri);
    x->is_refused = true;
    if (count_arguments(uri) > SERVE_MOST_ARGUMENTS)
        break_off(x, 400, "the address has too many arguments, expected at most 32");
    else if (strchr(uri, ' '))
        break_off(x, 400, "the address has a space in it");
    else
        x->is_refused = false;
    return x;
}

/* Called when the header has arrived, then for each piece of the body, and at its end with *size 0.
 */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *size, void **slot) {
    exchange *x = *slot;
    enum MHD_Result result = MHD_YES;
    (void)context;
    if (!x || x->is_refused) return MHD_NO;
    if (!x->is_checked) {
        x->request.method = method;
        x->is_old = strcmp(version, MHD_HTTP_VERSION_1_0) == 0;
        snprintf(x->entry.method, sizeof x->entry.method, "%s", method);
        check(x, path, &result);
        return result;
    }
    if (*size > 0) return take_data(x, data, size);
    if (x->is_answered) return MHD_YES;
    serve_reply reply = {.status = 200, .type = "application/json"};
    serve_connection_enter(x->request.server->connections, x->peer, SERVE_WORKING);
    x->request.body = x->body;
    x->request.size = x->size;
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    x->route->handler(&x->request, &reply);
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              idle_limit(x->request.server));
    return send_reply(x, &reply);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **slot,
                         enum MHD_RequestTerminationCode code) {
    serve_http *http = context;
    exchange *x = *slot;
    (void)connection;
    current.exchange = NULL;
    if (!x) return;
    serve_server *server = http->server;
    serve_connection_enter(server->connections, x->peer, SERVE_IDLE);
    x->entry.seconds = vit_clock() - x->started;
    x->entry.received = x->size;
    x->entry.client = serve_connection_address(x->peer);
    x->entry.model = x->route && x->route->how & SERVE_TEACHING ? "" : x->request.model;
    x->entry.pictures = x->request.pictures;
    x->entry.is_cut = code != MHD_REQUEST_TERMINATED_COMPLETED_OK;
    serve_metrics_request(server->metrics, serve_route_place(x->route), x->entry.status,
                          x->entry.seconds);
    serve_log_request(server->log, &x->entry);
    atomic_fetch_sub(&server->held, x->capacity);
    vit_free(x->body);
    vit_free(x);
    *slot = NULL;
}

/* The connection that the HTTP library's own thread began last. It begins and ends there only if
 * there was no thread to be had for it: else it ends on its own. */
static _Thread_local const struct MHD_Connection *begun;

/* Answers a connection that has no thread, and whose client would otherwise see it closed. */
static void refuse(serve_http *http, int socket, serve_connection *connection) {
    const ssize_t sent = send(socket, serve_busy, strlen(serve_busy), MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)sent; /* the connection ends whether or not the answer arrives */
    serve_connection_linger(http->server->connections, connection);
    serve_metrics_refused(http->server->metrics);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **slot,
                          enum MHD_ConnectionNotificationCode code) {
    serve_http *http = context;
    serve_connections *connections = http->server->connections;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *slot = serve_connection_find(connections, (int)info->connect_fd);
        begun = connection;
        return;
    }
    if (begun == connection) refuse(http, (int)info->connect_fd, *slot);
    serve_connection_end(connections, *slot);
}

static const char *error_sentence(unsigned status) {
    switch (status) {
    case 413:
    case 431:
        return "the header is too long";
    case 414:
        return "the address is too long";
    case 500:
    case 503:
        return "no memory for the request: try again soon";
    case 505:
        return "expected HTTP/1.0 or HTTP/1.1";
    default:
        return "the request is not as HTTP asks for";
    }
}

/* Messages of the HTTP library are about faults of clients, who are told by their replies. Before
 * it answers a request on its own, with a page of HTML, it says so in the connection's thread: our
 * answer is sent instead, after which the socket takes no more. (Of a first request it says so
 * before we know its connection, if there is no line that is one of HTTP.) */
static void on_message(void *context, const char *format, va_list arguments) {
    static const char answers[] = "Error processing request (HTTP response code is %u";
    serve_http *http = context;
    exchange *x = current.exchange;
    if (strncmp(format, answers, strlen(answers)) != 0 || !current.is_known) return;
    if (x && (x->is_answered || x->is_refused)) return;
    const unsigned status = va_arg(arguments, unsigned);
    const size_t sent = write_refusal(current.socket, status, error_sentence(status));
    shutdown(current.socket, SHUT_WR);
    if (!x) return;
    x->entry.status = status;
    x->entry.sent = sent;
    x->is_refused = true;
    serve_connection_linger(http->server->connections, x->peer);
}

/* Bytes of a thread: JSON as deep as it may be takes a third. ThreadSanitizer's state lies there,
 * too. */
#ifdef __SANITIZE_THREAD__
enum { STACK = 2048 * 1024 };
#else
enum { STACK = 512 * 1024 };
#endif

vit_status serve_http_start(serve_http **out, serve_server *server, vit_error *error) {
    const unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
                           MHD_USE_POLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC |
                           MHD_USE_ERROR_LOG;
    *out = NULL;
    serve_http *http = vit_alloc(1, sizeof *http);
    if (!http) return vit_fail_memory(error, "the HTTP library", sizeof *http);
    http->server = server;
    /* The number of connections is limited in net/connections.c, and so is their time. */
    http->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_message, http,
        MHD_OPTION_CONNECTION_LIMIT, 1000000u, MHD_OPTION_CONNECTION_TIMEOUT, idle_limit(server),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536, MHD_OPTION_THREAD_STACK_SIZE,
        (size_t)STACK, MHD_OPTION_STRICT_FOR_CLIENT, serve_joins_folds() ? 0 : 1,
        MHD_OPTION_URI_LOG_CALLBACK, on_line, http, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
    if (!http->daemon) {
        vit_free(http);
        return vit_fail(error, VIT_ERROR_IO, "cannot start the HTTP library's thread");
    }
    *out = http;
    return VIT_OK;
}

bool serve_http_take(int socket, const struct sockaddr *address, socklen_t length, void *context) {
    serve_http *http = context;
    return MHD_add_connection(http->daemon, (MHD_socket)socket, address, length) == MHD_YES;
}

void serve_http_stop(serve_http *http) {
    if (!http) return;
    MHD_stop_daemon(http->daemon);
    vit_free(http);
}
