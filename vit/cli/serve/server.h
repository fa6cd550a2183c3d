/* What all parts of the server share. */
#ifndef VIT_CLI_SERVE_SERVER_H
#define VIT_CLI_SERVE_SERVER_H

#include <stdatomic.h>

#include "vit/cli/serve/net/connections.h"
#include "vit/cli/serve/net/guard.h"
#include "vit/cli/serve/work/access_log.h"
#include "vit/cli/serve/work/banks.h"
#include "vit/cli/serve/work/gate.h"
#include "vit/cli/serve/work/indexed.h"
#include "vit/cli/serve/work/metrics.h"
#include "vit/cli/serve/work/queue.h"
#include "vit/cli/serve/work/served.h"
#include "vit/cli/serve/work/teachings.h"

typedef struct serve_server {
    serve_guard guard;
    serve_proxies proxies;
    serve_models *models;
    serve_queue *queue;
    serve_queue *aside; /* maps that take long: one computation for each step or patch */
    serve_metrics *metrics;
    serve_teachings *teachings; /* NULL: it does not teach */
    serve_connections *connections;
    serve_gate gate;    /* limits the threads that decode pictures or parse JSON at the same time */
    size_t body;        /* limits: bytes of a request, */
    size_t pixels;      /* pixels of a picture, */
    size_t pictures;    /* pictures of a request, */
    size_t bodies;      /* bytes of all requests that are held at a time */
    atomic_size_t held; /* those bytes, now */
    bool tests;         /* --unknown: features are computed for it */
    size_t top;         /* classes of an answer, unless the request says how many */
    double timeout;     /* seconds for a request to arrive, and for its answer to be read */
    serve_indexed *index; /* of the pictures that are searched; NULL: none */
    serve_banks banks;    /* of good pictures, for defects */
    serve_log log;
    double started;       /* vit_clock() */
    atomic_bool stopping; /* each answer closes its connection */
    atomic_bool
        impatient; /* maps that take long are cancelled, and pictures that are not decoded */
} serve_server;

#endif
