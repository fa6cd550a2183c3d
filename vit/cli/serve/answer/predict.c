/* Classes of pictures, for the clients of TorchServe and of Hugging Face. */
#include "vit/cli/parts/answers.h"
#include "vit/cli/serve/answer/classify.h"
#include "vit/cli/serve/answer/pictures.h"
#include "vit/cli/serve/route.h"
#include <strings.h>

/* *top: K of the argument ?NAME=K. False: `reply` is an error. */
static bool read_top(size_t *top, const serve_request *request, const char *name, size_t otherwise,
                     serve_reply *reply) {
    const char *text = serve_argument(request, name);
    uint64_t number = otherwise;
    const bool fine = !text || (vit_parse_u64(text, &number) && number > 0);
    *top = number > 1000000 ? 1000000 : (size_t)number;
    if (!fine) serve_fail(reply, 400, "%s=%.32s: expected a whole number from 1", name, text);
    return fine;
}

/* a->best: the likeliest classes of picture i, at most `top`; returns how many. */
static size_t rank(serve_answers *a, size_t i, size_t top, vit_scoring scoring) {
    const size_t classes = a->model->info.classes;
    if (top > classes) top = classes;
    vit_model_scores(a->model->model,
                     scoring == VIT_SCORING_COUNT ? a->model->info.scoring : scoring,
                     a->logits + i * classes, a->probabilities);
    vit_top_k(a->probabilities, classes, top, a->best);
    return top;
}

static bool has_classes(const serve_answers *a, serve_reply *reply) {
    if (!a->model->info.has_head)
        serve_fail(reply, 400,
                   "%s is a backbone without a head, it knows no classes: POST /v1/embeddings "
                   "gives its features",
                   a->model->name);
    return a->model->info.has_head;
}

/* What picture i is answered with. */
typedef struct answer_form {
    size_t top;          /* classes, at most */
    bool logits;         /* all of them as well */
    vit_scoring scoring; /* COUNT: the model's */
    void (*add)(vit_json_out *json, serve_answers *a, size_t i, const char *name,
                const struct answer_form *form);
} answer_form;

/* Answers pictures that were sent, and frees them. */
static void answer(serve_request *request, serve_pictures *sent, const answer_form *form,
                   serve_reply *reply) {
    serve_answers a;
    if (serve_answer_pictures(&a, request, request->model, sent, false, reply)) {
        vit_json_out json = {0};
        if (has_classes(&a, reply)) {
            if (sent->is_list) vit_json_open(&json, NULL, '[');
            for (size_t i = 0; i < a.count; i++)
                form->add(&json, &a, i, sent->pictures[i].name, form);
            if (sent->is_list) vit_json_close(&json, ']');
            vit_string_add(&json.line, "\n");
            reply->body = json.line;
        }
        serve_answers_free(&a, request->server);
    }
    serve_pictures_free(sent);
}

/* ---- TorchServe ---- */

/* The object that vit-classify --json prints. */
static void add_object(vit_json_out *json, serve_answers *a, size_t i, const char *name,
                       const answer_form *form) {
    const bool fine = a->answers[i].error.status == VIT_OK;
    const size_t classes = a->model->info.classes;
    const vit_answered answered = {.name = name,
                                   .failure = fine ? NULL : &a->answers[i].error,
                                   .warning = a->answers[i].warning,
                                   .model = a->model->model,
                                   .probabilities = a->probabilities,
                                   .logits = form->logits ? a->logits + i * classes : NULL,
                                   .classes = classes,
                                   .top = fine ? rank(a, i, form->top, VIT_SCORING_COUNT) : 0,
                                   .best = a->best};
    vit_answer_add_json(json, &answered);
}

void serve_predictions(serve_request *request, serve_reply *reply) {
    serve_pictures sent;
    answer_form form = {.logits = serve_argument(request, "logits"), .add = add_object};
    if (read_top(&form.top, request, "top", request->server->top, reply) &&
        serve_read_pictures(&sent, request, reply))
        answer(request, &sent, &form, reply);
}

/* ---- Hugging Face ---- */

/* The list of classes of picture i, or {"error": ...} if it failed. */
static void add_scores(vit_json_out *json, serve_answers *a, size_t i, const char *name,
                       const answer_form *form) {
    (void)name;
    if (a->answers[i].error.status != VIT_OK) {
        vit_json_open(json, NULL, '{');
        vit_json_text(json, "error", a->answers[i].error.message);
        vit_json_close(json, '}');
        return;
    }
    const size_t count = rank(a, i, form->top, form->scoring);
    vit_json_open(json, NULL, '[');
    for (size_t k = 0; k < count; k++) {
        vit_json_open(json, NULL, '{');
        vit_json_text(json, "label", vit_model_label(a->model->model, a->best[k]));
        vit_json_float(json, "score", a->probabilities[a->best[k]]);
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
}

/* Of "softmax", "sigmoid" and "none" in any case; text NULL: the model's. */
static bool read_function(vit_scoring *scoring, const char *text, serve_reply *reply) {
    if (!text) return true;
    for (int i = 0; i < VIT_SCORING_COUNT; i++) {
        *scoring = (vit_scoring)i;
        if (strcasecmp(text, vit_scoring_name(*scoring)) == 0) return true;
    }
    serve_fail(reply, 400, "function_to_apply=%.32s: expected softmax, sigmoid or none", text);
    return false;
}

/* The body is {"inputs": base64 or a list of it, "parameters": {"top_k": K, "function_to_apply":
 * F}}; null stands for what is left out. */
static bool read_inputs(serve_pictures *sent, answer_form *form, const serve_request *request,
                        serve_reply *reply) {
    json_t *object = serve_read_json(request, request->size, reply);
    if (!object) return false;
    const json_t *parameters = json_object_get(object, "parameters"),
                 *top = json_object_get(parameters, "top_k"),
                 *function = json_object_get(parameters, "function_to_apply");
    const bool has_top = top && !json_is_null(top), is_named = function && !json_is_null(function);
    bool fine = !has_top || (json_is_integer(top) && json_integer_value(top) > 0);
    if (has_top && fine) form->top = (size_t)json_integer_value(top);
    if (!fine) serve_fail(reply, 400, "\"top_k\": expected a whole number from 1");
    if (fine && is_named && !json_is_string(function)) {
        serve_fail(reply, 400, "\"function_to_apply\": expected softmax, sigmoid or none");
        fine = false;
    }
    fine = fine && read_function(&form->scoring, json_string_value(function), reply) &&
           serve_read_strings(sent, request, object, "inputs", reply);
    json_decref(object);
    return fine;
}

void serve_hugging_face(serve_request *request, serve_reply *reply) {
    serve_pictures sent;
    answer_form form = {.add = add_scores, .scoring = VIT_SCORING_COUNT};
    if (!read_top(&form.top, request, "top_k", 5, reply) ||
        !read_function(&form.scoring, serve_argument(request, "function_to_apply"), reply))
        return;
    if (serve_is_json(request) ? read_inputs(&sent, &form, request, reply)
                               : serve_read_pictures(&sent, request, reply))
        answer(request, &sent, &form, reply);
}
