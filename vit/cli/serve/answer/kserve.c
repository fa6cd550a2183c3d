/* What the other servers' clients ask before they send a picture: which models there are, whether
 * they are ready, and what their inputs and outputs are. The protocols are V1 and V2 of KServe (V2
 * is Triton's as well) and TorchServe's. predict.c and kserve_infer.c compute. */

#include "vit/cli/serve/answer/kserve.h"
#include "vit/base/size.h"
#include "vit/cli/serve/answer/pictures.h"
#include "vit/cli/serve/route.h"

void serve_v2(serve_request *request, serve_reply *reply) {
    static const char *const extensions[] = {"binary_tensor_data", "classification"};
    vit_json_out json = {0};
    (void)request;
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "name", "vit-serve");
    vit_json_text(&json, "version", VIT_VERSION);
    vit_json_texts(&json, "extensions", extensions, VIT_COUNT(extensions));
    serve_end_json(&json, '}', reply);
}

/* Says that the process lives; /v2/health/ready says whether it answers. */
void serve_v2_live(serve_request *request, serve_reply *reply) {
    vit_json_out json = {0};
    (void)request;
    vit_json_open(&json, NULL, '{');
    vit_json_bool(&json, "live", true);
    serve_end_json(&json, '}', reply);
}

void serve_v2_ready(serve_request *request, serve_reply *reply) {
    vit_json_out json = {0};
    if (!serve_queue_moves(request->server, reply)) return;
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "status", "ok");
    vit_json_bool(&json, "ready", true);
    serve_end_json(&json, '}', reply);
}

void serve_v2_model_ready(serve_request *request, serve_reply *reply) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "name", request->model);
    vit_json_bool(&json, "ready", true);
    serve_end_json(&json, '}', reply);
}

/* ---- tensors ---- */

static void add_tensor(vit_json_out *json, const char *name, const char *type, const size_t *shape,
                       size_t dims) {
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "name", name);
    vit_json_text(json, "datatype", type);
    vit_json_open(json, "shape", '[');
    vit_json_raw(json, NULL, "-1");
    for (size_t i = 0; i < dims; i++) vit_json_count(json, NULL, shape[i]);
    vit_json_close(json, ']');
    vit_json_close(json, '}');
}

void serve_v2_model(serve_request *request, serve_reply *reply) {
    serve_model *m = serve_model_take(request->server->models, request->model);
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "name", m->name);
    vit_json_texts(&json, "versions", (const char *const[]){"1"}, 1);
    vit_json_text(&json, "platform", "vit");
    vit_json_open(&json, "inputs", '[');
    for (size_t i = 0; i < SERVE_INPUT_COUNT; i++) {
        size_t shape[3];
        const size_t dims = serve_input_shape(m, (serve_input)i, shape);
        add_tensor(&json, serve_input_names[i], serve_input_types[i], shape, dims);
    }
    vit_json_close(&json, ']');
    vit_json_open(&json, "outputs", '[');
    for (size_t i = 0; i < SERVE_OUTPUT_COUNT; i++) {
        const size_t width = serve_output_width(m, (serve_output)i);
        add_tensor(&json, serve_output_names[i], "FP32", &width, 1);
    }
    vit_json_close(&json, ']');
    serve_end_json(&json, '}', reply);
    serve_model_release(request->server->models, m);
}

/* ---- the list ---- */

/* The protocol's fields, and what the page needs: labels and sizes. */
static void add_model(vit_json_out *json, const serve_model *m) {
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "name", m->name);
    vit_json_text(json, "state", "READY");
    vit_json_count(json, "height", m->info.height);
    vit_json_count(json, "width", m->info.width);
    vit_json_count(json, "channels", m->info.channels);
    vit_json_count(json, "patch", m->info.patch);
    vit_json_count(json, "depth", m->info.depth);
    vit_json_count(json, "heads", m->info.heads);
    vit_json_count(json, "classes", m->info.has_head ? m->info.classes : 0);
    vit_json_count(json, "features", m->info.features);
    vit_json_count(json, "parameters", m->info.parameters);
    vit_json_close(json, '}');
}

void serve_v2_models(serve_request *request, serve_reply *reply) {
    serve_models *models = request->server->models;
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_open(&json, "models", '[');
    for (size_t i = 0; i < serve_models_count(models); i++) {
        serve_model *m = serve_model_take_at(models, i);
        add_model(&json, m);
        serve_model_release(models, m);
    }
    vit_json_close(&json, ']');
    serve_end_json(&json, '}', reply);
}

/* The same list in Triton's form. */
void serve_v2_index(serve_request *request, serve_reply *reply) {
    serve_models *models = request->server->models;
    vit_json_out json = {0};
    json_t *asked = request->size > 0 ? serve_read_json(request, request->size, reply) : NULL;
    if (request->size > 0 && !asked) return;
    json_decref(asked); /* all models are ready */
    vit_json_open(&json, NULL, '[');
    for (size_t i = 0; i < serve_models_count(models); i++) {
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "name", serve_models_name(models, i));
        vit_json_text(&json, "version", "1");
        vit_json_text(&json, "state", "READY");
        vit_json_close(&json, '}');
    }
    serve_end_json(&json, ']', reply);
}

/* ---- KServe's V1 protocol, and OpenAI's under the same paths ---- */

/* Two protocols in one object, which share no member. */
static void add_openai_model(vit_json_out *json, const char *name) {
    vit_json_text(json, "id", name);
    vit_json_text(json, "object", "model");
    vit_json_count(json, "created", 0);
    vit_json_text(json, "owned_by", "vit-serve");
}

void serve_v1_model(serve_request *request, serve_reply *reply) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "name", request->model);
    vit_json_bool(&json, "ready", true);
    add_openai_model(&json, request->model);
    serve_end_json(&json, '}', reply);
}

void serve_v1_models(serve_request *request, serve_reply *reply) {
    serve_models *models = request->server->models;
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_open(&json, "models", '[');
    for (size_t i = 0; i < serve_models_count(models); i++)
        vit_json_text(&json, NULL, serve_models_name(models, i));
    vit_json_close(&json, ']');
    vit_json_text(&json, "object", "list");
    vit_json_open(&json, "data", '[');
    for (size_t i = 0; i < serve_models_count(models); i++) {
        vit_json_open(&json, NULL, '{');
        add_openai_model(&json, serve_models_name(models, i));
        vit_json_close(&json, '}');
    }
    vit_json_close(&json, ']');
    serve_end_json(&json, '}', reply);
}

/* ---- TorchServe ---- */

void serve_torchserve_models(serve_request *request, serve_reply *reply) {
    serve_models *models = request->server->models;
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_open(&json, "models", '[');
    for (size_t i = 0; i < serve_models_count(models); i++) {
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "modelName", serve_models_name(models, i));
        vit_json_text(&json, "modelUrl", serve_models_name(models, i));
        vit_json_close(&json, '}');
    }
    vit_json_close(&json, ']');
    serve_end_json(&json, '}', reply);
}

/* A list, as there may be several versions. */
void serve_torchserve_model(serve_request *request, serve_reply *reply) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '[');
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "modelName", request->model);
    vit_json_text(&json, "modelVersion", "1.0");
    vit_json_text(&json, "modelUrl", request->model);
    vit_json_text(&json, "runtime", "vit-serve " VIT_VERSION);
    vit_json_count(&json, "minWorkers", 1);
    vit_json_count(&json, "maxWorkers", 1);
    vit_json_bool(&json, "loadedAtStartup", true);
    vit_json_open(&json, "workers", '[');
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "id", "1");
    vit_json_text(&json, "status", "READY");
    vit_json_close(&json, '}');
    vit_json_close(&json, ']');
    vit_json_close(&json, '}');
    serve_end_json(&json, ']', reply);
}
