/* What all parts of the server share. */
#ifndef VIT_CLI_SERVE_SERVER_H
#define VIT_CLI_SERVE_SERVER_H

#include <stdatomic.h>

#include "vit/cli/serve/net/connections.h"
#include "vit/cli/serve/net/guard.h"
#include "vit/cli/serve/work/gate.h"
#include "vit/cli/serve/work/metrics.h"
#include "vit/cli/serve/work/queue.h"
#include "vit/cli/serve/work/served.h"

typedef enum serve_log {
    SERVE_LOG_NONE,
    SERVE_LOG_TEXT,
    SERVE_LOG_JSON,
    SERVE_LOG_COUNT
} serve_log;

typedef struct serve_server {
    serve_guard guard;
    serve_models *models;
    serve_queue *queue;
    serve_queue *aside; /* maps that take a computation for each of many steps or patches */
    serve_metrics *metrics;
    serve_connections *connections;
    serve_gate gate;               /* decoding, and reading large JSON: on a few threads at once */
    size_t body, pixels, pictures; /* limits: bytes and pictures of a request, pixels of one */
    size_t bodies;                 /* bytes of all requests that are being read */
    atomic_size_t held;            /* of those */
    size_t top;                    /* classes of an answer */
    serve_log log;
    double started;
    atomic_bool stopping;  /* answers close their connection */
    atomic_bool impatient; /* maps that take long are cancelled */
} serve_server;

#endif
