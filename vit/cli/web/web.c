/* vit-serve without a network: requests come from the page itself, and are answered on its thread.
 * The functions here are called by worker.js. */
#include <emscripten.h>
#include <stdlib.h>
#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/serve/route.h"
#include "vit/cli/serve/work/shipped.h"
#include "vit/formats/json_out.h"

enum { MOST_MODELS = 16 };

EMSCRIPTEN_KEEPALIVE const char *web_start(char *paths);
EMSCRIPTEN_KEEPALIVE unsigned web_ask(const char *method, const char *path, char *arguments,
                                      const char *type, const uint8_t *body, size_t size);
EMSCRIPTEN_KEEPALIVE const char *web_reply_type(void);
EMSCRIPTEN_KEEPALIVE const char *web_reply_text(void);
EMSCRIPTEN_KEEPALIVE size_t web_reply_size(void);
EMSCRIPTEN_KEEPALIVE const char *web_train(const char *preset, double steps, double seed,
                                           const char *out);

/* Models come with the page as files. */
const serve_shipped serve_shipped_models[] = {{0}};

typedef struct web_page {
    serve_server server;
    const char *names[MOST_MODELS]; /* for the metrics */
    serve_reply reply;              /* the last */
} web_page;

static web_page page;

static vit_status start(serve_server *server, char **models, size_t count, vit_error *error) {
    static const char *const routes[] = {"page"};
    vit_option_list list = {.count = count};
    const serve_models_options options = {.named = &list, .threads = 0};
    const serve_queue_options queue = {.most = 64, .batch = 64, .timeout = 60, .is_here = true};
    const serve_teachings_options teachings = {
        .most = 1, .pictures = 2000, .most_pixels = 50000000, .idle = 1e9};
    *server = (serve_server){
        .body = 64 << 20, .bodies = 64 << 20, .pixels = 50000000, .pictures = 64, .top = 3};
    for (size_t i = 0; i < count; i++) list.values[i] = models[i];
    server->started = vit_clock();
    serve_gate_init(&server->gate, 1, queue.timeout);
    vit_status status = serve_models_open(&server->models, &options, error);
    if (status == VIT_OK) status = serve_teachings_new(&server->teachings, &teachings, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        page.names[i] = serve_models_name(server->models, i);
    if (status == VIT_OK)
        status = serve_metrics_new(&server->metrics, page.names, count, routes, 1, error);
    if (status == VIT_OK)
        status = serve_queue_start(&server->queue, &queue, server->metrics, error);
    if (status == VIT_OK)
        status = serve_queue_start(&server->aside, &queue, server->metrics, error);
    return status;
}

/* Opens models, NAME=FILE, one a line; NULL, or what went wrong. */
const char *web_start(char *paths) {
    static vit_error error;
    char *models[MOST_MODELS];
    size_t count = 0;
    for (char *path = strtok(paths, "\n"); path && count < MOST_MODELS; path = strtok(NULL, "\n"))
        models[count++] = path;
    return start(&page.server, models, count, &error) == VIT_OK ? NULL : error.message;
}

/* Cuts "NAME=VALUE" lines into the request's arguments. */
static void take_arguments(serve_request *request, char *lines) {
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        char *value = line + strcspn(line, "=");
        if (*value != '\0') *value++ = '\0';
        if (!serve_add_argument(request, line, value)) return;
    }
}

/* Answers a request; returns the status. The reply stays until the next one. */
unsigned web_ask(const char *method, const char *path, char *arguments, const char *type,
                 const uint8_t *body, size_t size) {
    serve_request request = {.server = &page.server, .method = method, .body = body, .size = size};
    serve_reply *reply = &page.reply;
    const char *near = NULL, *unknown = NULL;
    vit_string_free(&reply->body);
    *reply = (serve_reply){.status = 200, .type = "application/json"};
    request.content_type = *type != '\0' ? type : NULL;
    take_arguments(&request, arguments);
    const serve_route *route = serve_route_find(&request, path);
    if (!route || !serve_route_takes(route, method)) {
        serve_fail(reply, 404, "%s %s: there is no such place", method, path);
        return reply->status;
    }
    unknown = serve_route_unknown(route, &request, &near);
    if (unknown)
        serve_fail(reply, 400, "%s: there is no such argument", unknown);
    else if (request.model[0] != '\0' && !(route->how & SERVE_TEACHING) &&
             !serve_models_has(page.server.models, request.model))
        serve_fail(reply, 404, "there is no model %s", request.model);
    else
        route->handler(&request, reply);
    return reply->status;
}

const char *web_reply_type(void) {
    return page.reply.type;
}

const char *web_reply_text(void) {
    return page.reply.body.text;
}

size_t web_reply_size(void) {
    return page.reply.body.length;
}

/* ---- training ---- */

/* Sends {"step", "steps", "loss", "lr", "images_per_second", "val_top1", "test_top1"} to the page.
 */
EM_JS(void, send_event, (const char *json),
      { postMessage({event : JSON.parse(UTF8ToString(json))}); })

static bool on_event(const vit_event *event, void *user) {
    vit_json_out json = {0};
    (void)user;
    vit_json_open(&json, NULL, '{');
    vit_json_count(&json, "step", event->step);
    vit_json_count(&json, "steps", event->steps);
    vit_json_number(&json, "loss", event->loss);
    vit_json_number(&json, "lr", event->lr);
    vit_json_number(&json, "images_per_second", event->images_per_second);
    vit_json_number(&json, "val_top1", event->val_top1);
    vit_json_number(&json, "test_top1", event->test_top1);
    vit_json_close(&json, '}');
    if (event->kind != VIT_EVENT_NOTE && !json.text.failed) send_event(json.text.text);
    vit_string_free(&json.text);
    return true;
}

/* Trains as vit-train --data digits does, and writes the model; NULL, or what went wrong. */
const char *web_train(const char *preset, double steps, double seed, const char *out) {
    static vit_error error;
    const vit_train_options options = {.data = "digits",
                                       .preset = preset,
                                       .steps = (uint64_t)steps,
                                       .seed = (uint64_t)seed,
                                       .out = out,
                                       .overwrite = true,
                                       .callback = on_event};
    return vit_train(NULL, &options, &error) == VIT_OK ? NULL : error.message;
}
