/* POST /v1/embeddings: features of pictures, in the form of OpenAI's API; and POST /predict, with
 * which the photo server Immich asks its machine learning for them. */
#include <math.h>
#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/serve/answer/classify.h"
#include "vit/cli/serve/answer/multipart.h"
#include "vit/cli/serve/answer/pictures.h"
#include "vit/cli/serve/route.h"

/* What is asked for. */
typedef struct wish {
    size_t numbers; /* the first so many, with length 1; 0: all, as they are */
    bool as_base64;
} wish;

/* Makes the first n features of a vector of length 1; one of zeros stays. */
static void normalise(float *features, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)features[i] * (double)features[i];
    for (size_t i = 0; i < n && sum > 0; i++)
        features[i] = (float)((double)features[i] / sqrt(sum));
}

static void add_embedding(vit_json_out *json, const serve_answers *a, size_t i, const wish *w) {
    float *features = a->features + i * a->model->info.features;
    const size_t width = w->numbers > 0 ? w->numbers : a->model->info.features;
    if (w->numbers > 0) normalise(features, width);
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "object", "embedding");
    vit_json_count(json, "index", i);
    if (w->as_base64)
        vit_json_base64(json, "embedding", features, width * sizeof *features);
    else
        vit_json_g9s(json, "embedding", features, width);
    vit_json_close(json, '}');
}

static void add_list(vit_json_out *json, const serve_answers *a, const wish *w) {
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "object", "list");
    vit_json_open(json, "data", '[');
    for (size_t i = 0; i < a->count; i++) add_embedding(json, a, i, w);
    vit_json_close(json, ']');
    vit_json_text(json, "model", a->model->name);
    vit_json_open(json, "usage", '{');
    vit_json_count(json, "prompt_tokens", 0);
    vit_json_count(json, "total_tokens", 0);
    vit_json_close(json, '}');
    vit_json_close(json, '}');
    vit_string_add(&json->text, "\n");
}

/* "encoding_format" and "dimensions"; false: `reply` is an error. */
static bool read_wish(wish *w, const json_t *object, serve_reply *reply) {
    const json_t *format = json_object_get(object, "encoding_format");
    const json_t *numbers = json_object_get(object, "dimensions");
    const char *encoding = format && !json_is_null(format) ? json_string_value(format) : "float";
    *w = (wish){0};
    if (!encoding || (strcmp(encoding, "float") != 0 && strcmp(encoding, "base64") != 0)) {
        serve_fail(reply, 400, "\"encoding_format\": expected \"float\" or \"base64\"");
        return false;
    }
    w->as_base64 = strcmp(encoding, "base64") == 0;
    if (!numbers || json_is_null(numbers)) return true;
    if (!json_is_integer(numbers) || json_integer_value(numbers) < 1) {
        serve_fail(reply, 400, "\"dimensions\": expected a whole number of at least 1");
        return false;
    }
    w->numbers = (size_t)json_integer_value(numbers);
    return true;
}

/* {"text": ...} asks for words, which no model here reads; {"type": "image_url", "image_url":
 * {"url": ...}} is a picture as in OpenAI's messages. Both may stand in the list. */
static bool read_parts(json_t *object, serve_reply *reply) {
    json_t *input = json_object_get(object, "input");
    for (size_t i = 0; i < json_array_size(input); i++) {
        json_t *part = json_array_get(input, i);
        json_t *url = json_object_get(part, "image_url");
        if (json_object_get(part, "text")) {
            serve_fail(reply, 400,
                       "\"input\": %zu is a text, but the model has no text tower: expected "
                       "pictures",
                       i);
            return false;
        }
        if (!url) continue;
        if (json_is_object(url)) url = json_object_get(url, "url");
        json_array_set(input, i, url ? url : json_null());
    }
    return true;
}

/* The list of answers, or the first failure, which a list cannot express. */
static void reply_list(serve_reply *reply, const serve_answers *a, const wish *w) {
    vit_json_out json = {0};
    size_t failed = 0;
    while (failed < a->count && a->answers[failed].error.status == VIT_OK) failed++;
    if (failed < a->count) {
        serve_fail_with(reply, &a->answers[failed].error);
    } else if (w->numbers > a->model->info.features) {
        serve_fail(reply, 400, "\"dimensions\": %zu are more than the %zu that %s has", w->numbers,
                   a->model->info.features, a->model->name);
    } else {
        add_list(&json, a, w);
        reply->body = json.text;
    }
}

static void answer(serve_request *request, json_t *object, serve_reply *reply) {
    const json_t *model = json_object_get(object, "model");
    const bool has_model = model && !json_is_null(model);
    const char *name =
        has_model ? json_string_value(model) : serve_models_name(request->server->models, 0);
    serve_pictures sent;
    serve_answers a;
    wish w;
    if (!name || strlen(name) > SERVE_NAME_MAX) {
        serve_fail(reply, 400, "\"model\": expected a name");
        return;
    }
    if (!read_wish(&w, object, reply) || !read_parts(object, reply)) return;
    if (!serve_read_strings(&sent, request, object, "input", reply)) return;
    memcpy(request->model, name, strlen(name) + 1);
    if (serve_answer_pictures(&a, request, name, &sent, true, reply)) {
        reply_list(reply, &a, &w);
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

/* ---- Immich ---- */

/* A form of {entries: {"clip": {"visual": {"modelName": NAME}}}, image: FILE}. */
typedef struct immich {
    serve_part entries, image;
    bool has_entries, has_image;
} immich;

static bool read_immich(immich *out, const serve_request *request, serve_reply *reply) {
    serve_multipart form;
    serve_part part;
    vit_error error;
    bool found = true;
    *out = (immich){0};
    vit_status status =
        serve_multipart_open(&form, request->content_type, request->body, request->size, &error);
    while (status == VIT_OK) {
        status = serve_multipart_next(&form, &part, &found, &error);
        if (status != VIT_OK || !found) break;
        if (strcmp(part.name, "entries") == 0) {
            out->entries = part;
            out->has_entries = true;
        } else if (strcmp(part.name, "image") == 0) {
            out->image = part;
            out->has_image = true;
        }
    }
    if (status != VIT_OK)
        serve_fail_with(reply, &error);
    else if (!out->has_entries)
        serve_fail(reply, 400, "the form has no field \"entries\"");
    return status == VIT_OK && out->has_entries;
}

/* The name of the model that "entries" asks; NULL: it asks for something else, `reply` says what.
 */
static const char *immich_model(const json_t *entries, serve_reply *reply) {
    const char *task;
    json_t *types;
    const json_t *clip = json_object_get(entries, "clip");
    const json_t *visual = json_object_get(clip, "visual");
    const char *name = json_string_value(json_object_get(visual, "modelName"));
    json_object_foreach((json_t *)(uintptr_t)entries, task, types) {
        if (strcmp(task, "clip") == 0) continue;
        serve_fail(reply, 501, "the task \"%.40s\" is not served here, only \"clip\"", task);
        return NULL;
    }
    if (json_object_get(clip, "textual")) {
        serve_fail(reply, 501,
                   "\"clip\": \"textual\" needs a model with a text tower, which none here has");
        return NULL;
    }
    if (!name || strlen(name) > SERVE_NAME_MAX)
        serve_fail(reply, 400,
                   "\"entries\": expected {\"clip\": {\"visual\": {\"modelName\": NAME}}}");
    return name && strlen(name) <= SERVE_NAME_MAX ? name : NULL;
}

/* {"clip": "[0.1, ...]"}: the features with length 1, as a text. */
static void reply_immich(serve_reply *reply, const serve_answers *a) {
    const size_t width = a->model->info.features;
    vit_json_out list = {0}, json = {0};
    normalise(a->features, width);
    vit_json_open(&list, NULL, '[');
    for (size_t i = 0; i < width; i++) vit_json_g9(&list, NULL, a->features[i]);
    vit_json_close(&list, ']');
    char *text = vit_json_take(&list);
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "clip", text ? text : "");
    vit_json_close(&json, '}');
    vit_string_add(&json.text, "\n");
    if (!text) json.text.failed = true;
    vit_free(text);
    reply->body = json.text;
}

static void answer_immich(serve_request *request, const immich *form, const json_t *entries,
                          serve_reply *reply) {
    const char *name = immich_model(entries, reply);
    serve_pictures sent = {0};
    serve_answers a;
    if (!name) return;
    if (!form->has_image) {
        serve_fail(reply, 400, "the form has no picture in the field \"image\"");
        return;
    }
    memcpy(request->model, name, strlen(name) + 1);
    if (serve_add_picture(&sent, request, "image", form->image.data, form->image.size, NULL,
                          reply) &&
        serve_answer_pictures(&a, request, name, &sent, true, reply)) {
        if (a.answers[0].error.status != VIT_OK)
            serve_fail_with(reply, &a.answers[0].error);
        else
            reply_immich(reply, &a);
        serve_answers_free(&a, request->server);
    }
    serve_pictures_free(&sent);
}

void serve_immich_predict(serve_request *request, serve_reply *reply) {
    immich form;
    json_t *entries;
    vit_error error;
    if (!read_immich(&form, request, reply)) return;
    if (form.entries.size > 4096) {
        serve_fail(reply, 413, "\"entries\" has more than 4096 bytes");
        return;
    }
    if (vit_json_parse(&entries, (const char *)form.entries.data, form.entries.size, "\"entries\"",
                       &error) != VIT_OK) {
        serve_fail_with(reply, &error);
        return;
    }
    answer_immich(request, &form, entries, reply);
    json_decref(entries);
}
