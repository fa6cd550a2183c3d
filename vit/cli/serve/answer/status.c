/* What the server says about itself. */
#include "vit/base/sys.h"
#include "vit/cli/serve/route.h"

bool serve_queue_moves(serve_server *server, serve_reply *reply) {
    serve_job job = {0};
    return serve_check_turn(reply, serve_queue_do(server->queue, &job));
}

static void say_health(serve_request *request, serve_reply *reply, const char *health) {
    vit_json_out json = {0};
    if (!serve_queue_moves(request->server, reply)) return;
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "status", health);
    serve_end_json(&json, '}', reply);
}

void serve_health(serve_request *request, serve_reply *reply) {
    say_health(request, reply, "ok");
}

/* TorchServe's. */
void serve_ping(serve_request *request, serve_reply *reply) {
    say_health(request, reply, "Healthy");
}

void serve_metrics_page(serve_request *request, serve_reply *reply) {
    serve_server *s = request->server;
    const serve_gauges gauges = {.connections = serve_connections_count(s->connections),
                                 .waiting = serve_queue_length(s->queue),
                                 .uptime = vit_clock() - s->started};
    reply->type = "text/plain; version=0.0.4; charset=utf-8";
    serve_metrics_write(s->metrics, &gauges, &reply->body);
}
