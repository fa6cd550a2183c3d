#include "vit/cli/serve/route.h"

#include <stdio.h>
#include <string.h>

enum { QUERY = SERVE_IN_QUERY, BODY = SERVE_IN_BODY, PARAMETERS = SERVE_IN_PARAMETERS };

/* TorchServe, and KServe's V1 protocol. */
static const serve_key predicting[] = {{"top", QUERY | PARAMETERS, SERVE_WHOLE},
                                       {"logits", QUERY | PARAMETERS, SERVE_FLAG},
                                       {"parameters", BODY, SERVE_OBJECT},
                                       {"instances", BODY, SERVE_LIST | SERVE_NUMBERS},
                                       {"b64", BODY, SERVE_PICTURE},
                                       {"data", BODY, SERVE_PICTURE},
                                       {"body", BODY, SERVE_PICTURE},
                                       {"image", BODY, SERVE_PICTURE},
                                       {"image_bytes", BODY, SERVE_PICTURE},
                                       {"pixels", BODY, SERVE_PICTURE},
                                       {"pixel_values", BODY, SERVE_PICTURE},
                                       {NULL, 0, 0}};
static const serve_key hugging_face[] = {{"top_k", QUERY | PARAMETERS, SERVE_WHOLE},
                                         {"function_to_apply", QUERY | PARAMETERS, SERVE_TEXT},
                                         {"candidate_labels", PARAMETERS, SERVE_LIST},
                                         {"hypothesis_template", PARAMETERS, SERVE_TEXT},
                                         {"parameters", BODY, SERVE_OBJECT},
                                         {"inputs", BODY, SERVE_PICTURE},
                                         {NULL, 0, 0}};
static const serve_key infer[] = {{"id", BODY, SERVE_TEXT},
                                  {"model_name", BODY, SERVE_TEXT},
                                  {"model_version", BODY, SERVE_TEXT},
                                  {"inputs", BODY, SERVE_LIST},
                                  {"outputs", BODY, SERVE_LIST},
                                  {"parameters", BODY, SERVE_OBJECT},
                                  {"binary_data_output", PARAMETERS, SERVE_FLAG},
                                  {NULL, 0, 0}};
static const serve_key repository[] = {{"ready", BODY, SERVE_FLAG}, {NULL, 0, 0}};
static const serve_key embedding[] = {{"model", BODY, SERVE_TEXT},
                                      {"input", BODY, SERVE_PICTURE},
                                      {"encoding_format", BODY, SERVE_TEXT},
                                      {"dimensions", BODY, SERVE_WHOLE},
                                      {"user", BODY, SERVE_TEXT}, /* is not looked at */
                                      {NULL, 0, 0}};
static const serve_key explaining[] = {{"image", BODY, SERVE_PICTURE},
                                       {"model", QUERY | BODY, SERVE_TEXT},
                                       {"method", QUERY | BODY, SERVE_TEXT},
                                       {"class", QUERY | BODY, SERVE_TEXT | SERVE_WHOLE},
                                       {"layer", QUERY | BODY, SERVE_TEXT | SERVE_WHOLE},
                                       {"head", QUERY | BODY, SERVE_TEXT | SERVE_WHOLE},
                                       {"query", QUERY | BODY, SERVE_TEXT | SERVE_WHOLE},
                                       {"steps", QUERY | BODY, SERVE_TEXT | SERVE_WHOLE},
                                       {"pixels", QUERY | BODY, SERVE_FLAG | SERVE_WHOLE},
                                       {NULL, 0, 0}};
static const serve_key finding_defects[] = {{"image", BODY, SERVE_PICTURE},
                                            {"bank", QUERY | BODY, SERVE_TEXT},
                                            {"alpha", QUERY | BODY, SERVE_NUMBER},
                                            {"png", QUERY | BODY, SERVE_FLAG},
                                            {NULL, 0, 0}};
static const serve_key searching[] = {
    {"model", QUERY, 0}, {"top", QUERY, 0}, {"text", QUERY, 0}, {NULL, 0, 0}};
static const serve_key thumbnails[] = {{"row", QUERY, 0}, {NULL, 0, 0}};
static const serve_key beginning[] = {{"model", BODY, SERVE_TEXT},
                                      {"head", BODY, SERVE_TEXT},
                                      {"views", BODY, SERVE_WHOLE},
                                      {"classes", BODY, SERVE_OBJECT},
                                      {NULL, 0, 0}};
static const serve_key teaching[] = {{"class", QUERY, 0}, {"picture", QUERY, 0}, {NULL, 0, 0}};
static const serve_key nothing[] = {{NULL, 0, 0}};

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
    {"POST, PUT", "/predictions/*", serve_predictions, SERVE_BODY, predicting},
    {"POST, PUT", "/predictions/*/*", serve_predictions, SERVE_BODY, predicting},
    {"GET, HEAD", "/v1/models", serve_v1_models, 0, NULL},
    {"GET, HEAD", "/v1/models/*", serve_v1_model, 0, NULL},
    {"POST", "/v1/models/*:predict", serve_v1_predict, SERVE_BODY, predicting},
    {"POST", "/v1/embeddings", serve_embeddings, SERVE_BODY, embedding},
    {"POST", "/predict", serve_immich_predict, SERVE_BODY, nothing},
    {"POST", "/v1/search", serve_search, SERVE_BODY, searching},
    {"GET, HEAD", "/v1/search/picture", serve_thumbnail, 0, thumbnails},
    {"GET, HEAD", "/search", serve_page, SERVE_OPEN, NULL},
    {"GET, HEAD", "/search.js", serve_page, SERVE_OPEN, NULL},
    {"POST", "/v1/explain", serve_explain, SERVE_BODY, explaining},
    {"POST", "/v1/anomaly", serve_anomaly, SERVE_BODY, finding_defects},
    {"GET, HEAD", "/v1/teach", serve_teach_list, 0, NULL},
    {"POST", "/v1/teach", serve_teach_begin, SERVE_BODY, beginning},
    {"GET, HEAD", "/v1/teach/*", serve_teach_one, SERVE_TEACHING, NULL},
    {"POST", "/v1/teach/*", serve_teach_one, SERVE_BODY | SERVE_TEACHING, teaching},
    {"DELETE", "/v1/teach/*", serve_teach_delete, SERVE_TEACHING, NULL},
    {"GET, HEAD", "/v1/teach/*/*", serve_teach_do, SERVE_TEACHING, NULL},
    {"POST", "/v1/teach/*/*", serve_teach_do, SERVE_BODY | SERVE_TEACHING, teaching},
    {"GET, HEAD", "/v2", serve_v2, 0, NULL},
    {"GET, HEAD", "/v2/health/live", serve_v2_live, SERVE_OPEN, NULL},
    {"GET, HEAD", "/v2/health/ready", serve_v2_ready, SERVE_OPEN, NULL},
    {"GET, HEAD", "/v2/models", serve_v2_models, 0, NULL},
    {"POST", "/v2/repository/index", serve_v2_index, SERVE_BODY, repository},
    {"GET, HEAD", "/v2/models/*", serve_v2_model, 0, NULL},
    {"GET, HEAD", "/v2/models/*/ready", serve_v2_model_ready, 0, NULL},
    {"POST", "/v2/models/*/infer", serve_v2_infer, SERVE_BODY, infer},
    {"GET, HEAD", "/v2/models/*/versions/*", serve_v2_model, 0, NULL},
    {"GET, HEAD", "/v2/models/*/versions/*/ready", serve_v2_model_ready, 0, NULL},
    {"POST", "/v2/models/*/versions/*/infer", serve_v2_infer, SERVE_BODY, infer},
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

/* A model's name may have slashes, which end no part of a path: this character stands for them
 * while the path is compared with those of the routes. */
#define INNER_SLASH '\1'

static void exchange_characters(char *text, size_t length, char from, char to) {
    for (size_t i = 0; i < length; i++)
        if (text[i] == from) text[i] = to;
}

/* copy [size] = the path with INNER_SLASH in the names of models. Returns it, or the path itself if
 * it has no such name. */
static const char *join_names(char *copy, size_t size, const char *path,
                              const serve_models *models) {
    bool is_copied = false;
    for (size_t i = 0; i < serve_models_count(models); i++) {
        const char *name = serve_models_name(models, i), *at = path;
        const size_t length = strlen(name);
        while (strchr(name, '/') && strlen(path) < size && (at = strstr(at, name))) {
            const size_t place = (size_t)(at - path);
            const bool is_whole = place > 0 && at[-1] == '/' && strchr("/:", at[length]);
            if (is_whole && !is_copied) memcpy(copy, path, strlen(path) + 1);
            is_copied |= is_whole;
            if (is_whole) exchange_characters(copy + place, length, '/', INNER_SLASH);
            at += length;
        }
    }
    return is_copied ? copy : path;
}

const serve_route *serve_route_find(serve_request *request, const char *path) {
    const serve_route *found = NULL;
    char names[2][SERVE_NAME_MAX + 1], copy[1024];
    path = join_names(copy, sizeof copy, path, request->server->models);
    request->model[0] = request->version[0] = '\0';
    for (size_t i = 0; i < serve_route_count; i++) {
        if (!matches(serve_routes[i].path, path, names)) continue;
        if (found && !serve_route_takes(&serve_routes[i], request->method)) continue;
        found = &serve_routes[i];
        exchange_characters(names[0], strlen(names[0]), INNER_SLASH, '/');
        memcpy(request->model, names[0], sizeof names[0]);
        memcpy(request->version, names[1], sizeof names[1]);
        if (serve_route_takes(found, request->method)) break;
    }
    request->path = found ? found->path : NULL;
    request->keys = found ? found->keys : NULL;
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
    for (size_t i = 0; i < request->argument_count && route->keys; i++) {
        const char *name = request->arguments[i].name;
        if (!serve_find_key(route->keys, SERVE_IN_QUERY, name, near)) return name;
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
