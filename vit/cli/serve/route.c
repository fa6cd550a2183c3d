#include "vit/cli/serve/route.h"

#include <string.h>

static const char *const torchserve[] = {"top", "logits", NULL};
static const char *const hugging_face[] = {"top_k", "function_to_apply", NULL};
static const char *const explaining[] = {"model", "method", "class",  "layer", "head",
                                         "query", "steps",  "pixels", NULL};

const serve_route serve_routes[] = {
    {"GET, HEAD", "/", serve_page, SERVE_OPEN, NULL},
    {"GET, HEAD", "/page.css", serve_page_style, SERVE_OPEN, NULL},
    {"GET, HEAD", "/page.js", serve_page_script, SERVE_OPEN, NULL},
    {"GET, HEAD", "/health", serve_health, SERVE_OPEN, NULL},
    {"GET, HEAD", "/metrics", serve_metrics_page, 0, NULL},
    {"POST, PUT", "/predictions/*", serve_predictions, SERVE_BODY, torchserve},
    {"POST", "/models/*", serve_hugging_face, SERVE_BODY, hugging_face},
    {"POST", "/v1/embeddings", serve_embeddings, SERVE_BODY, NULL},
    {"POST", "/v1/explain", serve_explain, SERVE_BODY, explaining},
    {"GET, HEAD", "/v2", serve_v2, 0, NULL},
    {"GET, HEAD", "/v2/health/live", serve_v2_live, SERVE_OPEN, NULL},
    {"GET, HEAD", "/v2/health/ready", serve_health, SERVE_OPEN, NULL},
    {"GET, HEAD", "/v2/models", serve_v2_models, 0, NULL},
    {"POST", "/v2/repository/index", serve_v2_index, SERVE_BODY, NULL},
    {"GET, HEAD", "/v2/models/*", serve_v2_model, 0, NULL},
    {"GET, HEAD", "/v2/models/*/ready", serve_v2_model_ready, 0, NULL},
    {"POST", "/v2/models/*/infer", serve_v2_infer, SERVE_BODY, NULL},
    {"GET, HEAD", "/v2/models/*/versions/1", serve_v2_model, 0, NULL},
    {"GET, HEAD", "/v2/models/*/versions/1/ready", serve_v2_model_ready, 0, NULL},
    {"POST", "/v2/models/*/versions/1/infer", serve_v2_infer, SERVE_BODY, NULL},
};
const size_t serve_route_count = sizeof serve_routes / sizeof serve_routes[0];

/* Whether a path has the form of `pattern`, with '*' for a name; model: the first such name. */
static bool matches(const char *pattern, const char *path, char *model) {
    bool has_model = false;
    model[0] = '\0';
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '*') {
            if (*path++ != *pattern) return false;
            continue;
        }
        const size_t length = strcspn(path, "/");
        if (length == 0 || length > SERVE_NAME_MAX) return false;
        if (!has_model) {
            memcpy(model, path, length);
            model[length] = '\0';
        }
        has_model = true;
        path += length;
    }
    return *path == '\0';
}

const serve_route *serve_route_find(const char *path, char *model) {
    for (size_t i = 0; i < serve_route_count; i++)
        if (matches(serve_routes[i].path, path, model)) return &serve_routes[i];
    model[0] = '\0';
    return NULL;
}

const char *serve_route_unknown(const serve_route *route, const serve_request *request,
                                const char **near) {
    for (size_t i = 0; i < request->argument_count && route->arguments; i++) {
        const char *name = request->arguments[i].name;
        size_t known = 0;
        while (route->arguments[known] && strcmp(route->arguments[known], name) != 0) known++;
        if (route->arguments[known]) continue;
        *near = vit_nearest(name, route->arguments, known);
        return name;
    }
    return NULL;
}

bool serve_route_takes(const serve_route *route, const char *method) {
    const size_t length = strlen(method);
    for (const char *at = route->methods; at; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (strncmp(at, method, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}
