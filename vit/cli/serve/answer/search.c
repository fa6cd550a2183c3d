/* POST /v1/search: pictures of an index that are similar to the one that is sent, or with
 * ?text=WORDS to words; GET /v1/search/picture?row=N: one of them, small. */
#include <string.h>

#include "vit/base/parallel.h"
#include "vit/base/sys.h"
#include "vit/cli/parts/indexing.h"
#include "vit/cli/serve/answer/classify.h"
#include "vit/cli/serve/answer/texts.h"
#include "vit/cli/serve/route.h"
#include "vit/search/sheet.h"

enum { MOST_RESULTS = 1000 };

static bool take_index(serve_snapshot **out, const serve_request *request, serve_reply *reply) {
    vit_error error;
    *out = NULL;
    if (!request->server->index)
        return serve_fail(reply, 404,
                          "no index of pictures is served: vit-serve --index names one");
    if (serve_snapshot_take(out, request->server->index, &error) == VIT_OK) return true;
    return serve_fail(reply, 503, "the index cannot be searched now: %s", error.message);
}

/* Whether the index is of the served model of this name: its features of the fixed picture say so.
 */
static bool is_of_model(serve_request *request, const char *name, const vit_index *index,
                        serve_reply *reply) {
    const vit_index_about about = vit_index_describe(index);
    char hex[65] = "";
    serve_answers a;
    serve_model *model = serve_model_take(request->server->models, name);
    if (!model)
        return serve_fail(reply, 404, "no model is called \"%s\": GET /v2/models names them", name);
    uint8_t *picture = vit_alloc(model->pixels, 1);
    if (picture) vit_fingerprint_picture(picture, model->pixels);
    serve_job job = {.model = model, .images = picture, .count = picture ? 1 : 0};
    const bool computed = serve_answer_prepared(&a, request, &job, true, reply);
    vit_free(picture);
    if (!computed) return false;
    if (a.model->info.features == about.width) vit_fingerprint_text(hex, a.features, about.width);
    serve_answers_free(&a, request->server);
    if (strcmp(hex, about.fingerprint) == 0) return true;
    return serve_fail(reply, 409,
                      "the index is of another model than %s: serve %s, or ask another one with "
                      "?model=NAME",
                      name, vit_path_last(about.model));
}

static void add_results(serve_reply *reply, const vit_index *index, const vit_hit *hits,
                        size_t count) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_open(&json, "results", '[');
    for (size_t i = 0; i < count; i++) {
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "file", vit_index_row(index, hits[i].row).name);
        vit_json_float(&json, "score", hits[i].score);
        vit_json_count(&json, "row", hits[i].row);
        vit_json_close(&json, '}');
    }
    vit_json_close(&json, ']');
    serve_end_json(&json, '}', reply);
}

static void find(const vit_index *index, const float *features, size_t top, serve_reply *reply) {
    vit_hit hits[MOST_RESULTS];
    vit_error error;
    size_t count;
    if (vit_index_find(hits, &count, index, features, top, vit_threads_default(), VIT_CPU_COUNT,
                       &error) == VIT_OK)
        add_results(reply, index, hits, count);
    else
        serve_fail_with(reply, &error);
}

static void find_words(serve_request *request, const char *name, const char *words,
                       const vit_index *index, size_t top, serve_reply *reply) {
    const serve_texts texts = {.texts = &words, .count = 1};
    float *features;
    size_t tokens;
    serve_model *model = serve_model_take(request->server->models, name);
    if (serve_embed_texts(&features, &tokens, model, &texts, reply)) {
        find(index, features, top, reply);
        vit_free(features);
    }
    serve_model_release(request->server->models, model);
}

/* One picture, or words and none. */
static bool read_question(serve_pictures *sent, serve_request *request, serve_reply *reply) {
    *sent = (serve_pictures){0};
    if (request->size == 0 && serve_argument(request, "text")) return true;
    if (!serve_read_pictures(sent, request, reply)) return false;
    const bool words = serve_argument(request, "text");
    if (sent->count == 1 && !words) return true;
    serve_pictures_free(sent);
    return words ? serve_fail(reply, 400, "both a picture and text, expected one of them")
                 : serve_fail(reply, 400, "several pictures, expected one");
}

void serve_search(serve_request *request, serve_reply *reply) {
    serve_snapshot *snapshot;
    serve_pictures sent;
    serve_answers a;
    uint64_t top = 10;
    if (!take_index(&snapshot, request, reply)) return;
    if (!read_question(&sent, request, reply)) {
        serve_snapshot_release(request->server->index, snapshot);
        return;
    }
    const vit_index *index = snapshot->index;
    const char *name = serve_argument(request, "model"), *most = serve_argument(request, "top");
    if (!name) name = serve_models_name(request->server->models, 0);
    if (most && (!vit_parse_u64(most, &top) || top < 1 || top > MOST_RESULTS)) {
        serve_fail(reply, 400, "top: expected a number from 1 to %d", MOST_RESULTS);
    } else if (!is_of_model(request, name, index, reply)) {
        /* the reply says so */
    } else if (sent.count == 0) {
        find_words(request, name, serve_argument(request, "text"), index, (size_t)top, reply);
    } else if (serve_answer_pictures(&a, request, name, &sent, true, reply)) {
        if (a.answers[0].error.status == VIT_OK)
            find(index, a.features, (size_t)top, reply);
        else
            serve_fail_with(reply, &a.answers[0].error);
        serve_answers_free(&a, request->server);
    }
    serve_pictures_free(&sent);
    serve_snapshot_release(request->server->index, snapshot);
}

/* The picture lay at `path` when the index was made, which clients are not told. */
static void reply_thumbnail(serve_server *server, const char *path, serve_reply *reply) {
    vit_error error;
    uint8_t *png = NULL;
    size_t size = 0;
    if (serve_gate_enter(&server->gate, &error) != VIT_OK) {
        serve_fail_with(reply, &error);
        return;
    }
    const vit_status status = vit_thumbnail(&png, &size, path, &error);
    serve_gate_leave(&server->gate);
    if (status == VIT_OK) {
        reply->type = "image/png";
        vit_string_add_bytes(&reply->body, (const char *)png, size);
    } else if (status == VIT_ERROR_MEMORY) {
        serve_fail_with(reply, &error);
    } else {
        serve_fail(reply, 404, "%s can no longer be read", vit_path_last(path));
    }
    vit_free(png);
}

/* A row of the index is asked for, and no other file can be. */
void serve_thumbnail(serve_request *request, serve_reply *reply) {
    serve_snapshot *snapshot;
    uint64_t row;
    const char *number = serve_argument(request, "row");
    if (!take_index(&snapshot, request, reply)) return;
    const vit_index *index = snapshot->index;
    if (!number || !vit_parse_u64(number, &row) || row >= vit_index_rows(index) ||
        vit_index_row(index, (size_t)row).gone) {
        serve_fail(reply, 404, "the index has no picture of this number");
    } else {
        char *path = vit_index_path(index, vit_index_row(index, (size_t)row).name);
        if (path)
            reply_thumbnail(request->server, path, reply);
        else
            serve_fail(reply, 503, "no memory for a path: try again later");
        vit_free(path);
    }
    serve_snapshot_release(request->server->index, snapshot);
}
