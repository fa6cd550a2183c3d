/* A request that has arrived, and its reply. Whoever answers knows only these, nothing of the HTTP
 * library. */
#ifndef VIT_CLI_SERVE_REQUEST_H
#define VIT_CLI_SERVE_REQUEST_H

#include "vit/base/text.h"
#include "vit/cli/serve/server.h"

enum { SERVE_NAME_MAX = 255 };

typedef struct serve_request {
    serve_server *server;
    void *connection; /* the HTTP library's */
    const char *method;
    char model[SERVE_NAME_MAX + 1]; /* from the path, or "" */
    const uint8_t *body;
    size_t size;
    size_t pictures; /* set by the handler */
} serve_request;

typedef struct serve_reply {
    unsigned status;
    const char *type; /* of the body: "application/json" */
    vit_text body;
    bool is_last;         /* close the connection: where the next request begins is not certain */
    unsigned retry_after; /* seconds; 0: not said */
    const char *allow;    /* "GET, HEAD"; NULL: not said */
    const char *policy;   /* Content-Security-Policy of a page; NULL: nothing is loaded or run */
    size_t json_size;     /* KServe: bytes of JSON before binary data; 0: all */
} serve_reply;

/* A field of the header, and an argument behind '?'; NULL where there is none. */
const char *serve_header(const serve_request *request, const char *name);
const char *serve_argument(const serve_request *request, const char *name);

/* Replies {"error": SENTENCE}. */
void serve_fail(serve_reply *reply, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the library's sentence, and the status that belongs to it: 503 where memory ran
 * out, 413 for what is too large, else 400. */
void serve_fail_with(serve_reply *reply, const vit_error *error);

/* The same for an error after the picture was prepared: a file with a fault is then the server's
 * own model file. */
void serve_fail_computed(serve_reply *reply, const vit_error *error);

/* Replies 503 for a job that got no turn. */
void serve_fail_turn(serve_reply *reply, serve_turn turn);

#endif
