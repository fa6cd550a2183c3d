/* POST /v1/anomaly: how unlike the good pictures of a bank a picture is, as vit-anomaly --json. */
#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/parts/defects.h"
#include "vit/cli/serve/answer/pictures.h"
#include "vit/cli/serve/route.h"
#include "vit/maps.h"

typedef struct question {
    serve_request *request;
    serve_reply *reply;
    json_t *object; /* the body; NULL: the body is the picture, and arguments follow '?' */
    const serve_bank *bank;
    const vit_picture *picture;
    double threshold;
    uint8_t *pixels; /* as the network sees it */
    float *values, *map;
    vit_anomaly anomaly;
    vit_answer answer;
} question;

static const char *find_text(const question *q, const char *key) {
    return q->object ? json_string_value(json_object_get(q->object, key))
                     : serve_argument(q->request, key);
}

static bool find_bank(question *q) {
    const serve_banks *banks = &q->request->server->banks;
    const char *name = find_text(q, "bank");
    vit_string names = {0};
    if (banks->count == 0)
        return serve_fail(q->reply, 404, "no bank is served: vit-serve --bank FILE");
    q->bank = serve_banks_find(banks, name ? name : "");
    if (q->bank) return true;
    for (size_t i = 0; i < banks->count; i++)
        vit_string_add(&names, "%s\"%s\"", i > 0 ? ", " : "", banks->banks[i].name);
    serve_fail(q->reply, 404, "no bank is called \"%s\", expected %s", name,
               names.text ? names.text : "another");
    vit_string_free(&names);
    return false;
}

static bool read_alpha(question *q) {
    const json_t *value = json_object_get(q->object, "alpha");
    const char *text = find_text(q, "alpha");
    double alpha =
        json_is_number(value) ? json_number_value(value) : vit_bank_usual_rate(&q->bank->info);
    vit_error error;
    if (text && !vit_parse_double(text, &alpha))
        return serve_fail(q->reply, 400, "alpha: \"%s\" is no number", text);
    if (vit_bank_threshold(q->bank->bank, alpha, &q->threshold, &error) == VIT_OK) return true;
    return serve_fail(q->reply, 400, "alpha: %s", error.message);
}

/* Reads the picture within the server's limits, before it waits for its turn. */
static bool prepare(question *q) {
    serve_server *server = q->request->server;
    const serve_bank *b = q->bank;
    const size_t size = b->info.height * b->info.width * b->channels;
    const char *warning;
    vit_error error;
    q->pixels = vit_alloc_unset(size, 1);
    q->values = vit_alloc_unset(size, sizeof *q->values);
    q->map = vit_alloc(b->info.rows * b->info.columns, sizeof *q->map);
    if (!q->pixels || !q->values || !q->map)
        return serve_fail(q->reply, 503, "no memory for the picture: try again later");
    if (serve_gate_enter(&server->gate, &error) != VIT_OK) return serve_fail_with(q->reply, &error);
    const vit_status status = vit_prepare_values(b->session, q->picture, server->pixels, q->pixels,
                                                 q->values, &warning, &error);
    serve_gate_leave(&server->gate);
    if (status == VIT_OK) return true;
    return serve_fail_with(q->reply, &error);
}

/* A serve_job's work. */
static vit_status work(serve_job *job, vit_error *error) {
    question *q = job->context;
    const vit_status status =
        vit_bank_test(q->bank->bank, q->bank->model, q->bank->session, q->picture, 1, NULL,
                      &q->anomaly, q->map, &q->answer, error);
    if (status != VIT_OK || q->answer.error.status == VIT_OK) return status;
    *error = q->answer.error;
    return error->status;
}

/* The picture with the distances of its patches. */
static bool add_png(vit_json_out *json, const question *q) {
    const vit_bank_info *info = &q->bank->info;
    const vit_map map = {.dims = 2,
                         .shape = {info->rows, info->columns},
                         .rows = info->rows,
                         .columns = info->columns,
                         .values = q->map,
                         .name = "distance"};
    vit_buffer png = {0};
    vit_error error;
    const vit_status status = vit_map_png(q->bank->session, q->pixels, &map, 1, &png, &error);
    if (status == VIT_OK) vit_json_base64(json, "png", png.data, png.size);
    vit_buffer_clear(&png);
    return status == VIT_OK || serve_fail_with(q->reply, &error);
}

static bool asks_for_png(const question *q) {
    const char *text = serve_argument(q->request, "png");
    return q->object ? json_is_true(json_object_get(q->object, "png"))
                     : text && strcmp(text, "0") != 0 && strcmp(text, "false") != 0;
}

static bool answer(question *q) {
    serve_job job = {.work = work, .context = q};
    vit_json_out json = {0};
    if (!find_bank(q) || !read_alpha(q) || !prepare(q)) return false;
    if (!serve_check_turn(q->reply, serve_queue_do(q->request->server->queue, &job))) return false;
    if (job.error.status != VIT_OK) return serve_fail_computed(q->reply, &job.error);
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "file", q->picture->name);
    vit_json_text(&json, "bank", q->bank->name);
    vit_defect_json(&json, &q->bank->info, &q->anomaly, q->threshold, q->map);
    if (asks_for_png(q) && !add_png(&json, q)) {
        vit_string_free(&json.text);
        return false;
    }
    serve_end_json(&json, '}', q->reply);
    return true;
}

/* The body is {"image": base64 or data URL, "bank", "alpha", "png"}; or a picture, and the other
 * keys are arguments after '?'. */
void serve_anomaly(serve_request *request, serve_reply *reply) {
    const bool is_json = serve_is_json(request);
    question q = {.request = request, .reply = reply};
    serve_pictures sent = {0};
    if (is_json) q.object = serve_read_json(request, request->size, reply);
    if (is_json && !q.object) return;
    const bool has_pictures = is_json ? serve_read_strings(&sent, request, q.object, "image", reply)
                                      : serve_read_pictures(&sent, request, reply);
    if (has_pictures && sent.count != 1) {
        serve_fail(reply, 400, "%zu pictures, expected one", sent.count);
    } else if (has_pictures) {
        q.picture = &sent.pictures[0];
        answer(&q);
    }
    request->pictures = sent.count;
    vit_free(q.pixels);
    vit_free(q.values);
    vit_free(q.map);
    serve_pictures_free(&sent);
    json_decref(q.object);
}
