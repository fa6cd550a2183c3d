#include "vit/cli/serve/answer/instances.h"

#include <string.h>

typedef struct reader {
    serve_instances *out;
    const serve_request *request;
    const serve_model *model;
    size_t count; /* of the list */
    serve_reply *reply;
} reader;

/* The keys under which a picture may stand in an object. */
static const serve_key keys[] = {{"b64", SERVE_IN_BODY, SERVE_PICTURE},
                                 {"data", SERVE_IN_BODY, SERVE_PICTURE},
                                 {"body", SERVE_IN_BODY, SERVE_PICTURE},
                                 {"image", SERVE_IN_BODY, SERVE_PICTURE},
                                 {"image_bytes", SERVE_IN_BODY, SERVE_PICTURE},
                                 {"pixels", SERVE_IN_BODY, SERVE_PICTURE},
                                 {"pixel_values", SERVE_IN_BODY, SERVE_PICTURE},
                                 {"key", SERVE_IN_BODY, SERVE_TEXT}, /* is not looked at */
                                 {NULL, 0, 0}};

/* The picture in an object; *key: where it stands; NULL: there is none, or several. */
static const json_t *find_picture(const json_t *object, const char **key) {
    const json_t *found = NULL;
    for (const serve_key *k = keys; k->name; k++) {
        const json_t *here = json_object_get(object, k->name);
        if (!here || k->types != SERVE_PICTURE) continue;
        if (found) return NULL;
        *key = k->name;
        found = here;
    }
    return found;
}

/* Whether it is an object, and no array that has stayed in the body. */
static bool is_wrapping(const json_t *value) {
    return json_is_object(value) && !json_object_get(value, "numbers");
}

/* Takes a value out of objects such as {"data": ...} and {"image": {"b64": ...}}; *key: the last
 * key; NULL: an object without a picture. */
static const json_t *unwrap(const json_t *value, const char **key) {
    for (int depth = 0; depth < 3 && is_wrapping(value); depth++) value = find_picture(value, key);
    return value;
}

/* Whether objects in a list of pictures have no other keys. The body's own are checked when it is
 * read. */
static bool check_wrapping(const json_t *value, serve_reply *reply) {
    const char *key;
    for (int depth = 0; depth < 3 && is_wrapping(value); depth++) {
        if (!serve_check_keys(value, keys, SERVE_IN_BODY, reply)) return false;
        value = find_picture(value, &key);
    }
    return true;
}

/* ---- arrays ---- */

static bool has_sides(const size_t *sides, size_t dims, const size_t *shape) {
    for (size_t i = 0; i < dims; i++)
        if (sides[i] != shape[i]) return false;
    return true;
}

/* What an array of these sides is; COUNT: none, or either. `key` may name it. */
static serve_input input_of(const serve_model *m, const size_t *sides, size_t dims,
                            const char *key) {
    size_t pixels[3] = {0}, values[3] = {0};
    if (dims == 4 && sides[0] == 1) sides++, dims--;
    serve_input_shape(m, SERVE_INPUT_PIXELS, pixels);
    serve_input_shape(m, SERVE_INPUT_VALUES, values);
    const bool are_pixels = strcmp(key, "pixel_values") != 0 && has_sides(sides, dims, pixels) &&
                            (dims == 3 || (dims == 2 && pixels[2] == 1));
    const bool are_values =
        strcmp(key, "pixels") != 0 && has_sides(sides, dims, values) && dims == 3;
    if (are_pixels == are_values) return SERVE_INPUT_COUNT;
    return are_pixels ? SERVE_INPUT_PIXELS : SERVE_INPUT_VALUES;
}

static bool refuse_shape(const reader *r, const size_t *sides, size_t dims) {
    char text[128];
    const vit_model_info *info = &r->model->info;
    vit_shape_text(text, sides, dims);
    return serve_fail(
        r->reply, 400,
        "an array of shape %s: expected [%zu, %zu, %zu], pixels from 0 to 255, or [%zu, "
        "%zu, %zu], normalised; or a file as base64, which is prepared here",
        text, info->height, info->width, info->channels, info->channels, info->height, info->width);
}

/* Whether values that nobody called "pixel_values" may be normalised ones: whole numbers far from 0
 * are pixels in the wrong order. */
static bool may_be_values(const serve_tensor *t, const char *key) {
    enum { FAR = 16 };
    return t->bytes || t->has_fraction || t->largest <= FAR || strcmp(key, "pixel_values") == 0;
}

/* An array of `count` pictures, whose sides begin at shape->sides[first]. */
static bool add_array(const reader *r, const json_t *value, const char *key, size_t count,
                      const serve_shape *shape, size_t first) {
    serve_tensor *t = &r->out->tensor;
    serve_shape same;
    const size_t *sides = shape->sides + first, dims = shape->dims - first;
    const serve_input input = input_of(r->model, sides, dims, key);
    if (input == SERVE_INPUT_COUNT) return refuse_shape(r, sides, dims);
    if (t->count == 0 && !serve_tensor_new(t, r->request, r->model, input, count, r->reply))
        return false;
    if (t->input != input)
        return serve_fail(r->reply, 400, "both pixels and normalised values, expected one of them");
    if (!serve_tensor_put(t, r->request, value, &same))
        return serve_fail(r->reply, 400, "\"%s\": expected %s", serve_input_names[input],
                          serve_tensor_expected(t));
    if (may_be_values(t, key)) return true;
    return serve_fail(
        r->reply, 400,
        "whole numbers up to %g in the order [channels, height, width], which is that of "
        "normalised values: send pixels as [height, width, channels], or name the array "
        "\"pixel_values\"",
        (double)t->largest);
}

/* ---- the list ---- */

static bool add(const reader *r, const json_t *value) {
    const char *key = "";
    serve_shape shape;
    const json_t *picture = unwrap(value, &key);
    const bool is_text = json_is_string(picture);
    if (!picture) {
        serve_fail(r->reply, 400,
                   "a picture is an object without \"b64\", \"data\", \"body\", \"image\", "
                   "\"image_bytes\", \"pixels\" or \"pixel_values\", or with several of them");
    } else if (!is_text && !serve_array_shape(&shape, r->request, picture)) {
        serve_fail(r->reply, 400,
                   "a picture is neither base64 nor an array of numbers with rows of the same "
                   "length");
    } else if (is_text ? r->out->tensor.count > 0 : r->out->files.count > 0) {
        serve_fail(r->reply, 400, "both files and arrays, expected one of them");
    } else if (is_text) {
        return serve_add_string(&r->out->files, r->request, picture, "instances", r->reply);
    } else {
        return add_array(r, picture, key, r->count, &shape, 0);
    }
    return false;
}

bool serve_read_instances(serve_instances *out, const serve_request *request,
                          const serve_model *model, const json_t *value, bool is_list,
                          serve_reply *reply) {
    serve_shape shape = {0};
    *out = (serve_instances){.files = {.is_list = is_list}};
    const reader r = {.out = out,
                      .request = request,
                      .model = model,
                      .count = is_list ? json_array_size(value) : 1,
                      .reply = reply};
    bool fine = true;
    if (!is_list) {
        fine = add(&r, value);
    } else if (serve_array_shape(&shape, request, value) && shape.dims > 1) {
        fine = add_array(&r, value, "", shape.sides[0], &shape, 1);
    } else if (json_object_get(value, "numbers")) {
        fine = add(&r, value); /* a long array, which has no shape: says so */
    } else {
        for (size_t i = 0; i < r.count && fine; i++)
            fine = check_wrapping(json_array_get(value, i), reply) &&
                   add(&r, json_array_get(value, i));
        if (fine && r.count == 0)
            fine = serve_fail(reply, 400, "\"instances\": expected a list of pictures");
    }
    if (fine) return true;
    serve_pictures_free(&out->files);
    serve_tensor_free(&out->tensor);
    return false;
}
