/* What the server says about itself. */
#include "vit/base/sys.h"
#include "vit/cli/parts/json_out.h"
#include "vit/cli/serve/route.h"

/* An empty job takes its turn in the queue like a picture: if answers hang, so does this one. */
void serve_health(serve_request *request, serve_reply *reply) {
    serve_job job = {0};
    const serve_turn turn = serve_queue_do(request->server->queue, &job);
    if (turn != SERVE_TURN_DONE) {
        serve_fail_turn(reply, turn);
        return;
    }
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "status", "ok");
    vit_json_close(&json, '}');
    vit_string_add(&json.line, "\n");
    reply->body = json.line;
}

void serve_metrics_page(serve_request *request, serve_reply *reply) {
    serve_server *s = request->server;
    const serve_gauges gauges = {.connections = serve_connections_count(s->connections),
                                 .waiting = serve_queue_length(s->queue),
                                 .uptime = vit_clock() - s->started};
    reply->type = "text/plain; version=0.0.4; charset=utf-8";
    serve_metrics_write(s->metrics, &gauges, &reply->body);
}
