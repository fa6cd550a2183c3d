/* The table of routes: which path is answered by which handler. */
#ifndef VIT_CLI_SERVE_ROUTE_H
#define VIT_CLI_SERVE_ROUTE_H

#include "vit/cli/serve/request.h"

typedef void serve_handler(serve_request *request, serve_reply *reply);

enum {
    SERVE_OPEN = 1,     /* needs no key, as it tells nothing that is not public */
    SERVE_BODY = 2,     /* takes a body; on other routes a body is refused */
    SERVE_TEACHING = 4, /* the name in the path is that of a teaching, not of a model */
};

typedef struct serve_route {
    const char *methods; /* "POST, PUT" */
    const char *path;    /* '*' stands for a name without '/': the model's, then its version's */
    serve_handler *handler;
    unsigned how;          /* SERVE_OPEN | SERVE_BODY */
    const serve_key *keys; /* what it may be asked; NULL: arguments are not looked at */
} serve_route;

extern const serve_route serve_routes[];
extern const size_t serve_route_count;

/* The route of a path that takes the request's method, else one of that path, else NULL. Sets the
 * request's path, options, model and version, which are the first and second name in the path. */
const serve_route *serve_route_find(serve_request *request, const char *path);

/* The index of the first route with that path; serve_route_count for NULL. */
size_t serve_route_place(const serve_route *route);

/* out [size]: the methods of all routes with that path, "GET, HEAD, POST". */
void serve_route_methods(const serve_route *route, char *out, size_t size);

/* An argument of the request that the route does not know; NULL: there is none. *near: the known
 * one that is most similar, or NULL. */
const char *serve_route_unknown(const serve_route *route, const serve_request *request,
                                const char **near);

/* Whether `method` is one of the route's. */
bool serve_route_takes(const serve_route *route, const char *method);

/* ---- the handlers, in answer/ ---- */

serve_handler serve_page;
serve_handler serve_teach_begin, serve_teach_list, serve_teach_one, serve_teach_delete;
serve_handler serve_teach_do;
serve_handler serve_health, serve_metrics_page;
serve_handler serve_predictions, serve_hugging_face, serve_embeddings, serve_explain;
serve_handler serve_immich_predict;
serve_handler serve_search, serve_thumbnail, serve_anomaly;
serve_handler serve_ping, serve_torchserve_models, serve_torchserve_model;
serve_handler serve_v1_models, serve_v1_model, serve_v1_predict;
serve_handler serve_v2, serve_v2_live, serve_v2_ready, serve_v2_models, serve_v2_index;
serve_handler serve_v2_model, serve_v2_model_ready, serve_v2_infer;

#endif
