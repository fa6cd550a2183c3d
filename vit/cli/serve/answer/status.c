/* What the server says about itself. */
#include "vit/base/sys.h"
#include "vit/cli/serve/route.h"
#include "vit/formats/json_out.h"

bool serve_queue_moves(serve_server *server, serve_reply *reply) {
    serve_job job = {0};
    const serve_turn turn = serve_queue_do(server->queue, &job);
    serve_fail_turn(reply, turn);
    return turn == SERVE_TURN_DONE;
}

static void say_health(serve_request *request, serve_reply *reply, const char *health) {
    vit_json_out json = {0};
    if (!serve_queue_moves(request->server, reply)) return;
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "status", health);
    vit_json_close(&json, '}');
    vit_string_add(&json.text, "\n");
    reply->body = json.text;
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
