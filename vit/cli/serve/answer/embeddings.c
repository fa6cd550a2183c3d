/* POST /v1/embeddings: features of pictures, in the form of OpenAI's API; and POST /predict, with
 * which the photo server Immich asks its machine learning for them. */
#include <math.h>
#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/serve/answer/classify.h"
#include "vit/cli/serve/answer/multipart.h"
#include "vit/cli/serve/answer/pictures.h"
#include "vit/cli/serve/answer/texts.h"
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

static void add_embedding(vit_json_out *json, float *features, size_t index, size_t all,
                          const wish *w) {
    const size_t width = w->numbers > 0 ? w->numbers : all;
    if (w->numbers > 0) normalise(features, width);
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "object", "embedding");
    vit_json_count(json, "index", index);
    if (w->as_base64)
        vit_json_base64(json, "embedding", features, width * sizeof *features);
    else
        vit_json_g9s(json, "embedding", features, width);
    vit_json_close(json, '}');
}

/* "encoding_format" and "dimensions"; false: `reply` is an error. */
static bool read_wish(wish *w, const json_t *object, serve_reply *reply) {
    const char *format = json_string_value(json_object_get(object, "encoding_format"));
    const json_t *numbers = json_object_get(object, "dimensions");
    *w = (wish){.as_base64 = format && strcmp(format, "base64") == 0};
    if (format && !w->as_base64 && strcmp(format, "float") != 0)
        return serve_fail(reply, 400, "\"encoding_format\": expected \"float\" or \"base64\"");
    if (!json_is_integer(numbers)) return true;
    if (json_integer_value(numbers) < 1)
        return serve_fail(reply, 400, "\"dimensions\": expected a whole number of at least 1");
    w->numbers = (size_t)json_integer_value(numbers);
    return true;
}

/* ---- what is asked about ---- */

/* The values of "input": which are texts, and the pictures, which stay in the object. */
typedef struct inputs {
    serve_texts texts;
    bool *is_text; /* [count], owned */
    size_t count;
    json_t *kept; /* the texts' strings live in it */
} inputs;

static void inputs_free(inputs *in) {
    vit_free(in->texts.texts);
    vit_free(in->is_text);
    json_decref(in->kept);
}

/* A text: {"text": ...}, or of a model with a text encoder a string that is no data URL. */
static const char *text_of(const json_t *value, const serve_model *model) {
    const char *string = json_string_value(value);
    if (json_object_get(value, "text")) return json_string_value(json_object_get(value, "text"));
    return string && model->words && strncmp(string, "data:", 5) != 0 ? string : NULL;
}

/* {"type": "image_url", "image_url": {"url": ...}} is a picture as in OpenAI's messages. */
static json_t *picture_of(json_t *value) {
    json_t *url = json_object_get(value, "image_url");
    if (json_object_get(value, "image")) return json_object_get(value, "image");
    if (json_is_object(url)) url = json_object_get(url, "url");
    return url ? url : value;
}

/* Of the objects in "input". */
static const serve_key item_keys[] = {{"type", SERVE_IN_BODY, SERVE_TEXT},
                                      {"text", SERVE_IN_BODY, SERVE_TEXT},
                                      {"image", SERVE_IN_BODY, SERVE_TEXT},
                                      {"image_url", SERVE_IN_BODY, SERVE_TEXT | SERVE_OBJECT},
                                      {NULL, 0, 0}};
static const serve_key url_keys[] = {{"url", SERVE_IN_BODY, SERVE_TEXT},
                                     {"detail", SERVE_IN_BODY, SERVE_TEXT}, /* is not looked at */
                                     {NULL, 0, 0}};

/* Takes the texts out of "input". */
static bool read_inputs(inputs *in, json_t *object, const serve_model *model, serve_reply *reply) {
    json_t *input = json_object_get(object, "input");
    const bool is_list = json_is_array(input);
    *in = (inputs){.count = is_list ? json_array_size(input) : input != NULL};
    json_t *pictures = json_array();
    in->kept = json_incref(input);
    in->texts.texts = vit_alloc(in->count + 1, sizeof *in->texts.texts);
    in->is_text = vit_alloc(in->count + 1, sizeof *in->is_text);
    if (!pictures || !in->texts.texts || !in->is_text) {
        serve_fail(reply, 503, "no memory for the request");
        json_decref(pictures);
        return false;
    }
    for (size_t i = 0; i < in->count; i++) {
        json_t *value = is_list ? json_array_get(input, i) : input;
        const json_t *url = json_object_get(value, "image_url");
        if (!serve_check_keys(value, item_keys, SERVE_IN_BODY, reply) ||
            !serve_check_keys(url, url_keys, SERVE_IN_BODY, reply)) {
            json_decref(pictures);
            return false;
        }
        const char *text = text_of(value, model);
        in->is_text[i] = text;
        if (text)
            in->texts.texts[in->texts.count++] = text;
        else
            json_array_append(pictures, picture_of(value));
    }
    if (in->texts.count == 0 && !is_list) { /* messages then say what a single one lacks */
        json_decref(pictures);
        return true;
    }
    json_object_set_new(object, "input", pictures);
    return true;
}

/* The list of features of pictures and texts, in the order in which these were sent; or the first
 * failure, which a list cannot express. */
static void reply_list(serve_reply *reply, const inputs *in, const serve_model *model,
                       const serve_answers *a, float *texts, size_t tokens, const wish *w) {
    vit_json_out json = {0};
    const size_t width = model->info.features;
    float *text = texts, *picture = a->features;
    size_t failed = 0;
    while (failed < a->count && a->answers[failed].error.status == VIT_OK) failed++;
    if (failed < a->count) {
        serve_fail_with(reply, &a->answers[failed].error);
        return;
    }
    if (w->numbers > width) {
        serve_fail(reply, 400, "\"dimensions\": %zu are more than the %zu that %s has", w->numbers,
                   width, model->name);
        return;
    }
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "object", "list");
    vit_json_open(&json, "data", '[');
    for (size_t i = 0; i < in->count; i++) {
        float **next = in->is_text[i] ? &text : &picture;
        add_embedding(&json, *next, i, width, w);
        *next += width;
    }
    vit_json_close(&json, ']');
    vit_json_text(&json, "model", model->name);
    vit_json_open(&json, "usage", '{');
    vit_json_count(&json, "prompt_tokens", tokens);
    vit_json_count(&json, "total_tokens", tokens);
    vit_json_close(&json, '}');
    serve_end_json(&json, '}', reply);
}

/* Answers pictures, where there are any, and then texts. */
static void answer_inputs(serve_request *request, json_t *object, const inputs *in,
                          serve_model *model, const wish *w, serve_reply *reply) {
    serve_pictures sent = {0};
    serve_answers a = {0};
    float *texts = NULL;
    size_t tokens = 0;
    const bool pictures = in->texts.count < in->count || in->count == 0;
    if (pictures && !serve_read_strings(&sent, request, object, "input", reply)) return;
    if (!pictures || serve_answer_pictures(&a, request, model->name, &sent, true, reply)) {
        if (in->texts.count == 0 || serve_embed_texts(&texts, &tokens, model, &in->texts, reply))
            reply_list(reply, in, model, &a, texts, tokens, w);
        if (pictures) serve_answers_free(&a, request->server);
    }
    vit_free(texts);
    serve_pictures_free(&sent);
}

static void answer(serve_request *request, json_t *object, serve_reply *reply) {
    const char *name = json_string_value(json_object_get(object, "model"));
    wish w;
    if (!name) name = serve_models_name(request->server->models, 0);
    if (!read_wish(&w, object, reply)) return;
    serve_model *taken = serve_model_take(request->server->models, name);
    if (!taken) {
        serve_fail(reply, 404, "no model is called \"%s\": GET /v2/models names them", name);
        return;
    }
    snprintf(request->model, sizeof request->model, "%s", name);
    inputs in;
    if (read_inputs(&in, object, taken, reply))
        answer_inputs(request, object, &in, taken, &w, reply);
    inputs_free(&in);
    serve_model_release(request->server->models, taken);
}

/* The body is {"input": "data:image/png;base64,..." or a text or a list of them, "model": NAME};
 * without "model" the first one answers; null stands for what is left out. */
void serve_embeddings(serve_request *request, serve_reply *reply) {
    json_t *object = serve_read_json(request, request->size, reply);
    if (!object) return;
    answer(request, object, reply);
    json_decref(object);
}

/* ---- Immich ---- */

/* A form of {entries: {"clip": {"visual": {"modelName": NAME}}}, image: FILE}, or of "textual" and
 * text: WORDS. Data are NULL of a field that is not there. */
typedef struct immich {
    serve_part entries, image, text;
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
        serve_part *field = strcmp(part.name, "entries") == 0 ? &out->entries
                            : strcmp(part.name, "image") == 0 ? &out->image
                            : strcmp(part.name, "text") == 0  ? &out->text
                                                              : NULL;
        if (!field || field->data)
            return serve_fail(reply, 400,
                              "the field \"%.32s\": expected entries, image and text, each "
                              "once",
                              part.name);
        *field = part;
    }
    if (status != VIT_OK) return serve_fail_with(reply, &error);
    if (out->entries.data) return true;
    return serve_fail(reply, 400, "the form has no field \"entries\"");
}

/* The name of the model that "entries" asks; NULL: it asks for something else, `reply` says what.
 */
static const char *immich_model(const json_t *entries, bool *words, serve_reply *reply) {
    const char *task;
    json_t *types;
    const json_t *clip = json_object_get(entries, "clip");
    const json_t *visual = json_object_get(clip, "visual"),
                 *textual = json_object_get(clip, "textual");
    *words = textual;
    const char *name = json_string_value(json_object_get(textual ? textual : visual, "modelName"));
    json_object_foreach((json_t *)(uintptr_t)entries, task, types) {
        if (strcmp(task, "clip") == 0) continue;
        serve_fail(reply, 501, "the task \"%.40s\" is not served here, only \"clip\"", task);
        return NULL;
    }
    if (!name)
        serve_fail(reply, 400,
                   "\"entries\": expected {\"clip\": {\"visual\": {\"modelName\": NAME}}}");
    return name;
}

/* {"clip": "[0.1, ...]"}: the features with length 1, as a text. */
static void reply_immich(serve_reply *reply, float *features, size_t width) {
    vit_json_out list = {0}, json = {0};
    normalise(features, width);
    vit_json_g9s(&list, NULL, features, width);
    char *text = vit_json_take(&list);
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "clip", text ? text : "");
    if (!text) json.text.failed = true;
    vit_free(text);
    serve_end_json(&json, '}', reply);
}

/* Words; too many are cut, as Immich's own service does. */
static void answer_immich_text(serve_request *request, const immich *form, const char *name,
                               serve_reply *reply) {
    vit_string words = {0};
    float *features = NULL;
    size_t tokens;
    serve_model *model = serve_model_take(request->server->models, name);
    if (!model || !form->text.data) {
        serve_fail(reply, model ? 400 : 404,
                   model ? "the form has no field \"text\""
                         : "no model of that name is served: GET /v2/models names them");
        serve_model_release(request->server->models, model);
        return;
    }
    vit_string_add_bytes(&words, (const char *)form->text.data, form->text.size);
    const char *list[] = {words.text ? words.text : ""};
    const serve_texts texts = {.texts = list, .count = 1, .cut = true};
    if (serve_embed_texts(&features, &tokens, model, &texts, reply))
        reply_immich(reply, features, model->info.features);
    vit_free(features);
    vit_string_free(&words);
    serve_model_release(request->server->models, model);
}

static void answer_immich(serve_request *request, const immich *form, const json_t *entries,
                          serve_reply *reply) {
    bool words;
    const char *name = immich_model(entries, &words, reply);
    serve_pictures sent = {0};
    serve_answers a;
    if (!name) return;
    if (words) {
        answer_immich_text(request, form, name, reply);
        return;
    }
    if (!form->image.data) {
        serve_fail(reply, 400, "the form has no picture in the field \"image\"");
        return;
    }
    snprintf(request->model, sizeof request->model, "%s", name);
    if (serve_add_picture(&sent, request, "image", form->image.data, form->image.size, reply) &&
        serve_answer_pictures(&a, request, name, &sent, true, reply)) {
        reply_immich(reply, a.features, a.model->info.features);
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
