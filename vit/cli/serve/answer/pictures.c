#include "vit/cli/serve/answer/pictures.h"

#include "vit/base/sys.h"
#include "vit/cli/serve/answer/base64.h"
#include "vit/cli/serve/answer/multipart.h"
#include "vit/cli/serve/answer/numbers.h"

void serve_pictures_free(serve_pictures *p) {
    for (size_t i = 0; i < p->count; i++) {
        vit_free(p->owned[i]);
        vit_free(p->names[i]);
    }
    vit_free(p->owned);
    vit_free(p->names);
    vit_free(p->pictures);
    *p = (serve_pictures){0};
}

static bool make_room(serve_pictures *p) {
    if (p->count < p->capacity) return true;
    const size_t capacity = p->capacity > 0 ? 2 * p->capacity : 4;
    vit_picture *pictures = vit_realloc(p->pictures, p->count, capacity, sizeof *pictures);
    if (pictures) p->pictures = pictures;
    void **owned = vit_realloc(p->owned, p->count, capacity, sizeof *owned);
    if (owned) p->owned = owned;
    char **names = vit_realloc(p->names, p->count, capacity, sizeof *names);
    if (names) p->names = names;
    if (!pictures || !owned || !names) return false;
    p->capacity = capacity;
    return true;
}

bool serve_add_picture(serve_pictures *p, const serve_request *request, const char *name,
                       const void *bytes, size_t size, void *owned, serve_reply *reply) {
    char *copy = NULL;
    if (p->count >= request->server->pictures) {
        serve_fail(reply, 413, "more than %zu pictures in a request", request->server->pictures);
    } else if (!make_room(p) || (copy = vit_strdup(name)) == NULL) {
        serve_fail(reply, 503, "no memory for the pictures: try again later");
    } else {
        p->owned[p->count] = owned;
        p->names[p->count] = copy;
        /* With bytes NULL, the name would be that of a file to read. */
        p->pictures[p->count++] =
            (vit_picture){.name = copy, .bytes = bytes ? bytes : "", .size = size};
        return true;
    }
    vit_free(owned);
    return false;
}

/* ---- forms ---- */

static bool read_form(serve_pictures *out, serve_request *request, const char *type,
                      serve_reply *reply) {
    serve_multipart form;
    serve_part part;
    vit_error error;
    bool found, fine = true;
    vit_status status = serve_multipart_open(&form, type, request->body, request->size, &error);
    while (status == VIT_OK && fine) {
        status = serve_multipart_next(&form, &part, &found, &error);
        if (status != VIT_OK || !found) break;
        fine = part.file[0] == '\0'
                   ? serve_take_field(request, part.name, part.data, part.size, reply)
                   : serve_add_picture(out, request, part.file, part.data, part.size, NULL, reply);
    }
    if (fine && status != VIT_OK) serve_fail_with(reply, &error);
    if (fine && status == VIT_OK && out->count == 0) {
        serve_fail(reply, 400,
                   "the form holds no picture: expected a part with a file's name, as curl -F "
                   "data=@FILE sends it");
        fine = false;
    }
    return fine && status == VIT_OK;
}

bool serve_read_pictures(serve_pictures *out, serve_request *request, serve_reply *reply) {
    const char *type = request->content_type;
    *out = (serve_pictures){.is_list = serve_is_multipart(type)};
    const bool fine = out->is_list ? read_form(out, request, type, reply)
                                   : serve_add_picture(out, request, "-", request->body,
                                                       request->size, NULL, reply);
    if (!fine) serve_pictures_free(out);
    return fine;
}

/* ---- JSON ---- */

json_t *serve_read_json(const serve_request *request, size_t size, serve_reply *reply) {
    json_t *object;
    vit_error error;
    vit_string rest = {0};
    const char *body = size == 0 ? "" : (const char *)request->body;
    serve_gate_enter(&request->server->gate);
    const bool is_small = serve_take_numbers(&rest, body, size) <= SERVE_MOST_VALUES;
    vit_status status = VIT_OK;
    if (rest.failed) status = vit_fail_memory(&error, "the body", size);
    if (status == VIT_OK && is_small)
        status = vit_json_parse(&object, rest.length > 0 ? rest.text : body,
                                rest.length > 0 ? rest.length : size, "the body", &error);
    serve_gate_leave(&request->server->gate);
    vit_string_free(&rest);
    if (status == VIT_OK && is_small) return object;
    if (status == VIT_OK)
        serve_fail(reply, 413, "the body has more than %d values besides long arrays of numbers",
                   SERVE_MOST_VALUES);
    else
        serve_fail_with(reply, &error);
    return NULL;
}

bool serve_add_string(serve_pictures *out, const serve_request *request, const json_t *value,
                      const char *key, serve_reply *reply) {
    char name[64];
    vit_error error;
    vit_bytes bytes;
    if (!json_is_string(value)) {
        serve_fail(reply, 400, "\"%s\": expected pictures as base64 or as data URLs", key);
        return false;
    }
    if (serve_read_base64(&bytes, json_string_value(value), json_string_length(value), &error) !=
        VIT_OK) {
        serve_fail_with(reply, &error);
        return false;
    }
    snprintf(name, sizeof name, "%s %zu", key, out->count);
    return serve_add_picture(out, request, name, bytes.data, bytes.size, bytes.data, reply);
}

static bool read_string(serve_pictures *out, const serve_request *request, const json_t *value,
                        const char *key, serve_reply *reply) {
    return serve_add_string(
        out, request, json_is_object(value) ? json_object_get(value, "image") : value, key, reply);
}

bool serve_read_strings(serve_pictures *out, const serve_request *request, json_t *object,
                        const char *key, serve_reply *reply) {
    const json_t *value = json_object_get(object, key);
    *out = (serve_pictures){.is_list = json_is_array(value)};
    bool fine = true;
    if (!out->is_list) fine = read_string(out, request, value, key, reply);
    for (size_t i = 0; out->is_list && i < json_array_size(value) && fine; i++)
        fine = read_string(out, request, json_array_get(value, i), key, reply);
    if (fine && out->count == 0) {
        serve_fail(reply, 400, "\"%s\" is empty, expected pictures", key);
        fine = false;
    }
    json_object_del(object, key); /* decoded, the strings only take memory */
    if (!fine) serve_pictures_free(out);
    return fine;
}
