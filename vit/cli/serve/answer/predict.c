/* Classes of pictures, for the clients of TorchServe, of KServe's V1 protocol, and of Hugging Face.
 */
#include <strings.h>

#include "vit/cli/classify/answers.h"
#include "vit/cli/serve/answer/instances.h"
#include "vit/cli/serve/answer/zero_shot.h"
#include "vit/cli/serve/route.h"

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
    size_t top;   /* classes, at most */
    bool logits;  /* all of them as well */
    bool is_list; /* of answers, in "predictions" if it is wrapped */
    bool is_wrapped;
    vit_scoring scoring; /* COUNT: the model's */
    void (*add)(vit_json_out *json, serve_answers *a, size_t i, const char *name,
                const struct answer_form *form);
} answer_form;

/* Writes the answers to pictures of these names; NULL: "instances N". */
static void write_answers(serve_answers *a, const serve_pictures *named, const answer_form *form,
                          serve_reply *reply) {
    vit_json_out json = {0};
    char name[64];
    if (form->is_wrapped) vit_json_open(&json, NULL, '{');
    if (form->is_list) vit_json_open(&json, form->is_wrapped ? "predictions" : NULL, '[');
    for (size_t i = 0; i < a->count; i++) {
        snprintf(name, sizeof name, "instances %zu", i);
        form->add(&json, a, i, named ? named->pictures[i].name : name, form);
    }
    if (form->is_list) vit_json_close(&json, ']');
    if (form->is_wrapped) vit_json_close(&json, '}');
    vit_string_add(&json.text, "\n");
    reply->body = json.text;
}

/* Answers pictures that were sent, and frees them. */
static void answer(serve_request *request, serve_pictures *sent, const answer_form *form,
                   serve_reply *reply) {
    serve_answers a;
    const bool tests = request->server->tests;
    if (serve_answer_pictures(&a, request, request->model, sent, tests, reply)) {
        if (has_classes(&a, reply)) write_answers(&a, sent, form, reply);
        serve_answers_free(&a, request->server);
    }
    serve_pictures_free(sent);
}

/* Answers arrays of numbers; takes ownership of the reference to the model. */
static void answer_tensor(serve_request *request, const serve_tensor *tensor, serve_model *model,
                          const answer_form *form, serve_reply *reply) {
    serve_answers a;
    if (!serve_answer_tensor(&a, request, tensor, model, request->server->tests, reply)) return;
    if (has_classes(&a, reply)) write_answers(&a, NULL, form, reply);
    serve_answers_free(&a, request->server);
}

/* ---- options in JSON, where null stands for what is left out ---- */

static bool read_json_top(size_t *top, const json_t *parameters, const char *key,
                          serve_reply *reply) {
    const json_t *value = json_object_get(parameters, key);
    if (!json_is_integer(value)) return true;
    if (json_integer_value(value) < 1)
        return serve_fail(reply, 400, "\"%s\": expected a whole number from 1", key);
    *top = (size_t)json_integer_value(value);
    return true;
}

static void read_json_flag(bool *flag, const json_t *parameters, const char *key) {
    const json_t *value = json_object_get(parameters, key);
    if (json_is_true(value)) *flag = true;
    if (json_is_false(value)) *flag = false;
}

/* ---- TorchServe, and KServe's V1 protocol ---- */

/* What the model's calibration says of a picture that was ranked. */
static void rely(vit_answered *answered, serve_answers *a, size_t i, vit_unknown *unknown,
                 vit_error *failed) {
    serve_model *m = a->model;
    const vit_coverage *c = &m->reliance.coverage;
    answered->thresholds = c->thresholds;
    if (c->rule) {
        answered->coverage = c->asked;
        answered->set = a->set;
        answered->set_count = vit_coverages->set(c, a->probabilities, a->set);
    }
    if (!c->unknown) return;
    answered->unknown = unknown;
    if (serve_reliance_test(&m->reliance, m->name, m->model, a->logits + i * m->info.classes,
                            a->features + i * m->info.features, unknown, failed) != VIT_OK)
        answered->failure = failed;
}

/* The object that vit-classify --json prints. */
static void add_object(vit_json_out *json, serve_answers *a, size_t i, const char *name,
                       const answer_form *form) {
    const bool fine = a->answers[i].error.status == VIT_OK;
    const size_t classes = a->model->info.classes;
    vit_unknown unknown;
    vit_error failed;
    vit_answered answered = {.name = name,
                             .failure = fine ? NULL : &a->answers[i].error,
                             .warning = a->answers[i].warning,
                             .model = a->model->model,
                             .probabilities = a->probabilities,
                             .logits = form->logits ? a->logits + i * classes : NULL,
                             .classes = classes,
                             .top = fine ? rank(a, i, form->top, VIT_SCORING_COUNT) : 0,
                             .best = a->best};
    if (fine) rely(&answered, a, i, &unknown, &failed);
    vit_answer_add_json(json, &answered);
}

/* {"instances": [PICTURE, ...]}, as KServe's V1 clients send it, or {"data": PICTURE}, as
 * TorchServe's do (instances.h); and "parameters": {"top": K, "logits": true}. */
static void predict_json(serve_request *request, json_t *object, answer_form *form,
                         serve_reply *reply) {
    const json_t *list = json_object_get(object, "instances"),
                 *parameters = json_object_get(object, "parameters");
    serve_instances sent;
    form->is_list = form->is_wrapped = list;
    read_json_flag(&form->logits, parameters, "logits");
    if (!read_json_top(&form->top, parameters, "top", reply)) return;
    serve_model *model = serve_model_take(request->server->models, request->model);
    if (!serve_read_instances(&sent, request, model, list ? list : object, list, reply)) {
        serve_model_release(request->server->models, model);
    } else if (sent.tensor.count > 0) {
        answer_tensor(request, &sent.tensor, model, form, reply);
        serve_tensor_free(&sent.tensor);
    } else {
        serve_model_release(request->server->models, model);
        answer(request, &sent.files, form, reply);
    }
}

static bool read_options(answer_form *form, const serve_request *request, serve_reply *reply) {
    form->logits = serve_argument(request, "logits");
    return read_top(&form->top, request, "top", request->server->top, reply);
}

void serve_predictions(serve_request *request, serve_reply *reply) {
    const bool is_json = serve_is_json(request);
    answer_form form = {.add = add_object};
    serve_pictures sent = {0};
    json_t *object = is_json ? serve_read_json(request, request->size, reply) : NULL;
    if (is_json ? !object : !serve_read_pictures(&sent, request, reply)) return;
    form.is_list = sent.is_list;
    if (!read_options(&form, request, reply))
        serve_pictures_free(&sent);
    else if (is_json)
        predict_json(request, object, &form, reply);
    else
        answer(request, &sent, &form, reply);
    json_decref(object);
}

/* POST /v1/models/MODEL:predict */
void serve_v1_predict(serve_request *request, serve_reply *reply) {
    answer_form form = {.add = add_object};
    json_t *object = serve_read_json(request, request->size, reply);
    if (!object) return;
    if (!json_object_get(object, "instances"))
        serve_fail(reply, 400, "expected {\"instances\": [...]}, a list of pictures");
    else if (read_options(&form, request, reply))
        predict_json(request, object, &form, reply);
    json_decref(object);
}

/* ---- Hugging Face ---- */

/* Adds what the model's calibration says to the likeliest class of picture i. */
static void add_reliance(vit_json_out *json, serve_answers *a, size_t i) {
    const vit_coverage *c = &a->model->reliance.coverage;
    vit_unknown unknown;
    vit_error failed = {0};
    if (!c->thresholds && !c->rule && !c->unknown) return;
    vit_answered answered = {.model = a->model->model,
                             .probabilities = a->probabilities,
                             .best = a->best,
                             .top = rank(a, i, 1, VIT_SCORING_COUNT)};
    rely(&answered, a, i, &unknown, &failed);
    if (failed.status != VIT_OK)
        vit_json_text(json, "error", failed.message);
    else
        vit_answer_add_reliance(json, &answered);
}

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
    vit_json_open(json, NULL, '[');
    vit_json_open(json, NULL, '{');
    add_reliance(json, a, i);
    const size_t count = rank(a, i, form->top, form->scoring);
    for (size_t k = 0; k < count; k++) {
        if (k > 0) vit_json_open(json, NULL, '{');
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
    return serve_fail(reply, 400, "function_to_apply=%.32s: expected softmax, sigmoid or none",
                      text);
}

static bool is_zero_shot(const json_t *parameters) {
    return json_is_array(json_object_get(parameters, "candidate_labels"));
}

/* The body is {"inputs": base64 or a list of it, "parameters": {"top_k": K, "function_to_apply": F,
 * "candidate_labels": [TEXT, ...], "hypothesis_template": TEXT}}. */
static bool read_inputs(serve_pictures *sent, answer_form *form, const serve_request *request,
                        json_t *object, serve_reply *reply) {
    const json_t *parameters = json_object_get(object, "parameters");
    const bool labels = is_zero_shot(parameters);
    const char *function = json_string_value(json_object_get(parameters, "function_to_apply")),
               *template = json_string_value(json_object_get(parameters, "hypothesis_template"));
    if (labels ? function : template)
        return serve_fail(reply, 400, "\"%s\" has no meaning %s \"candidate_labels\"",
                          labels ? "function_to_apply" : "hypothesis_template",
                          labels ? "with" : "without");
    if (labels) form->top = SIZE_MAX; /* all of them, unless it is said */
    return read_json_top(&form->top, parameters, "top_k", reply) &&
           read_function(&form->scoring, function, reply) &&
           serve_read_strings(sent, request, object, "inputs", reply);
}

void serve_hugging_face(serve_request *request, serve_reply *reply) {
    serve_pictures sent = {0};
    const bool is_json = serve_is_json(request);
    answer_form form = {.add = add_scores, .scoring = VIT_SCORING_COUNT};
    json_t *object = is_json ? serve_read_json(request, request->size, reply) : NULL;
    if (is_json ? !object : !serve_read_pictures(&sent, request, reply)) return;
    const bool fine =
        read_top(&form.top, request, "top_k", 5, reply) &&
        read_function(&form.scoring, serve_argument(request, "function_to_apply"), reply) &&
        (!is_json || read_inputs(&sent, &form, request, object, reply));
    const json_t *parameters = json_object_get(object, "parameters");
    form.is_list = sent.is_list;
    if (fine && is_zero_shot(parameters))
        serve_zero_shot(request, &sent, parameters, form.top, reply);
    else if (fine)
        answer(request, &sent, &form, reply);
    if (!fine || is_zero_shot(parameters)) serve_pictures_free(&sent);
    json_decref(object);
}
