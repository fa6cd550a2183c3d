#include "vit/cli/serve/route.h"

#include <stdio.h>
#include <string.h>

static const char *const torchserve[] = {"top", "logits", NULL};
static const char *const hugging_face[] = {"top_k", "function_to_apply", NULL};
static const char *const explaining[] = {"model", "method", "class",  "layer", "head",
                                         "query", "steps",  "pixels", NULL};
static const char *const searching[] = {"model", "top", "text", NULL};
static const char *const thumbnails[] = {"row", NULL};

static const char *const teaching[] = {"class", "picture", NULL};

const serve_route serve_routes[] = {
    {"GET, HEAD", "/", serve_page, SERVE_OPEN, NULL},
    {"GET, HEAD", "/page.css", serve_page, SERVE_OPEN, NULL},
    {"GET, HEAD", "/page.js", serve_page, SERVE_OPEN, NULL},
    {"GET, HEAD", "/teach.js", serve_page, SERVE_OPEN, NULL},
    {"GET, HEAD", "/health", serve_health, SERVE_OPEN, NULL},
    {"GET, HEAD", "/metrics", serve_metrics_page, 0, NULL},
    {"GET, HEAD", "/ping", serve_ping, SERVE_OPEN, NULL},
    {"GET, HEAD", "/models", serve_torchserve_models, 0, NULL},
    {"POST", "/models/*", serve_hugging_face, SERVE_BODY, hugging_face},
    {"GET, HEAD", "/models/*", serve_torchserve_model, 0, NULL},
    {"GET, HEAD", "/models/*/*", serve_torchserve_model, 0, NULL},
    {"POST, PUT", "/predictions/*", serve_predictions, SERVE_BODY, torchserve},
    {"POST, PUT", "/predictions/*/*", serve_predictions, SERVE_BODY, torchserve},
    {"GET, HEAD", "/v1/models", serve_v1_models, 0, NULL},
    {"GET, HEAD", "/v1/models/*", serve_v2_model_ready, 0, NULL},
    {"POST", "/v1/models/*:predict", serve_v1_predict, SERVE_BODY, torchserve},
    {"POST", "/v1/embeddings", serve_embeddings, SERVE_BODY, NULL},
    {"POST", "/predict", serve_immich_predict, SERVE_BODY, NULL},
    {"POST", "/v1/search", serve_search, SERVE_BODY, searching},
    {"GET, HEAD", "/v1/search/picture", serve_thumbnail, 0, thumbnails},
    {"GET, HEAD", "/search", serve_page, SERVE_OPEN, NULL},
    {"GET, HEAD", "/search.js", serve_page, SERVE_OPEN, NULL},
    {"POST", "/v1/explain", serve_explain, SERVE_BODY, explaining},
    {"GET, HEAD", "/v1/teach", serve_teach_list, 0, NULL},
    {"POST", "/v1/teach", serve_teach_begin, SERVE_BODY, NULL},
    {"GET, HEAD", "/v1/teach/*", serve_teach_one, SERVE_TEACHING, NULL},
    {"POST", "/v1/teach/*", serve_teach_one, SERVE_BODY | SERVE_TEACHING, teaching},
    {"DELETE", "/v1/teach/*", serve_teach_delete, SERVE_TEACHING, NULL},
    {"GET, HEAD", "/v1/teach/*/*", serve_teach_do, SERVE_TEACHING, NULL},
    {"POST", "/v1/teach/*/*", serve_teach_do, SERVE_BODY | SERVE_TEACHING, teaching},
    {"GET, HEAD", "/v2", serve_v2, 0, NULL},
    {"GET, HEAD", "/v2/health/live", serve_v2_live, SERVE_OPEN, NULL},
    {"GET, HEAD", "/v2/health/ready", serve_v2_ready, SERVE_OPEN, NULL},
    {"GET, HEAD", "/v2/models", serve_v2_models, 0, NULL},
    {"POST", "/v2/repository/index", serve_v2_index, SERVE_BODY, NULL},
    {"GET, HEAD", "/v2/models/*", serve_v2_model, 0, NULL},
    {"GET, HEAD", "/v2/models/*/ready", serve_v2_model_ready, 0, NULL},
    {"POST", "/v2/models/*/infer", serve_v2_infer, SERVE_BODY, NULL},
    {"GET, HEAD", "/v2/models/*/versions/*", serve_v2_model, 0, NULL},
    {"GET, HEAD", "/v2/models/*/versions/*/ready", serve_v2_model_ready, 0, NULL},
    {"POST", "/v2/models/*/versions/*/infer", serve_v2_infer, SERVE_BODY, NULL},
};
const size_t serve_route_count = sizeof serve_routes / sizeof serve_routes[0];

/* Whether a path has the form of `pattern`, with '*' for a name; names: the first two of these. */
static bool matches(const char *pattern, const char *path, char names[2][SERVE_NAME_MAX + 1]) {
    size_t count = 0;
    names[0][0] = names[1][0] = '\0';
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '*') {
            if (*path++ != *pattern) return false;
            continue;
        }
        const size_t word = strcspn(path, "/"), tail = strcspn(pattern + 1, "/");
        const size_t length = word > tail ? word - tail : 0;
        if (length == 0 || length > SERVE_NAME_MAX || count == 2) return false;
        memcpy(names[count], path, length);
        names[count++][length] = '\0';
        path += length;
    }
    return *path == '\0';
}

const serve_route *serve_route_find(serve_request *request, const char *path) {
    const serve_route *found = NULL;
    char names[2][SERVE_NAME_MAX + 1];
    request->model[0] = request->version[0] = '\0';
    for (size_t i = 0; i < serve_route_count; i++) {
        if (!matches(serve_routes[i].path, path, names)) continue;
        if (found && !serve_route_takes(&serve_routes[i], request->method)) continue;
        found = &serve_routes[i];
        memcpy(request->model, names[0], sizeof names[0]);
        memcpy(request->version, names[1], sizeof names[1]);
        if (serve_route_takes(found, request->method)) break;
    }
    request->path = found ? found->path : NULL;
    request->options = found ? found->arguments : NULL;
    return found;
}

size_t serve_route_place(const serve_route *route) {
    size_t place = 0;
    while (place < serve_route_count &&
           (!route || strcmp(serve_routes[place].path, route->path) != 0))
        place++;
    return place;
}

void serve_route_methods(const serve_route *route, char *out, size_t size) {
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < serve_route_count && length < size; i++) {
        if (strcmp(serve_routes[i].path, route->path) != 0) continue;
        length += (size_t)snprintf(out + length, size - length, "%s%s", length > 0 ? ", " : "",
                                   serve_routes[i].methods);
    }
}

const char *serve_route_unknown(const serve_route *route, const serve_request *request,
                                const char **near) {
    for (size_t i = 0; i < request->argument_count && route->arguments; i++) {
        const char *name = request->arguments[i].name;
        if (!serve_find_name(route->arguments, name, near)) return name;
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
