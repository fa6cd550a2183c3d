/* POST /v2/models/MODEL/infer: tensors in, tensors out, as JSON or as binary data after it. */
#include <math.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/cli/serve/answer/kserve.h"
#include "vit/cli/serve/answer/pictures.h"
#include "vit/cli/serve/route.h"

const char *const serve_output_names[] = {"logits", "probabilities", "features"};
VIT_CHECK_ROWS(serve_output_names, SERVE_OUTPUT_COUNT);

size_t serve_output_width(const serve_model *model, serve_output output) {
    switch (output) {
    case SERVE_OUTPUT_LOGITS:
    case SERVE_OUTPUT_PROBABILITIES:
        return model->info.classes;
    case SERVE_OUTPUT_FEATURES:
    case SERVE_OUTPUT_COUNT:
        break;
    }
    return model->info.features;
}

/* An output that the request asks for. */
typedef struct wish {
    serve_output output;
    bool is_binary;
    size_t classes; /* "classification": number of likeliest classes wanted; 0: all logits */
} wish;

typedef struct inference {
    serve_request *request;
    serve_reply *reply;
    const json_t *object;
    const uint8_t *binary; /* data after the JSON, not used yet */
    size_t binary_size;
    wish wishes[SERVE_OUTPUT_COUNT];
    size_t wish_count;
    vit_json_out json;
    vit_string tail; /* binary data of the answer */
} inference;

/* ---- outputs that are asked for ---- */

/* Of an input, and of an output. */
static const serve_key tensor_keys[] = {{"name", SERVE_IN_BODY, SERVE_TEXT},
                                        {"shape", SERVE_IN_BODY, SERVE_LIST},
                                        {"datatype", SERVE_IN_BODY, SERVE_TEXT},
                                        {"data", SERVE_IN_BODY, SERVE_LIST | SERVE_NUMBERS},
                                        {"parameters", SERVE_IN_BODY, SERVE_OBJECT},
                                        {"binary_data_size", SERVE_IN_PARAMETERS, SERVE_WHOLE},
                                        {NULL, 0, 0}};
static const serve_key wish_keys[] = {{"name", SERVE_IN_BODY, SERVE_TEXT},
                                      {"parameters", SERVE_IN_BODY, SERVE_OBJECT},
                                      {"binary_data", SERVE_IN_PARAMETERS, SERVE_FLAG},
                                      {"classification", SERVE_IN_PARAMETERS, SERVE_WHOLE},
                                      {NULL, 0, 0}};

static bool read_flag(const json_t *parameters, const char *key, bool otherwise) {
    const json_t *value = json_object_get(parameters, key);
    return json_is_true(value) || (otherwise && !json_is_false(value));
}

static bool read_wish(inference *f, const json_t *output, bool is_binary) {
    const char *name = json_string_value(json_object_get(output, "name"));
    const json_t *parameters = json_object_get(output, "parameters");
    const json_t *classes = json_object_get(parameters, "classification");
    const bool is_ranked = json_is_integer(classes);
    wish w = {.output = SERVE_OUTPUT_COUNT,
              .is_binary = read_flag(parameters, "binary_data", is_binary)};
    if (!serve_check_keys(output, wish_keys, SERVE_IN_BODY, f->reply)) return false;
    for (size_t i = 0; name && i < SERVE_OUTPUT_COUNT; i++)
        if (strcmp(name, serve_output_names[i]) == 0) w.output = (serve_output)i;
    if (is_ranked && json_integer_value(classes) < 1)
        return serve_fail(f->reply, 400, "\"classification\": expected a whole number from 1");
    w.classes = is_ranked ? (size_t)json_integer_value(classes) : 0;
    if (w.output == SERVE_OUTPUT_COUNT || f->wish_count == SERVE_OUTPUT_COUNT)
        return serve_fail(
            f->reply, 400,
            "output \"%.64s\": expected logits, probabilities and features, each once",
            name ? name : "");
    if (w.classes > 0 && w.output == SERVE_OUTPUT_FEATURES)
        return serve_fail(f->reply, 400, "output \"features\" has no classes");
    f->wishes[f->wish_count++] = w;
    return true;
}

/* f->wishes: "outputs", or logits and probabilities. */
static bool read_wishes(inference *f) {
    const bool is_binary =
        read_flag(json_object_get(f->object, "parameters"), "binary_data_output", false);
    const json_t *outputs = json_object_get(f->object, "outputs");
    if (json_array_size(outputs) == 0) {
        f->wishes[f->wish_count++] = (wish){SERVE_OUTPUT_LOGITS, is_binary, 0};
        f->wishes[f->wish_count++] = (wish){SERVE_OUTPUT_PROBABILITIES, is_binary, 0};
        return true;
    }
    for (size_t i = 0; i < json_array_size(outputs); i++)
        if (!read_wish(f, json_array_get(outputs, i), is_binary)) return false;
    return true;
}

/* ---- the input ---- */

typedef struct sent_input {
    json_t *json;
    serve_input input;
    bool is_binary;
    const uint8_t *data; /* [size], if it is binary */
    size_t size;
} sent_input;

/* Gives the input its part of the binary data; false: it asks for more than there is. */
static bool take_binary(inference *f, sent_input *in) {
    const json_t *parameters = json_object_get(in->json, "parameters");
    const json_t *said = json_object_get(parameters, "binary_data_size");
    in->is_binary = json_is_integer(said);
    if (!in->is_binary) return true;
    if (json_integer_value(said) < 0 || (uint64_t)json_integer_value(said) > f->binary_size)
        return serve_fail(f->reply, 400,
                          "\"binary_data_size\": the body has %zu bytes behind its JSON",
                          f->binary_size);
    in->data = f->binary;
    in->size = (size_t)json_integer_value(said);
    f->binary += in->size;
    f->binary_size -= in->size;
    return true;
}

/* Pictures of type BYTES: each follows its length, 4 bytes, little-endian. */
static bool read_bytes(inference *f, serve_pictures *out, const uint8_t *data, size_t size) {
    *out = (serve_pictures){.is_list = true};
    while (size > 0) {
        const uint32_t length = size < 4 ? UINT32_MAX
                                         : (uint32_t)data[0] | (uint32_t)data[1] << 8 |
                                               (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
        char name[48];
        snprintf(name, sizeof name, "pictures %zu", out->count);
        if (size < 4 || length > size - 4) {
            serve_fail(f->reply, 400, "\"pictures\": the binary data end within an element");
        } else if (serve_add_picture(out, f->request, name, data + 4, length, f->reply)) {
            data += 4 + length;
            size -= 4 + length;
            continue;
        }
        serve_pictures_free(out);
        return false;
    }
    if (out->count == 0) serve_fail(f->reply, 400, "\"pictures\" is empty");
    return out->count > 0;
}

/* Appends the values of nested arrays. */
static void flatten(json_t *out, json_t *value) {
    if (!json_is_array(value)) json_array_append(out, value);
    for (size_t i = 0; i < json_array_size(value); i++) flatten(out, json_array_get(value, i));
}

static bool answer_pictures(inference *f, const sent_input *in, bool features, serve_answers *a) {
    serve_pictures sent;
    json_t *data = json_object_get(in->json, "data");
    if (json_is_array(json_array_get(data, 0))) {
        json_t *flat = json_array();
        flatten(flat, data);
        json_object_set_new(in->json, "data", flat);
    }
    if (in->is_binary ? !read_bytes(f, &sent, in->data, in->size)
                      : !serve_read_strings(&sent, f->request, in->json, "data", f->reply))
        return false;
    bool fine = serve_answer_pictures(a, f->request, f->request->model, &sent, features, f->reply);
    for (size_t i = 0; fine && i < a->count; i++) {
        if (a->answers[i].error.status == VIT_OK) continue;
        serve_fail_with(f->reply, &a->answers[i].error); /* a tensor cannot express failures */
        serve_answers_free(a, f->request->server);
        fine = false;
    }
    serve_pictures_free(&sent);
    return fine;
}

/* ---- pixels ---- */

/* Whether nested arrays have the shape of a tensor: all its sides, or all but those of 1. */
static bool is_nested_as(const serve_shape *nested, const json_t *shape) {
    size_t at = 0;
    for (size_t i = 0; i < json_array_size(shape); i++) {
        const size_t side = (size_t)json_integer_value(json_array_get(shape, i));
        while (at < nested->dims && nested->sides[at] == 1) at++;
        if (side == 1) continue;
        if (at == nested->dims || nested->sides[at++] != side) return false;
    }
    while (at < nested->dims && nested->sides[at] == 1) at++;
    return at == nested->dims;
}

/* n of the shape [n, ...] of this input; 0: it is another shape. */
static size_t count_of(const serve_model *m, serve_input input, const json_t *shape) {
    size_t sides[3];
    const size_t dims = serve_input_shape(m, input, sides);
    const json_int_t count = json_integer_value(json_array_get(shape, 0));
    if (json_array_size(shape) != 1 + dims || count < 1) return 0;
    for (size_t i = 0; i < dims; i++) {
        const json_t *side = json_array_get(shape, i + 1);
        if (!json_is_integer(side) || json_integer_value(side) != (json_int_t)sides[i]) return 0;
    }
    return (size_t)count;
}

/* Reads the numbers of an input: flat, or nested as its shape says. */
static bool read_numbers(inference *f, const sent_input *in, serve_tensor *t) {
    const char *name = serve_input_names[in->input];
    const size_t bytes = t->size * (t->bytes ? 1 : sizeof *t->values);
    serve_shape nested;
    if (in->is_binary) {
        if (in->size != bytes)
            return serve_fail(f->reply, 400, "\"%s\": %zu bytes, its shape says %zu", name,
                              in->size, bytes);
        memcpy(t->bytes ? (void *)t->bytes : t->values, in->data, bytes);
    } else if (!serve_tensor_put(t, f->request, json_object_get(in->json, "data"), &nested) ||
               t->at != t->size)
        return serve_fail(f->reply, 400, "\"%s\": expected %zu %s", name, t->size,
                          serve_tensor_expected(t));
    else if (nested.dims > 1 && !is_nested_as(&nested, json_object_get(in->json, "shape"))) {
        char text[128];
        vit_shape_text(text, nested.sides, nested.dims);
        return serve_fail(f->reply, 400, "\"%s\": \"data\" is nested as %s, which is not its shape",
                          name, text);
    }
    for (size_t i = 0; t->values && i < t->size; i++) {
        if (isfinite(t->values[i])) continue;
        return serve_fail(f->reply, 400, "\"%s\": value %zu is not finite", name, i);
    }
    return true;
}

static bool answer_pixels(inference *f, const sent_input *in, bool features, serve_answers *a) {
    serve_models *models = f->request->server->models;
    serve_model *m = serve_model_take(models, f->request->model);
    const size_t count = count_of(m, in->input, json_object_get(in->json, "shape"));
    serve_tensor tensor = {0};
    size_t shape[3] = {0};
    bool fine = count > 0;
    serve_input_shape(m, in->input, shape);
    if (!fine)
        serve_fail(f->reply, 400, "\"%s\": expected the shape [n, %zu, %zu, %zu]",
                   serve_input_names[in->input], shape[0], shape[1], shape[2]);
    fine = fine && serve_tensor_new(&tensor, f->request, m, in->input, count, f->reply) &&
           read_numbers(f, in, &tensor);
    if (fine)
        fine = serve_answer_tensor(a, f->request, &tensor, m, features, f->reply);
    else
        serve_model_release(models, m);
    serve_tensor_free(&tensor);
    return fine;
}

static bool answer_input(inference *f, serve_answers *a) {
    const json_t *inputs = json_object_get(f->object, "inputs");
    sent_input in = {.json = json_array_get(inputs, 0), .input = SERVE_INPUT_COUNT};
    const char *name = json_string_value(json_object_get(in.json, "name"));
    const char *type = json_string_value(json_object_get(in.json, "datatype"));
    bool features = false;
    if (!serve_check_keys(in.json, tensor_keys, SERVE_IN_BODY, f->reply)) return false;
    for (size_t i = 0; i < f->wish_count; i++)
        features |= f->wishes[i].output == SERVE_OUTPUT_FEATURES;
    for (size_t i = 0; name && type && i < SERVE_INPUT_COUNT; i++)
        if (strcmp(name, serve_input_names[i]) == 0 && strcmp(type, serve_input_types[i]) == 0)
            in.input = (serve_input)i;
    if (json_array_size(inputs) != 1 || in.input == SERVE_INPUT_COUNT)
        return serve_fail(
            f->reply, 400,
            "\"inputs\": expected one, \"pictures\" of BYTES (files), \"pixels\" of UINT8 or "
            "\"pixel_values\" of FP32");
    if (!take_binary(f, &in)) return false;
    switch (in.input) {
    case SERVE_INPUT_PICTURES:
        return answer_pictures(f, &in, features, a);
    case SERVE_INPUT_PIXELS:
    case SERVE_INPUT_VALUES:
        return answer_pixels(f, &in, features, a);
    case SERVE_INPUT_COUNT:
        break;
    }
    return false;
}

/* ---- the answer ---- */

/* The values of an output for picture i. */
static const float *row_of(serve_answers *a, serve_output output, size_t i) {
    const size_t width = serve_output_width(a->model, output);
    switch (output) {
    case SERVE_OUTPUT_FEATURES:
        return a->features + i * width;
    case SERVE_OUTPUT_LOGITS:
        return a->logits + i * width;
    case SERVE_OUTPUT_PROBABILITIES:
    case SERVE_OUTPUT_COUNT:
        break;
    }
    vit_model_probabilities(a->model->model, a->logits + i * width, a->probabilities);
    return a->probabilities;
}

/* "VALUE:INDEX:LABEL" for each of the likeliest classes. */
static void add_classes(inference *f, serve_answers *a, const wish *w, size_t top) {
    for (size_t i = 0; i < a->count; i++) {
        const float *row = row_of(a, w->output, i);
        vit_top_k(row, a->model->info.classes, top, a->best);
        for (size_t k = 0; k < top; k++) {
            char number[32];
            vit_string text = {0};
            vit_string_add(&text, "%s:%zu:%s", vit_format_float(number, row[a->best[k]]),
                           a->best[k], vit_model_label(a->model->model, a->best[k]));
            const size_t n = text.length;
            const char length[4] = {(char)n, (char)(n >> 8), (char)(n >> 16), (char)(n >> 24)};
            if (text.failed) {
                f->json.text.failed = true;
            } else if (w->is_binary) {
                vit_string_add_bytes(&f->tail, length, sizeof length);
                vit_string_add_bytes(&f->tail, text.text, n);
            } else {
                vit_json_text(&f->json, NULL, text.text);
            }
            vit_string_free(&text);
        }
    }
}

static void add_output(inference *f, serve_answers *a, const wish *w) {
    const size_t classes = a->model->info.classes, width = serve_output_width(a->model, w->output);
    const size_t top = vit_min(w->classes, classes), before = f->tail.length;
    vit_json_open(&f->json, NULL, '{');
    vit_json_text(&f->json, "name", serve_output_names[w->output]);
    vit_json_text(&f->json, "datatype", top > 0 ? "BYTES" : "FP32");
    vit_json_counts(&f->json, "shape", (const size_t[]){a->count, top > 0 ? top : width}, 2);
    if (!w->is_binary) vit_json_open(&f->json, "data", '[');
    if (top > 0) add_classes(f, a, w, top);
    for (size_t i = 0; top == 0 && i < a->count; i++) {
        const float *row = row_of(a, w->output, i);
        if (w->is_binary)
            vit_string_add_bytes(&f->tail, (const char *)row, width * sizeof *row);
        else
            for (size_t k = 0; k < width; k++) vit_json_g9(&f->json, NULL, row[k]);
    }
    if (w->is_binary) {
        vit_json_open(&f->json, "parameters", '{');
        vit_json_count(&f->json, "binary_data_size", f->tail.length - before);
        vit_json_close(&f->json, '}');
    } else {
        vit_json_close(&f->json, ']');
    }
    vit_json_close(&f->json, '}');
}

static void write_answer(inference *f, serve_answers *a) {
    const char *id = json_string_value(json_object_get(f->object, "id"));
    vit_json_open(&f->json, NULL, '{');
    if (id) vit_json_text(&f->json, "id", id);
    vit_json_text(&f->json, "model_name", a->model->name);
    vit_json_text(&f->json, "model_version", "1");
    vit_json_open(&f->json, "outputs", '[');
    for (size_t i = 0; i < f->wish_count; i++) add_output(f, a, &f->wishes[i]);
    vit_json_close(&f->json, ']');
    vit_json_close(&f->json, '}');
    if (f->tail.length > 0) {
        f->reply->json_size = f->json.text.length;
        f->reply->type = "application/octet-stream";
        vit_string_add_bytes(&f->json.text, f->tail.text, f->tail.length);
    }
    f->json.text.failed |= f->tail.failed;
    f->reply->body = f->json.text;
    vit_string_free(&f->tail);
}

void serve_v2_infer(serve_request *request, serve_reply *reply) {
    const char *said = request->json_length;
    uint64_t json_size = request->size;
    if (said && (!vit_parse_u64(said, &json_size) || json_size > request->size)) {
        serve_fail(reply, 400, "Inference-Header-Content-Length: expected at most %zu",
                   request->size);
        return;
    }
    json_t *object = serve_read_json(request, (size_t)json_size, reply);
    if (!object) return;
    inference f = {.request = request,
                   .reply = reply,
                   .object = object,
                   .binary = request->body + json_size,
                   .binary_size = request->size - (size_t)json_size};
    serve_answers a;
    if (read_wishes(&f) && answer_input(&f, &a)) {
        write_answer(&f, &a);
        serve_answers_free(&a, request->server);
    }
    json_decref(object);
}
