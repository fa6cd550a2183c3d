/* Teaching over HTTP, with --teach: /v1/teach begins and lists, /v1/teach/ID adds pictures, shows
 * and deletes, /v1/teach/ID/learn, answer, explain, load, correct, forget, model, onnx and pytorch
 * do the rest. docs/server.md has the requests. */
#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/classify/answers.h"
#include "vit/cli/parts/map_words.h"
#include "vit/cli/serve/answer/classify.h"
#include "vit/cli/serve/answer/pictures.h"
#include "vit/cli/serve/answer/teach_files.h"
#include "vit/cli/serve/route.h"
#include "vit/formats/json_out.h"

/* False: `reply` is an error. */
static bool is_on(const serve_request *request, serve_reply *reply) {
    if (request->server->teachings) return true;
    return serve_fail(reply, 404, "this server does not teach: it was started without --teach");
}

/* The teaching of the path; NULL: `reply` is an error. */
static serve_teaching *take(const serve_request *request, serve_reply *reply) {
    if (!is_on(request, reply)) return NULL;
    serve_teaching *one;
    vit_error error;
    const vit_status status = serve_teaching_take(&one, request->server->teachings,
                                                  request->server->models, request->model, &error);
    if (status == VIT_ERROR_UNSUPPORTED || status == VIT_ERROR_MEMORY)
        serve_fail(reply, 503, "%s", error.message);
    else if (status != VIT_OK)
        serve_fail(reply, status == VIT_ERROR_MISMATCH ? 409 : 500, "%s", error.message);
    else if (!one)
        serve_fail(reply, 404, "there is no such teaching");
    return status == VIT_OK ? one : NULL;
}

static void give_back(const serve_request *request, serve_teaching *one) {
    serve_teaching_release(request->server->teachings, request->server->models, one);
}

/* ---- what is told ---- */

static void add_classes(vit_json_out *json, const vit_few_shot *t) {
    vit_json_open(json, "classes", '[');
    for (size_t k = 0; k < vit_few_shot_classes(t); k++) {
        size_t pictures = 0;
        for (size_t i = 0; i < vit_few_shot_count(t); i++)
            pictures += vit_few_shot_at(t, i).label == k;
        vit_json_open(json, NULL, '{');
        vit_json_text(json, "name", vit_few_shot_class(t, k));
        vit_json_count(json, "pictures", pictures);
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
}

/* {"id", "model", "classes", "pictures", "learnt"} */
static void open_state(vit_json_out *json, const serve_teaching *one) {
    const char *learnt = vit_few_shot_json(one->teaching);
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "id", one->id);
    vit_json_text(json, "model", one->model->name);
    add_classes(json, one->teaching);
    vit_json_count(json, "pictures", vit_few_shot_count(one->teaching));
    vit_json_raw(json, "learnt", learnt ? learnt : "null");
}

static void reply_state(const serve_teaching *one, serve_reply *reply) {
    vit_json_out json = {0};
    open_state(&json, one);
    serve_end_json(&json, '}', reply);
}

/* ---- pictures ---- */

static bool fail_learning(serve_reply *reply, const vit_error *error) {
    if (error->status == VIT_ERROR_CANCELLED)
        return serve_fail(reply, 503, "the server ends, and its teachings with it");
    return serve_fail_with(reply, error);
}

/* Adds pictures, as many at a time as the server's gate lets in. What was added before a failure
 * stays: who tries again with the same pictures does not add it twice. */
static bool add_within(serve_teaching *one, serve_server *server, const char *name,
                       const serve_pictures *sent, vit_answer *answers, serve_reply *reply) {
    vit_error error = {0};
    for (size_t done = 0, some; done < sent->count; done += some) {
        if (serve_gate_enter_some(&some, &server->gate, sent->count - done, &error) != VIT_OK)
            return serve_fail_with(reply, &error);
        vit_status status = vit_few_shot_add(one->teaching, name, sent->pictures + done, some,
                                             answers + done, &error);
        serve_gate_leave_some(&server->gate, some);
        for (size_t i = done; i < done + some && status == VIT_OK; i++) {
            error = answers[i].error;
            if (error.status == VIT_ERROR_MEMORY) status = error.status;
        }
        if (status != VIT_OK) return fail_learning(reply, &error);
    }
    return true;
}

/* Adds pictures to a class and tells which failed. False: `reply` is an error. */
static bool add(serve_teaching *one, const serve_request *request, const char *name,
                const serve_pictures *sent, vit_json_out *failed, serve_reply *reply) {
    const size_t most = serve_teachings_limits(request->server->teachings)->pictures;
    if (vit_few_shot_count(one->teaching) + sent->count > most)
        return serve_fail(reply, 413, "more than %zu pictures in a teaching", most);
    if (vit_few_shot_classes(one->teaching) > 1000)
        return serve_fail(reply, 413, "more than 1000 classes in a teaching");
    vit_answer *answers = vit_alloc(sent->count, sizeof *answers);
    if (!answers) return serve_fail(reply, 503, "no memory for the answer: try again later");
    const bool fine = add_within(one, request->server, name, sent, answers, reply);
    for (size_t i = 0; i < sent->count && fine; i++) {
        if (answers[i].error.status == VIT_OK) continue;
        vit_json_open(failed, NULL, '{');
        vit_json_text(failed, "file", sent->pictures[i].name);
        vit_json_text(failed, "error", answers[i].error.message);
        vit_json_close(failed, '}');
    }
    vit_free(answers);
    return fine;
}

/* What was changed is kept, if the server was told where. False: `reply` is an error. */
static bool keep(const serve_teaching *one, const serve_request *request, serve_reply *reply) {
    vit_error error;
    if (serve_teaching_keep(request->server->teachings, one, &error) == VIT_OK) return true;
    return serve_fail_with(reply, &error);
}

static void reply_added(const serve_teaching *one, vit_json_out *failed, serve_reply *reply) {
    vit_json_out json = {0};
    vit_json_close(failed, ']');
    char *list = vit_json_take(failed);
    open_state(&json, one);
    vit_json_raw(&json, "failed", list);
    serve_end_json(&json, '}', reply);
    vit_free(list);
}

static void add_sent(serve_teaching *one, serve_request *request, serve_reply *reply) {
    const char *name = serve_argument(request, "class");
    vit_json_out failed = {0};
    serve_pictures sent;
    if (!serve_read_pictures(&sent, request, reply)) return;
    if (!name) name = serve_argument(request, "class"); /* a field of the form */
    request->pictures = sent.count;
    vit_json_open(&failed, NULL, '[');
    if (!name || !*name)
        serve_fail(reply, 400, "class=NAME is missing: the class of the pictures");
    else if (add(one, request, name, &sent, &failed, reply) && keep(one, request, reply))
        reply_added(one, &failed, reply);
    vit_string_free(&failed.text);
    serve_pictures_free(&sent);
}

/* ---- beginning ---- */

static bool learn(serve_teaching *one, serve_reply *reply) {
    vit_error error;
    if (vit_few_shot_learn(one->teaching, NULL, &error) == VIT_OK) return true;
    return fail_learning(reply, &error);
}

/* Whether a request has no more pictures than it may; they are counted before one is decoded. */
static bool check_count(const serve_request *request, json_t *classes, serve_reply *reply) {
    const char *name;
    json_t *pictures;
    size_t count = 0;
    json_object_foreach(classes, name, pictures) {
        count += json_is_array(pictures) ? json_array_size(pictures) : 1;
    }
    if (count <= request->server->pictures) return true;
    return serve_fail(reply, 413, "more than %zu pictures in a request", request->server->pictures);
}

/* "classes": {NAME: [PICTURE, ...], ...} of a JSON object: all are added, and learnt. */
static void teach_all(serve_teaching *one, serve_request *request, json_t *classes,
                      serve_reply *reply) {
    vit_json_out failed = {0};
    const char *name;
    json_t *unused;
    bool fine = check_count(request, classes, reply);
    vit_json_open(&failed, NULL, '[');
    for (void *at = json_object_iter(classes); at && fine;) {
        serve_pictures sent;
        name = json_object_iter_key(at);
        unused = json_pack("{s:O}", "pictures", json_object_iter_value(at));
        fine = unused && serve_read_strings(&sent, request, unused, "pictures", reply);
        if (!unused) serve_fail(reply, 503, "no memory for the pictures: try again later");
        if (fine) {
            request->pictures += sent.count;
            fine = add(one, request, name, &sent, &failed, reply);
            serve_pictures_free(&sent);
        }
        json_decref(unused);
        at = json_object_iter_next(classes, at);
    }
    if (fine && learn(one, reply) && keep(one, request, reply)) reply_added(one, &failed, reply);
    vit_string_free(&failed.text);
}

static void begin(serve_request *request, json_t *object, serve_reply *reply) {
    serve_server *server = request->server;
    const json_t *views = json_object_get(object, "views");
    const char *name = json_string_value(json_object_get(object, "model"));
    const char *head = json_string_value(json_object_get(object, "head"));
    json_t *classes = json_object_get(object, "classes");
    serve_model *model =
        name ? serve_model_take(server->models, name) : serve_model_take_at(server->models, 0);
    serve_teaching *one;
    vit_error error;
    if (!model) {
        serve_fail(reply, 404, "there is no model %.200s", name);
        return;
    }
    if (json_is_integer(views) &&
        (json_integer_value(views) < 1 || json_integer_value(views) > 16)) {
        serve_model_release(server->models, model);
        serve_fail(reply, 400, "\"views\": expected a whole number from 1 to 16");
        return;
    }
    if (serve_teaching_begin(&one, server->teachings, server->models, model, head,
                             (size_t)json_integer_value(views), &error) != VIT_OK) {
        serve_fail_with(reply, &error);
        if (error.status == VIT_ERROR_UNSUPPORTED) reply->status = 503;
        return;
    }
    if (json_object_size(classes) > 0)
        teach_all(one, request, classes, reply);
    else
        reply_state(one, reply);
    const bool failed = reply->status >= 400;
    char id[SERVE_TEACHING_ID + 1];
    memcpy(id, one->id, sizeof id);
    give_back(request, one);
    if (failed) serve_teaching_delete(server->teachings, server->models, id);
}

/* POST: the body is {"model": NAME, "head": "ridge", "views": 1, "classes": {NAME: [PICTURE]}},
 * of which all may be left out. */
void serve_teach_begin(serve_request *request, serve_reply *reply) {
    if (!is_on(request, reply)) return;
    json_t *object = serve_read_json(request, request->size, reply);
    if (!object) return;
    begin(request, object, reply);
    json_decref(object);
}

static void show(const char *beginning, size_t pictures, size_t classes, double idle,
                 void *context) {
    vit_json_out *json = context;
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "id_begins", beginning);
    vit_json_count(json, "pictures", pictures);
    vit_json_count(json, "classes", classes);
    vit_json_fixed(json, "idle_seconds", idle, 0);
    vit_json_close(json, '}');
}

void serve_teach_list(serve_request *request, serve_reply *reply) {
    vit_json_out json = {0};
    if (!is_on(request, reply)) return;
    const serve_teachings_options *limits = serve_teachings_limits(request->server->teachings);
    vit_json_open(&json, NULL, '{');
    vit_json_count(&json, "most", limits->most);
    vit_json_count(&json, "most_pictures", limits->pictures);
    vit_json_open(&json, "teachings", '[');
    serve_teachings_list(request->server->teachings, show, &json);
    vit_json_close(&json, ']');
    serve_end_json(&json, '}', reply);
}

/* ---- one teaching ---- */

void serve_teach_one(serve_request *request, serve_reply *reply) {
    serve_teaching *one = take(request, reply);
    if (!one) return;
    if (strcmp(request->method, "POST") == 0)
        add_sent(one, request, reply);
    else
        reply_state(one, reply);
    give_back(request, one);
}

void serve_teach_delete(serve_request *request, serve_reply *reply) {
    serve_server *server = request->server;
    if (!is_on(request, reply)) return;
    if (serve_teaching_delete(server->teachings, server->models, request->model))
        vit_string_add(&reply->body, "{\"deleted\": true}\n");
    else
        serve_fail(reply, 404, "there is no such teaching");
}

/* The picture of ?picture=N, or of its name or SHA-256; false: `reply` is an error. */
static bool read_number(size_t *number, const serve_teaching *one, const serve_request *request,
                        serve_reply *reply) {
    const char *text = serve_argument(request, "picture");
    uint64_t value;
    vit_error error;
    if (!text || !*text)
        return serve_fail(reply, 400,
                          "picture=N is missing: the number of a picture, its name or its SHA-256");
    if (strlen(text) < 20 && vit_parse_u64(text, &value)) {
        *number = (size_t)value;
        return true;
    }
    if (vit_few_shot_find(number, one->teaching, text, &error) == VIT_OK) return true;
    return serve_fail(reply, 404, "%s", error.message);
}

/* "correct" gives a picture another class, "forget" takes it out. */
static void change(serve_teaching *one, serve_request *request, serve_reply *reply) {
    const bool forget = strcmp(request->version, "forget") == 0;
    const char *name = serve_argument(request, "class");
    size_t number = 0;
    vit_error error;
    if (!read_number(&number, one, request, reply)) return;
    if (!forget && !name) {
        serve_fail(reply, 400, "class=NAME is missing: the class of the picture");
        return;
    }
    const vit_status status = forget ? vit_few_shot_forget(one->teaching, number, &error)
                                     : vit_few_shot_correct(one->teaching, number, name, &error);
    if (status != VIT_OK)
        serve_fail_with(reply, &error);
    else if (learn(one, reply) && keep(one, request, reply))
        reply_state(one, reply);
}

static void reply_answer(const vit_few_shot *t, const char *file, const float *probabilities,
                         size_t classes, const char *warning, const vit_few_shot_neighbour *near,
                         size_t count, serve_reply *reply) {
    vit_json_out json = {0};
    size_t *best = vit_alloc(classes, sizeof *best);
    if (!best) {
        serve_fail(reply, 503, "no memory for the answer: try again later");
        return;
    }
    vit_top_k(probabilities, classes, classes, best);
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "file", file);
    vit_json_open(&json, "predictions", '[');
    for (size_t i = 0; i < classes; i++) {
        vit_json_open(&json, NULL, '{');
        vit_json_count(&json, "index", best[i]);
        vit_json_text(&json, "label", vit_few_shot_class(t, best[i]));
        vit_json_float(&json, "probability", probabilities[best[i]]);
        vit_json_close(&json, '}');
    }
    vit_json_close(&json, ']');
    if (warning) vit_json_text(&json, "warning", warning);
    vit_answer_add_neighbours(&json, t, near, count);
    serve_end_json(&json, '}', reply);
    vit_free(best);
}

static vit_status answer_within(serve_teaching *one, serve_server *server,
                                const vit_picture *picture, float *probabilities,
                                vit_few_shot_neighbour *near, size_t count, const char **warning,
                                vit_error *error) {
    vit_status status = serve_gate_enter(&server->gate, error);
    if (status != VIT_OK) return status;
    status =
        vit_few_shot_answer(one->teaching, picture, probabilities, near, count, warning, error);
    serve_gate_leave(&server->gate);
    return status;
}

static void answer(serve_teaching *one, serve_request *request, serve_reply *reply) {
    enum { NEAR = 5 };
    vit_few_shot_neighbour near[NEAR];
    serve_pictures sent;
    vit_error error;
    const char *warning = NULL;
    const size_t all = vit_few_shot_count(one->teaching), count = all < NEAR ? all : NEAR;
    const size_t classes = vit_few_shot_classes(one->teaching);
    if (!serve_read_pictures(&sent, request, reply)) return;
    float *probabilities = vit_alloc(classes, sizeof *probabilities);
    request->pictures = 1;
    if (sent.count != 1)
        serve_fail(reply, 400, "%zu pictures, expected one", sent.count);
    else if (!probabilities)
        serve_fail(reply, 503, "no memory for the answer: try again later");
    else if (answer_within(one, request->server, &sent.pictures[0], probabilities, near, count,
                           &warning, &error) != VIT_OK)
        serve_fail_with(reply, &error);
    else
        reply_answer(one->teaching, sent.pictures[0].name, probabilities,
                     vit_few_shot_learnt_classes(one->teaching), warning, near, count, reply);
    vit_free(probabilities);
    serve_pictures_free(&sent);
}

/* ---- where it looked ---- */

/* What a map is made of: the network with the head that was learnt, and a picture as it sees it. */
typedef struct look {
    vit_model *model;
    vit_session *session;
    uint8_t *pixels;
    float *values;
    vit_map map;
} look;

static vit_status make_look(look *l, const serve_teaching *one, serve_server *server,
                            const vit_picture *picture, vit_error *error) {
    const vit_session_options options = {.threads = 1};
    const size_t count = one->model->pixels;
    vit_answer prepared;
    vit_status status = vit_few_shot_model(&l->model, one->teaching, error);
    if (status == VIT_OK) status = vit_session_new(&l->session, l->model, &options, error);
    if (status != VIT_OK) return status;
    l->pixels = vit_alloc_unset(count, 1);
    l->values = vit_alloc_unset(count, sizeof *l->values);
    if (!l->pixels || !l->values) return vit_fail_memory(error, "the picture", 5 * count);
    serve_prepare(one->model, server, picture, l->pixels, l->values, &prepared);
    if (prepared.error.status != VIT_OK)
        return vit_fail(error, prepared.error.status, "%s", prepared.error.message);
    const vit_map_options asked = {.method = VIT_METHOD_RELEVANCE, .values = l->values};
    return vit_explain(l->session, l->pixels, &asked, &l->map, error);
}

static void reply_look(const look *l, const serve_model *backbone, const char *file,
                       serve_reply *reply) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_map_add_json(&json, file, l->model, VIT_METHOD_RELEVANCE, &l->map, true);
    serve_add_input(&json, backbone, l->pixels);
    serve_end_json(&json, '}', reply);
}

static void explain(serve_teaching *one, serve_request *request, serve_reply *reply) {
    look l = {0};
    serve_pictures sent;
    vit_error error;
    if (!serve_read_pictures(&sent, request, reply)) return;
    request->pictures = 1;
    if (sent.count != 1)
        serve_fail(reply, 400, "%zu pictures, expected one", sent.count);
    else if (make_look(&l, one, request->server, &sent.pictures[0], &error) != VIT_OK)
        serve_fail_with(reply, &error);
    else
        reply_look(&l, one->model, sent.pictures[0].name, reply);
    vit_map_clear(&l.map);
    vit_free(l.pixels);
    vit_free(l.values);
    vit_session_free(l.session);
    vit_model_free(l.model);
    serve_pictures_free(&sent);
}

/* The body is a model file that was taught on this server's model: its head is taken. */
static void load(serve_teaching *one, serve_request *request, serve_reply *reply) {
    vit_model *taught = NULL;
    vit_error error;
    vit_status status = vit_model_load_memory(&taught, request->body, request->size,
                                              "the model file", NULL, &error);
    if (status == VIT_OK) status = vit_few_shot_take_head(one->teaching, taught, &error);
    vit_model_free(taught);
    if (status == VIT_OK)
        reply_state(one, reply);
    else
        serve_fail_with(reply, &error);
}

/* [{"picture", "sha256", "name", "class"}] */
static void list_pictures(serve_teaching *one, serve_request *request, serve_reply *reply) {
    vit_json_out json = {0};
    (void)request;
    vit_json_open(&json, NULL, '[');
    for (size_t i = 0; i < vit_few_shot_count(one->teaching); i++) {
        const vit_few_shot_picture p = vit_few_shot_at(one->teaching, i);
        vit_json_open(&json, NULL, '{');
        vit_json_count(&json, "picture", i);
        vit_json_text(&json, "sha256", p.sha256);
        vit_json_text(&json, "name", p.name ? p.name : "");
        vit_json_text(&json, "class", vit_few_shot_class(one->teaching, p.label));
        vit_json_close(&json, '}');
    }
    serve_end_json(&json, ']', reply);
}

static void do_learn(serve_teaching *one, serve_request *request, serve_reply *reply) {
    if (learn(one, reply) && keep(one, request, reply)) reply_state(one, reply);
}

/* POST or GET /v1/teach/ID/WORD */
void serve_teach_do(serve_request *request, serve_reply *reply) {
    static const struct {
        const char *word;
        bool posts;
        void (*act)(serve_teaching *one, serve_request *request, serve_reply *reply);
    } acts[] = {{"learn", true, do_learn},          {"answer", true, answer},
                {"explain", true, explain},         {"load", true, load},
                {"correct", true, change},          {"forget", true, change},
                {"pictures", false, list_pictures}, {"model", false, serve_give},
                {"onnx", false, serve_give},        {"pytorch", false, serve_give}};
    serve_teaching *one = take(request, reply);
    size_t i = 0;
    if (!one) return;
    while (i < sizeof acts / sizeof acts[0] && strcmp(acts[i].word, request->version) != 0) i++;
    if (i == sizeof acts / sizeof acts[0])
        serve_fail(
            reply, 404,
            "expected learn, answer, explain, load, correct, forget, pictures, model, onnx or "
            "pytorch after the id");
    else if (acts[i].posts != (strcmp(request->method, "POST") == 0))
        serve_fail(reply, 405, "%s is %s", acts[i].word, acts[i].posts ? "POST" : "GET");
    else
        acts[i].act(one, request, reply);
    give_back(request, one);
}
