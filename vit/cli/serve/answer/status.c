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

/* Whether pictures are still like those of the calibration, by model. */
static void write_drift(serve_server *s, vit_string *out) {
    vit_string_add(out,
                   "# HELP vit_drift_martingale Evidence that pictures differ from those of the "
                   "calibration: 100 or more in 1 of 100 runs by chance.\n"
                   "# TYPE vit_drift_martingale gauge\n");
    for (size_t i = 0; i < serve_models_count(s->models); i++) {
        serve_model *m = serve_model_take_at(s->models, i);
        serve_reliance_write(&m->reliance, m->name, out);
        serve_model_release(s->models, m);
    }
}

void serve_metrics_page(serve_request *request, serve_reply *reply) {
    serve_server *s = request->server;
    const serve_gauges gauges = {.connections = serve_connections_count(s->connections),
                                 .waiting = serve_queue_length(s->queue),
                                 .uptime = vit_clock() - s->started};
    reply->type = "text/plain; version=0.0.4; charset=utf-8";
    serve_metrics_write(s->metrics, &gauges, &reply->body);
    if (s->tests) write_drift(s, &reply->body);
}
