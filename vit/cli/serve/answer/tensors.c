#include "vit/cli/serve/answer/tensors.h"

#include <float.h>
#include <math.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"

const char *const serve_input_names[] = {"pictures", "pixels", "pixel_values"};
const char *const serve_input_types[] = {"BYTES", "UINT8", "FP32"};
VIT_CHECK_ROWS(serve_input_names, SERVE_INPUT_COUNT);
VIT_CHECK_ROWS(serve_input_types, SERVE_INPUT_COUNT);

size_t serve_input_shape(const serve_model *m, serve_input input, size_t *shape) {
    switch (input) {
    case SERVE_INPUT_PICTURES:
    case SERVE_INPUT_COUNT:
        return 0;
    case SERVE_INPUT_PIXELS:
        shape[0] = m->info.height;
        shape[1] = m->info.width;
        shape[2] = m->info.channels;
        return 3;
    case SERVE_INPUT_VALUES:
        shape[0] = m->info.channels;
        shape[1] = m->info.height;
        shape[2] = m->info.width;
        return 3;
    }
    return 0;
}

bool serve_tensor_new(serve_tensor *out, const serve_request *request, const serve_model *m,
                      serve_input input, size_t count, serve_reply *reply) {
    const size_t most = request->server->pictures;
    *out = (serve_tensor){.input = input};
    if (count > most) return serve_fail(reply, 413, "more than %zu pictures in a request", most);
    out->count = count;
    out->size = count * m->pixels;
    if (input == SERVE_INPUT_PIXELS)
        out->bytes = vit_alloc_unset(out->size, 1);
    else
        out->values = vit_alloc_unset(out->size, sizeof *out->values);
    if (out->bytes || out->values) return true;
    return serve_fail(reply, 503, "no memory for the pictures: try again later");
}

void serve_tensor_free(serve_tensor *t) {
    vit_free(t->bytes);
    vit_free(t->values);
    *t = (serve_tensor){0};
}

/* ---- numbers in JSON ---- */

static bool put(void *context, double number, bool is_whole) {
    serve_tensor *t = context;
    if (t->at == t->size) return false;
    if (t->bytes) {
        if (!is_whole || number < 0 || number > 255) return false;
        t->bytes[t->at++] = (uint8_t)number;
    } else {
        if (!(fabs(number) <= FLT_MAX)) return false;
        t->has_fraction |= !is_whole;
        t->largest = fmaxf(t->largest, fabsf((float)number));
        t->values[t->at++] = (float)number;
    }
    return true;
}

static bool pass_over(void *context, double number, bool is_whole) {
    (void)context;
    (void)number;
    (void)is_whole;
    return true;
}

static int add_bytes(const char *bytes, size_t size, void *text) {
    vit_string_add_bytes(text, bytes, size);
    return 0;
}

/* An array that is short enough to have been parsed is written again, to be read like the others.
 */
static bool read_array(const serve_request *request, const json_t *array, serve_shape *shape,
                       bool (*each)(void *context, double number, bool is_whole), void *context) {
    const json_t *place = json_object_get(array, "numbers");
    const size_t from = (size_t)json_integer_value(json_array_get(place, 0));
    const size_t size = (size_t)json_integer_value(json_array_get(place, 1));
    vit_string text = {0};
    if (place)
        return from <= request->size && size <= request->size - from &&
               serve_read_numbers((const char *)request->body + from, size, shape, each, context);
    if (!json_is_array(array)) return false;
    json_dump_callback(array, add_bytes, &text, JSON_COMPACT);
    const bool fine =
        !text.failed && serve_read_numbers(text.text, text.length, shape, each, context);
    vit_string_free(&text);
    return fine;
}

bool serve_array_shape(serve_shape *shape, const serve_request *request, const json_t *array) {
    return read_array(request, array, shape, pass_over, NULL);
}

bool serve_tensor_put(serve_tensor *t, const serve_request *request, const json_t *array,
                      serve_shape *shape) {
    return read_array(request, array, shape, put, t);
}

const char *serve_tensor_expected(const serve_tensor *t) {
    return t->bytes ? "whole numbers, 0 to 255" : "numbers that are finite as FP32";
}

/* ---- answers ---- */

/* out [count][height][width][channels] = values [count][channels][height][width] */
static void put_channels_last(float *out, const float *values, const vit_model_info *info,
                              size_t count) {
    const size_t pixels = info->height * info->width;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < pixels; k++)
            for (size_t c = 0; c < info->channels; c++)
                *out++ = values[(i * info->channels + c) * pixels + k];
}

bool serve_answer_tensor(serve_answers *out, serve_request *request, const serve_tensor *t,
                         serve_model *m, bool features, serve_reply *reply) {
    float *ordered = t->values ? vit_alloc_unset(t->size, sizeof *ordered) : NULL;
    if (t->values && !ordered) {
        serve_fail(reply, 503, "no memory for the pictures: try again later");
        serve_model_release(request->server->models, m);
        return false;
    }
    if (ordered) put_channels_last(ordered, t->values, &m->info, t->count);
    serve_job job = {.model = m,
                     .images = ordered ? (const void *)ordered : t->bytes,
                     .count = t->count,
                     .normalised = ordered != NULL};
    const bool fine = serve_answer_prepared(out, request, &job, features, reply);
    vit_free(ordered);
    return fine;
}
