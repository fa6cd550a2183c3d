/* Whole requests to vit-serve, behind the HTTP library: forms, JSON, tensors and pictures go to who
 * answers them, with a small model, and what comes back is well-formed. Line 1: the path and its
 * arguments; line 2: Content-Type; line 3: Inference-Header-Content-Length; the rest: the body.
 *
 *     make fuzz TARGET=requests && build/fuzz/fuzz_requests -max_total_time=180 CORPUS
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "vit/cli/serve/route.h"
#include "vit/cli/serve/work/teachings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static const char model[] = "m=tests/fixtures/published/hf_wrapped"; /* 32 x 16, six classes */

static serve_server server = {
    .body = 1 << 20, .pixels = 10000, .pictures = 4, .bodies = 1 << 22, .top = 3};
static char path[256], type[256], length[32]; /* of the request that is answered */

/* The arguments in `path`, which is cut into them. */
static void read_arguments(serve_request *request) {
    char *at = strchr(path, '?');
    while (at != NULL && request->argument_count < SERVE_MOST_ARGUMENTS) {
        *at++ = '\0';
        char *end = strchr(at, '&'), *value = at + strcspn(at, "=&");
        const bool has_value = *value == '=';
        if (has_value) *value++ = '\0';
        request->arguments[request->argument_count].name = at;
        request->arguments[request->argument_count++].value = has_value ? value : "";
        at = end;
    }
    if (at != NULL) *at = '\0';
}

static bool goes_on(void *user) {
    return user == NULL;
}

/* /v1/teach/ID becomes that of a new teaching, *id; else *id is "". False: without memory. */
static bool put_teaching(char id[SERVE_TEACHING_ID + 1]) {
    static const char begin[] = "/v1/teach/ID";
    char rest[sizeof path];
    vit_error error;
    serve_teaching *one;
    id[0] = '\0';
    if (strncmp(path, begin, sizeof begin - 1) != 0) return true;
    if (serve_teaching_begin(&one, server.teachings, server.models,
                             serve_model_take_at(server.models, 0), "ridge", 1, &error) != VIT_OK)
        return false;
    memcpy(id, one->id, sizeof one->id);
    serve_teaching_release(server.teachings, server.models, one);
    memcpy(rest, path + sizeof begin - 1, sizeof path - sizeof begin + 1);
    snprintf(path, sizeof path, "/v1/teach/%s%.*s", id, 200, rest);
    return true;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    static const char *names[1], *routes[] = {"all"};
    static vit_option_list list = {.values = {model}, .count = 1};
    static const vit_option_list no_templates;
    const serve_models_options models = {.named = &list, .templates = &no_templates, .threads = 1};
    const serve_queue_options queue = {.most = 64, .batch = 8, .timeout = 30};
    const serve_connections_options connections = {.most = 4, .per_address = 4, .timeout = 1};
    const serve_teachings_options limits = {
        .most = 2, .pictures = 20, .most_pixels = 10000, .goes_on = goes_on, .threads = 1};
    vit_error error;
    (void)argc;
    (void)argv;
    serve_gate_init(&server.gate, 1, 30);
    if (serve_models_open(&server.models, &models, &error) != VIT_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    names[0] = serve_models_name(server.models, 0);
    if (serve_metrics_new(&server.metrics, names, 1, routes, 1, &error) != VIT_OK ||
        serve_connections_new(&server.connections, &connections, &error) != VIT_OK ||
        serve_queue_start(&server.queue, &queue, server.metrics, &error) != VIT_OK ||
        serve_queue_start(&server.aside, &queue, server.metrics, &error) != VIT_OK ||
        serve_teachings_new(&server.teachings, &limits, &error) != VIT_OK)
        abort();
    return 0;
}

/* Takes a line off; what is too long is cut. */
static void take_line(char *out, size_t room, const uint8_t **data, size_t *size) {
    const uint8_t *end = memchr(*data, '\n', *size);
    const size_t whole = end == NULL ? *size : (size_t)(end - *data);
    const size_t kept = whole < room - 1 ? whole : room - 1;
    memcpy(out, *data, kept);
    out[kept] = '\0';
    *data += whole + (end != NULL);
    *size -= whole + (end != NULL);
}

/* JSON is JSON, and a failure has its sentence. */
static void check(serve_reply *reply) {
    if (reply->body.failed) serve_fail(reply, 503, "no memory"); /* as vit/cli/serve/http.c does */
    if (reply->body.failed || reply->status < 200 || reply->status > 599) abort();
    const size_t size = reply->json_size > 0 ? reply->json_size : reply->body.length;
    if (size > reply->body.length) abort();
    if (reply->json_size == 0 && strcmp(reply->type, "application/json") != 0) return;
    json_error_t error;
    json_t *said = json_loadb(reply->body.text, size, 0, &error);
    if (said == NULL) abort();
    if (reply->status >= 400 && !json_is_string(json_object_get(said, "error"))) abort();
    json_decref(said);
}

static void answer(serve_request *request, const uint8_t *data, size_t size) {
    serve_reply reply = {.status = 200, .type = "application/json"};
    const serve_route *route = serve_route_find(request, path);
    if (route == NULL) return;
    request->content_type = *type != '\0' ? type : NULL;
    request->json_length = *length != '\0' ? length : NULL;
    if (!(route->how & SERVE_TEACHING) && request->model[0] != '\0' &&
        !serve_models_has(server.models, request->model))
        return;
    uint8_t *body = malloc(size > 0 ? size : 1); /* of its exact length */
    if (body == NULL) return;
    memcpy(body, data, size);
    request->body = size > 0 ? body : NULL;
    request->size = size;
    route->handler(request, &reply);
    check(&reply);
    vit_string_free(&reply.body);
    free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    serve_request request = {.server = &server, .method = "POST"};
    char id[SERVE_TEACHING_ID + 1];
    take_line(path, sizeof path, &data, &size);
    take_line(type, sizeof type, &data, &size);
    take_line(length, sizeof length, &data, &size);
    if (!put_teaching(id)) return 0;
    read_arguments(&request);
    answer(&request, data, size);
    if (id[0] != '\0') serve_teaching_delete(server.teachings, server.models, id);
    return 0;
}
