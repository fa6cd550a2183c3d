/* POST /v2/models/MODEL/infer: tensors in, tensors out, as JSON or as binary data behind it. */
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/serve/classify.h"
#include "vit/cli/serve/kserve.h"
#include "vit/cli/serve/pictures.h"
#include "vit/cli/serve/route.h"

const char serve_input_pictures[] = "pictures", serve_input_pixels[] = "pixels";
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

typedef struct wish {
    serve_output output;
    bool is_binary;
    size_t classes; /* "classification": so many of the likeliest as BYTES; 0: the numbers */
} wish;

typedef struct inference {
    serve_request *request;
    serve_reply *reply;
    const json_t *object;
    const uint8_t *binary; /* behind the JSON */
    size_t binary_size;
    wish wishes[SERVE_OUTPUT_COUNT];
    size_t wish_count;
    vit_json_out json;
    vit_text tail; /* binary data of the answer */
} inference;

/* ---- what is wished for ---- */

static bool read_flag(const json_t *parameters, const char *key, bool otherwise) {
    const json_t *value = json_object_get(parameters, key);
    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

static bool read_wish(inference *f, const json_t *output, bool is_binary) {
    const char *name = json_string_value(json_object_get(output, "name"));
    const json_t *parameters = json_object_get(output, "parameters");
    const json_t *classes = json_object_get(parameters, "classification");
    wish w = {.output = SERVE_OUTPUT_COUNT,
              .is_binary = read_flag(parameters, "binary_data", is_binary)};
    for (size_t i = 0; name != NULL && i < SERVE_OUTPUT_COUNT; i++) {
        if (strcmp(name, serve_output_names[i]) == 0) w.output = (serve_output)i;
    }
    if (json_is_integer(classes) && json_integer_value(classes) > 0)
        w.classes = (size_t)json_integer_value(classes);
    if (w.output == SERVE_OUTPUT_COUNT || f->wish_count == SERVE_OUTPUT_COUNT) {
        serve_fail(f->reply, 400,
                   "output \"%.64s\": expected logits, probabilities and features, each once",
                   name == NULL ? "" : name);
        return false;
    }
    if (w.classes > 0 && w.output == SERVE_OUTPUT_FEATURES) {
        serve_fail(f->reply, 400, "output \"features\" has no classes");
        return false;
    }
    f->wishes[f->wish_count++] = w;
    return true;
}

/* Without "outputs", logits and probabilities. */
static bool read_wishes(inference *f) {
    const bool is_binary =
        read_flag(json_object_get(f->object, "parameters"), "binary_data_output", false);
    const json_t *outputs = json_object_get(f->object, "outputs");
    if (json_array_size(outputs) == 0) {
        f->wishes[f->wish_count++] = (wish){SERVE_OUTPUT_LOGITS, is_binary, 0};
        f->wishes[f->wish_count++] = (wish){SERVE_OUTPUT_PROBABILITIES, is_binary, 0};
        return true;
    }
    for (size_t i = 0; i < json_array_size(outputs); i++) {
        if (!read_wish(f, json_array_get(outputs, i), is_binary)) return false;
    }
    return true;
}

/* ---- what is sent ---- */

/* The input's share of the binary data; false where it has none, or that is too little. */
static bool take_binary(inference *f, const json_t *input, const uint8_t **data, size_t *size,
                        bool *is_binary) {
    const json_t *said = json_object_get(json_object_get(input, "parameters"), "binary_data_size");
    *is_binary = said != NULL;
    if (said == NULL) return true;
    if (!json_is_integer(said) || json_integer_value(said) < 0 ||
        (uint64_t)json_integer_value(said) > f->binary_size) {
        serve_fail(f->reply, 400, "\"binary_data_size\": the body has %zu bytes behind its JSON",
                   f->binary_size);
        return false;
    }
    *data = f->binary;
    *size = (size_t)json_integer_value(said);
    f->binary += *size;
    f->binary_size -= *size;
    return true;
}

/* BYTES: each with its length before it, 4 bytes, the lowest first. */
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
        } else if (serve_add_picture(out, f->request, name, data + 4, length, NULL, f->reply)) {
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

static bool answer_pictures(inference *f, const json_t *input, const uint8_t *data, size_t size,
                            bool is_binary, bool features, serve_answers *a) {
    serve_pictures sent;
    const json_t *values = json_object_get(input, "data");
    if (is_binary ? !read_bytes(f, &sent, data, size)
                  : !serve_read_strings(&sent, f->request, values, "data", f->reply))
        return false;
    bool fine = serve_answer_pictures(a, f->request, f->request->model, &sent, features, f->reply);
    for (size_t i = 0; fine && i < a->count; i++) {
        if (a->answers[i].error.status == VIT_OK) continue;
        serve_fail_with(f->reply, &a->answers[i].error); /* tensors have no room for failures */
        serve_answers_free(a, f->request->server);
        fine = false;
    }
    serve_pictures_free(&sent);
    return fine;
}

/* Numbers 0 .. 255, in lists of any depth, one after the other. */
static bool flatten(const json_t *value, uint8_t *pixels, size_t count, size_t *at) {
    if (json_is_integer(value)) {
        const json_int_t number = json_integer_value(value);
        if (number < 0 || number > 255 || *at == count) return false;
        pixels[(*at)++] = (uint8_t)number;
        return true;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (!flatten(json_array_get(value, i), pixels, count, at)) return false;
    }
    return json_is_array(value);
}

/* The number of pictures that the shape [n][height][width][channels] says; 0: another shape. */
static size_t count_of(const serve_model *m, const json_t *shape) {
    const size_t sides[] = {m->info.height, m->info.width, m->info.channels};
    const json_int_t count = json_integer_value(json_array_get(shape, 0));
    if (json_array_size(shape) != 4 || count < 1) return 0;
    for (size_t i = 0; i < 3; i++) {
        const json_t *side = json_array_get(shape, i + 1);
        if (!json_is_integer(side) || json_integer_value(side) != (json_int_t)sides[i]) return 0;
    }
    return (size_t)count;
}

static bool answer_pixels(inference *f, const json_t *input, const uint8_t *data, size_t size,
                          bool is_binary, bool features, serve_answers *a) {
    serve_model *m = serve_model_take(f->request->server->models, f->request->model);
    const size_t count = count_of(m, json_object_get(input, "shape"));
    const size_t most = f->request->server->pictures,
                 expected = count <= most ? count * m->pixels : 0;
    uint8_t *own = NULL;
    bool fine = false;
    size_t at = 0;
    if (count == 0) {
        serve_fail(f->reply, 400, "\"pixels\": expected the shape [n, %zu, %zu, %zu]",
                   m->info.height, m->info.width, m->info.channels);
    } else if (count > most) {
        serve_fail(f->reply, 413, "more than %zu pictures in a request", most);
    } else if (is_binary) {
        fine = size == expected;
        if (!fine)
            serve_fail(f->reply, 400, "\"pixels\": %zu bytes, its shape says %zu", size, expected);
    } else if ((own = vit_alloc_unset(expected, 1)) == NULL) {
        serve_fail(f->reply, 503, "no memory for the pictures: try again later");
    } else {
        fine = flatten(json_object_get(input, "data"), own, expected, &at) && at == expected;
        if (!fine)
            serve_fail(f->reply, 400, "\"pixels\": expected %zu whole numbers, 0 to 255", expected);
    }
    if (fine) /* takes the model over */
        fine = serve_answer_prepared(a, f->request, m, own != NULL ? own : data, count, features,
                                     f->reply);
    else
        serve_model_release(f->request->server->models, m);
    vit_free(own);
    return fine;
}

static bool answer_input(inference *f, serve_answers *a) {
    const json_t *inputs = json_object_get(f->object, "inputs");
    const json_t *input = json_array_get(inputs, 0);
    const char *name = json_string_value(json_object_get(input, "name"));
    const char *type = json_string_value(json_object_get(input, "datatype"));
    const uint8_t *data = NULL;
    size_t size = 0;
    bool is_binary, features = false;
    for (size_t i = 0; i < f->wish_count; i++)
        features |= f->wishes[i].output == SERVE_OUTPUT_FEATURES;
    if (json_array_size(inputs) == 1 && name != NULL && type != NULL) {
        if (!take_binary(f, input, &data, &size, &is_binary)) return false;
        if (strcmp(name, serve_input_pictures) == 0 && strcmp(type, "BYTES") == 0)
            return answer_pictures(f, input, data, size, is_binary, features, a);
        if (strcmp(name, serve_input_pixels) == 0 && strcmp(type, "UINT8") == 0)
            return answer_pixels(f, input, data, size, is_binary, features, a);
    }
    serve_fail(f->reply, 400,
               "\"inputs\": expected one, \"pictures\" of BYTES (files) or \"pixels\" of UINT8");
    return false;
}

/* ---- the answer ---- */

/* The row of picture i that an output has. */
static const float *row_of(serve_answers *a, serve_output output, size_t i) {
    const size_t width = serve_output_width(a->model, output);
    if (output == SERVE_OUTPUT_FEATURES) return a->features + i * width;
    if (output == SERVE_OUTPUT_LOGITS) return a->logits + i * width;
    vit_model_probabilities(a->model->model, a->logits + i * width, a->probabilities);
    return a->probabilities;
}

static void add_numbers(inference *f, serve_answers *a, const wish *w) {
    const size_t width = serve_output_width(a->model, w->output);
    for (size_t i = 0; i < a->count; i++) {
        const float *row = row_of(a, w->output, i);
        if (w->is_binary)
            vit_text_add_bytes(&f->tail, (const char *)row, width * sizeof *row);
        else
            for (size_t k = 0; k < width; k++) vit_json_g9(&f->json, NULL, row[k]);
    }
}

/* "VALUE:INDEX:LABEL" of the likeliest classes. */
static void add_classes(inference *f, serve_answers *a, const wish *w, size_t top) {
    for (size_t i = 0; i < a->count; i++) {
        const float *row = row_of(a, w->output, i);
        vit_top_k(row, a->model->info.classes, top, a->best);
        for (size_t k = 0; k < top; k++) {
            char number[32];
            vit_text text = {0};
            vit_text_add(&text, "%s:%zu:%s", vit_format_float(number, row[a->best[k]]), a->best[k],
                         vit_model_label(a->model->model, a->best[k]));
            const size_t n = text.length;
            const char length[4] = {(char)n, (char)(n >> 8), (char)(n >> 16), (char)(n >> 24)};
            if (text.failed) {
                f->json.line.failed = true;
            } else if (w->is_binary) {
                vit_text_add_bytes(&f->tail, length, sizeof length);
                vit_text_add_bytes(&f->tail, text.text, n);
            } else {
                vit_json_text(&f->json, NULL, text.text);
            }
            vit_text_free(&text);
        }
    }
}

static void add_output(inference *f, serve_answers *a, const wish *w) {
    const size_t classes = a->model->info.classes;
    const size_t top = vit_min(w->classes, classes), before = f->tail.length;
    vit_json_open(&f->json, NULL, '{');
    vit_json_text(&f->json, "name", serve_output_names[w->output]);
    vit_json_text(&f->json, "datatype", top > 0 ? "BYTES" : "FP32");
    vit_json_open(&f->json, "shape", '[');
    vit_json_count(&f->json, NULL, a->count);
    vit_json_count(&f->json, NULL, top > 0 ? top : serve_output_width(a->model, w->output));
    vit_json_close(&f->json, ']');
    if (!w->is_binary) vit_json_open(&f->json, "data", '[');
    if (top > 0)
        add_classes(f, a, w, top);
    else
        add_numbers(f, a, w);
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
    if (id != NULL) vit_json_text(&f->json, "id", id);
    vit_json_text(&f->json, "model_name", a->model->name);
    vit_json_text(&f->json, "model_version", "1");
    vit_json_open(&f->json, "outputs", '[');
    for (size_t i = 0; i < f->wish_count; i++) add_output(f, a, &f->wishes[i]);
    vit_json_close(&f->json, ']');
    vit_json_close(&f->json, '}');
    if (f->tail.length > 0) {
        f->reply->json_size = f->json.line.length;
        f->reply->type = "application/octet-stream";
        vit_text_add_bytes(&f->json.line, f->tail.text, f->tail.length);
    }
    f->json.line.failed |= f->tail.failed;
    f->reply->body = f->json.line;
    vit_text_free(&f->tail);
}

void serve_v2_infer(serve_request *request, serve_reply *reply) {
    const char *said = serve_header(request, "Inference-Header-Content-Length");
    uint64_t json_size = request->size;
    if (said != NULL && (!vit_parse_u64(said, &json_size) || json_size > request->size)) {
        serve_fail(reply, 400, "Inference-Header-Content-Length: expected at most %zu",
                   request->size);
        return;
    }
    json_t *object = serve_read_json(request, (size_t)json_size, reply);
    if (object == NULL) return;
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
