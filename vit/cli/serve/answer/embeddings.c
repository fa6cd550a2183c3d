/* POST /v1/embeddings: features of pictures, in the form of OpenAI's API. */
#include <string.h>

#include "vit/cli/serve/answer/classify.h"
#include "vit/cli/serve/answer/pictures.h"
#include "vit/cli/serve/route.h"

static void add_embedding(vit_json_out *json, const serve_answers *a, size_t i, bool as_base64) {
    const size_t width = a->model->info.features;
    const float *features = a->features + i * width;
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "object", "embedding");
    vit_json_count(json, "index", i);
    if (as_base64)
        vit_json_base64(json, "embedding", features, width * sizeof *features);
    else
        vit_json_g9s(json, "embedding", features, width);
    vit_json_close(json, '}');
}

static void add_list(vit_json_out *json, const serve_answers *a, bool as_base64) {
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "object", "list");
    vit_json_open(json, "data", '[');
    for (size_t i = 0; i < a->count; i++) add_embedding(json, a, i, as_base64);
    vit_json_close(json, ']');
    vit_json_text(json, "model", a->model->name);
    vit_json_open(json, "usage", '{');
    vit_json_count(json, "prompt_tokens", 0);
    vit_json_count(json, "total_tokens", 0);
    vit_json_close(json, '}');
    vit_json_close(json, '}');
    vit_string_add(&json->text, "\n");
}

static void answer(serve_request *request, json_t *object, serve_reply *reply) {
    const json_t *model = json_object_get(object, "model");
    const json_t *format = json_object_get(object, "encoding_format");
    const bool has_model = model && !json_is_null(model),
               has_format = format && !json_is_null(format);
    const char *name =
        has_model ? json_string_value(model) : serve_models_name(request->server->models, 0);
    const char *encoding = has_format ? json_string_value(format) : "float";
    serve_pictures sent;
    serve_answers a;
    if (!name || strlen(name) > SERVE_NAME_MAX) {
        serve_fail(reply, 400, "\"model\": expected a name");
        return;
    }
    if (!encoding || (strcmp(encoding, "float") != 0 && strcmp(encoding, "base64") != 0)) {
        serve_fail(reply, 400, "\"encoding_format\": expected \"float\" or \"base64\"");
        return;
    }
    if (!serve_read_strings(&sent, request, object, "input", reply)) return;
    memcpy(request->model, name, strlen(name) + 1);
    if (serve_answer_pictures(&a, request, name, &sent, true, reply)) {
        vit_json_out json = {0};
        size_t failed = 0; /* the list cannot express failures: the first one is the reply */
        while (failed < a.count && a.answers[failed].error.status == VIT_OK) failed++;
        if (failed < a.count) {
            serve_fail_with(reply, &a.answers[failed].error);
        } else {
            add_list(&json, &a, strcmp(encoding, "base64") == 0);
            reply->body = json.text;
        }
        serve_answers_free(&a, request->server);
    }
    serve_pictures_free(&sent);
}

/* The body is {"input": "data:image/png;base64,..." or a list of them, "model": NAME}; without
 * "model" the first one answers; null stands for what is left out. */
void serve_embeddings(serve_request *request, serve_reply *reply) {
    json_t *object = serve_read_json(request, request->size, reply);
    if (!object) return;
    answer(request, object, reply);
    json_decref(object);
}
