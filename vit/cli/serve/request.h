/* A request that has arrived, and its reply: all that the handlers in answer/ know of HTTP. */
#ifndef VIT_CLI_SERVE_REQUEST_H
#define VIT_CLI_SERVE_REQUEST_H

#include "vit/base/text.h"
#include "vit/cli/serve/keys.h"
#include "vit/cli/serve/server.h"
#include "vit/formats/json_out.h"

enum { SERVE_NAME_MAX = 255, SERVE_MOST_ARGUMENTS = 32, SERVE_FIELDS_MAX = 1024 };

typedef struct serve_request {
    serve_server *server;
    const char *method;       /* "GET" */
    const char *path;         /* of the route: "/v1/explain" */
    const char *content_type; /* header fields; NULL: not there */
    const char *json_length;  /* Inference-Header-Content-Length */
    struct {
        const char *name, *value; /* value "": the argument has none */
    } arguments[SERVE_MOST_ARGUMENTS];
    size_t argument_count;         /* what follows '?', then fields of a form */
    const serve_key *keys;         /* of the route */
    char fields[SERVE_FIELDS_MAX]; /* [fields_size]: values of fields of a form */
    size_t fields_size;
    char model[SERVE_NAME_MAX + 1];   /* name from the path; "": there is none */
    char version[SERVE_NAME_MAX + 1]; /* its version, likewise */
    const uint8_t *body;              /* [size] */
    size_t size;
    size_t pictures; /* of the request, for the log; set by the handler */
} serve_request;

struct serve_reply {
    unsigned status;
    const char *type; /* Content-Type: "application/json" */
    vit_string body;
    bool is_last;         /* close the connection, since it is not known where the next request
                             begins */
    unsigned retry_after; /* seconds, for Retry-After; 0: none */
    const char *allow;    /* "GET, HEAD", for Allow; NULL: none */
    const char *policy;   /* Content-Security-Policy of a page; NULL: nothing may be loaded */
    size_t json_size;     /* KServe: bytes of JSON before binary data; 0: all is JSON */
};

/* The value of an argument after '?'; NULL: it is not there. */
const char *serve_argument(const serve_request *request, const char *name);

/* Adds an argument; false: there are SERVE_MOST_ARGUMENTS already. */
bool serve_add_argument(serve_request *request, const char *name, const char *value);

/* The name of an argument that is given twice, with two values; NULL: there is none. */
const char *serve_given_twice(const serve_request *request);

/* Takes a field of a form as if it followed '?'; an empty one, or one that the route does not know,
 * is passed over. False: `reply` is an error. */
bool serve_take_field(serve_request *request, const char *name, const void *value, size_t size,
                      serve_reply *reply);

/* Whether the body is JSON: it is said to be, or begins with a brace, which no picture does. */
bool serve_is_json(const serve_request *request);

/* Ends the object or list that is open, and makes the JSON the body of the reply. */
void serve_end_json(vit_json_out *json, char bracket, serve_reply *reply);

/* Sets the reply to {"error": SENTENCE} with that status; returns false, as those do who fail. */
bool serve_fail(serve_reply *reply, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the message of `error`: 503 if there was no memory or the server ends, 415 for a
 * format that is not supported, 500 for an error of a file of the server, else 400. */
bool serve_fail_with(serve_reply *reply, const vit_error *error);

/* The same for an error of a computation, after the picture was read: FORMAT is then a fault of the
 * model file, 500. */
bool serve_fail_computed(serve_reply *reply, const vit_error *error);

/* An empty job takes its turn in the queue like a picture: if answers hang, so does this one.
 * False: `reply` is an error. */
bool serve_queue_moves(serve_server *server, serve_reply *reply);

/* Replies 503 for a job that was not done, and returns false; true: it was done. */
bool serve_check_turn(serve_reply *reply, serve_turn turn);

#endif
