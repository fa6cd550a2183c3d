#include "vit/cli/serve/route.h"

#include <string.h>

const serve_route serve_routes[] = {
    {"GET, HEAD", "/", serve_page, SERVE_OPEN},
    {"GET, HEAD", "/page.css", serve_page_style, SERVE_OPEN},
    {"GET, HEAD", "/page.js", serve_page_script, SERVE_OPEN},
    {"GET, HEAD", "/health", serve_health, SERVE_OPEN},
    {"GET, HEAD", "/metrics", serve_metrics_page, 0},
    {"POST, PUT", "/predictions/*", serve_predictions, SERVE_BODY},
    {"POST", "/models/*", serve_hugging_face, SERVE_BODY},
    {"POST", "/v1/embeddings", serve_embeddings, SERVE_BODY},
    {"POST", "/v1/explain", serve_explain, SERVE_BODY},
    {"GET, HEAD", "/v2", serve_v2, 0},
    {"GET, HEAD", "/v2/health/live", serve_v2_live, SERVE_OPEN},
    {"GET, HEAD", "/v2/health/ready", serve_health, SERVE_OPEN},
    {"GET, HEAD", "/v2/models", serve_v2_models, 0},
    {"POST", "/v2/repository/index", serve_v2_index, SERVE_BODY},
    {"GET, HEAD", "/v2/models/*", serve_v2_model, 0},
    {"GET, HEAD", "/v2/models/*/ready", serve_v2_model_ready, 0},
    {"POST", "/v2/models/*/infer", serve_v2_infer, SERVE_BODY},
    {"GET, HEAD", "/v2/models/*/versions/1", serve_v2_model, 0},
    {"GET, HEAD", "/v2/models/*/versions/1/ready", serve_v2_model_ready, 0},
    {"POST", "/v2/models/*/versions/1/infer", serve_v2_infer, SERVE_BODY},
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

bool serve_route_takes(const serve_route *route, const char *method) {
    const size_t length = strlen(method);
    for (const char *at = route->methods; at; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (strncmp(at, method, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}
