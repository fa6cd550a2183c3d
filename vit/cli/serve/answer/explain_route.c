/* POST /v1/explain: a map of what an answer comes from, as vit-explain --json writes it. */
#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/parts/map_words.h"
#include "vit/cli/serve/answer/classify.h"
#include "vit/cli/serve/answer/pictures.h"
#include "vit/cli/serve/route.h"

enum { STEPS_MAX = 256, SHORT_WORD = 64 };

typedef struct question {
    serve_request *request;
    serve_reply *reply;
    json_t *object; /* the body; NULL: the body is the picture, and arguments follow '?' */
    serve_model *model;
    uint8_t *pixels; /* the picture, prepared */
    float *values;   /* the same, normalised */
    vit_map_options options;
    vit_map map;
} question;

/* ---- options ---- */

/* word: the value of a key, a word or a whole number; "", which no option accepts, for any other
 * value. False: there is none, or null. */
static bool find_word(const question *q, const char *key, char *word, size_t size) {
    const json_t *value = q->object ? json_object_get(q->object, key) : NULL;
    if (json_is_null(value)) value = NULL;
    const char *text = q->object ? NULL : serve_argument(q->request, key);
    word[0] = '\0';
    if (json_is_integer(value))
        snprintf(word, size, "%lld", (long long)json_integer_value(value));
    else if (json_is_string(value))
        text = json_string_value(value);
    if (text && strlen(text) < size) memcpy(word, text, strlen(text) + 1);
    return value || text;
}

/* A number from 0, if there is one. */
static bool read_number(const question *q, const char *key, vit_optional *number) {
    char word[SHORT_WORD];
    uint64_t value;
    if (!find_word(q, key, word, sizeof word)) return true;
    if (!vit_parse_u64(word, &value))
        return serve_fail(q->reply, 400, "%s: \"%s\" is not a whole number", key, word);
    *number = vit_given((double)value);
    return true;
}

/* "query": "cls" is also what a head without a class token reads. */
static bool read_options(question *q) {
    char word[SERVE_NAME_MAX + 1];
    vit_map_options *o = &q->options;
    vit_optional steps = {0};
    vit_error error;
    vit_status status = VIT_OK;
    o->method = VIT_METHOD_RELEVANCE;
    if (find_word(q, "method", word, SHORT_WORD))
        status = vit_map_read_method(&o->method, "method", word, &error);
    if (status == VIT_OK && find_word(q, "class", word, sizeof word))
        status = vit_map_read_class(o, q->model->model, "class", word, &error);
    if (status == VIT_OK && find_word(q, "query", word, SHORT_WORD) && strcmp(word, "cls") != 0)
        status = vit_map_read_query(o, &q->model->info, "query", word, &error);
    if (status == VIT_OK && find_word(q, "head", word, SHORT_WORD))
        status = vit_map_read_head(o, "head", word, &error);
    if (status != VIT_OK) return serve_fail_with(q->reply, &error);
    if (!read_number(q, "layer", &o->layer) || !read_number(q, "steps", &steps)) return false;
    if (steps.value > STEPS_MAX)
        return serve_fail(q->reply, 400, "steps: %.0f, expected at most %d", steps.value,
                          STEPS_MAX);
    o->steps = (size_t)steps.value;
    return true;
}

static bool read_model(question *q) {
    serve_models *models = q->request->server->models;
    char *name = q->request->model;
    if (!find_word(q, "model", name, SERVE_NAME_MAX + 1))
        snprintf(name, SERVE_NAME_MAX + 1, "%s", serve_models_name(models, 0));
    q->model = serve_model_take(models, name);
    if (q->model) return true;
    return serve_fail(q->reply, 404,
                      "no model is called \"%s\": GET /v2/models names those that are served",
                      name);
}

/* ---- the map ---- */

/* A serve_job's work: the map, with the model's session. */
static vit_status work(serve_job *job, vit_error *error) {
    question *q = job->context;
    return vit_explain(job->model->session, q->pixels, &q->options, &q->map, error);
}

static bool goes_on(void *server) {
    return !atomic_load(&((serve_server *)server)->impatient);
}

/* The same with a session of its own, for the queue `aside`. */
static vit_status work_aside(serve_job *job, vit_error *error) {
    question *q = job->context;
    vit_session *session;
    vit_status status =
        serve_model_session_aside(&session, q->request->server->models, job->model, error);
    if (status != VIT_OK) return status;
    q->options.goes_on = goes_on;
    q->options.user = q->request->server;
    status = vit_explain(session, q->pixels, &q->options, &q->map, error);
    vit_session_free(session);
    return status;
}

static bool make_map(question *q, const vit_picture *picture) {
    serve_server *server = q->request->server;
    const bool aside = vit_method_takes_passes(q->options.method); /* others must not wait */
    serve_job job = {.model = q->model, .work = aside ? work_aside : work, .context = q};
    vit_answer answer;
    q->pixels = vit_alloc_unset(q->model->pixels, 1);
    q->values = vit_alloc_unset(q->model->pixels, sizeof *q->values);
    q->options.values = q->values;
    if (!q->pixels || !q->values)
        return serve_fail(q->reply, 503, "no memory for the picture: try again later");
    serve_prepare(q->model, server, picture, q->pixels, q->values, &answer);
    if (answer.error.status != VIT_OK) return serve_fail_with(q->reply, &answer.error);
    serve_queue *queue = aside ? server->aside : server->queue;
    if (!serve_check_turn(q->reply, serve_queue_do(queue, &job))) return false;
    if (job.error.status == VIT_ERROR_CANCELLED)
        return serve_fail(q->reply, 503, "the server ends before this map would have been made");
    if (job.error.status == VIT_OK) return true;
    return serve_fail_computed(q->reply, &job.error);
}

static void write_map(const question *q, const char *name) {
    char word[16];
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_map_add_json(&json, name, q->model->model, q->options.method, &q->map, true);
    if (find_word(q, "pixels", word, sizeof word)) serve_add_input(&json, q->model, q->pixels);
    serve_end_json(&json, '}', q->reply);
}

/* The body is {"image": base64 or data URL, "model", "method", "class", "layer", "head", "query",
 * "steps", "pixels"}; or a picture, and the other keys are arguments after '?'. */
void serve_explain(serve_request *request, serve_reply *reply) {
    const bool is_json = serve_is_json(request);
    question q = {.request = request, .reply = reply};
    serve_pictures sent = {0};
    if (is_json) q.object = serve_read_json(request, request->size, reply);
    if (is_json && !q.object) return;
    const bool has_pictures = is_json ? serve_read_strings(&sent, request, q.object, "image", reply)
                                      : serve_read_pictures(&sent, request, reply);
    if (has_pictures && sent.count != 1) {
        serve_fail(reply, 400, "%zu pictures, expected one", sent.count);
    } else if (has_pictures && read_model(&q) && read_options(&q) &&
               make_map(&q, &sent.pictures[0])) {
        write_map(&q, sent.pictures[0].name);
    }
    request->pictures = sent.count;
    vit_map_clear(&q.map);
    vit_free(q.pixels);
    vit_free(q.values);
    serve_model_release(request->server->models, q.model);
    serve_pictures_free(&sent);
    json_decref(q.object);
}
