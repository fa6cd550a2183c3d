#include "vit/cli/serve/answer/pictures.h"

#include <string.h>
#include <strings.h>

#include "vit/base/sys.h"
#include "vit/cli/serve/answer/base64.h"
#include "vit/cli/serve/answer/multipart.h"
#include "vit/cli/serve/answer/numbers.h"

void serve_pictures_free(serve_pictures *p) {
    for (size_t i = 0; i < p->count; i++) {
        vit_free((void *)(uintptr_t)p->pictures[i].name);
        if (p->owns_bytes) vit_free((void *)(uintptr_t)p->pictures[i].bytes);
    }
    vit_free(p->pictures);
    *p = (serve_pictures){0};
}

bool serve_add_picture(serve_pictures *p, const serve_request *request, const char *name,
                       const void *bytes, size_t size, serve_reply *reply) {
    if (p->count >= request->server->pictures)
        return serve_fail(reply, 413, "more than %zu pictures in a request",
                          request->server->pictures);
    char *copy = vit_strdup(name);
    if (!copy || !VIT_MAKE_ROOM(p->pictures, p->count, p->capacity, "pictures", NULL)) {
        vit_free(copy);
        return serve_fail(reply, 503, "no memory for the pictures: try again later");
    }
    /* With bytes NULL, the name would be that of a file to read. */
    p->pictures[p->count++] =
        (vit_picture){.name = copy, .bytes = bytes ? bytes : "", .size = size};
    return true;
}

/* ---- forms ---- */

/* Whether a part is a picture: it has a file's name, or, as some clients send it, its type says so
 * or it has a zero byte, which no field of text has. */
static bool is_file(const serve_part *part, const serve_request *request) {
    const char *near;
    if (part->file[0] != '\0') return true;
    if (serve_find_key(request->keys, SERVE_IN_QUERY, part->name, &near)) return false;
    return strncasecmp(part->type, "image/", 6) == 0 ||
           strcasecmp(part->type, "application/octet-stream") == 0 ||
           (part->size > 0 && memchr(part->data, '\0', part->size));
}

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
        const char *name = part.file[0] != '\0' ? part.file : part.name;
        fine = is_file(&part, request)
                   ? serve_add_picture(out, request, name, part.data, part.size, reply)
                   : serve_take_field(request, part.name, part.data, part.size, reply);
    }
    if (fine && status != VIT_OK) serve_fail_with(reply, &error);
    if (fine && status == VIT_OK && out->count == 0)
        fine = serve_fail(
            reply, 400,
            "the form holds no picture: expected a part with a file's name or an image's "
            "type, as curl -F data=@FILE sends it");
    return fine && status == VIT_OK;
}

bool serve_read_pictures(serve_pictures *out, serve_request *request, serve_reply *reply) {
    const char *type = request->content_type;
    *out = (serve_pictures){.is_list = serve_is_multipart(type)};
    const bool fine =
        out->is_list ? read_form(out, request, type, reply)
                     : serve_add_picture(out, request, "-", request->body, request->size, reply);
    if (!fine) serve_pictures_free(out);
    return fine;
}

/* ---- JSON ---- */

json_t *serve_read_json(const serve_request *request, size_t size, serve_reply *reply) {
    json_t *object;
    vit_error error;
    vit_string rest = {0};
    const char *body = size == 0 ? "" : (const char *)request->body;
    if (serve_gate_enter(&request->server->gate, &error) != VIT_OK) {
        serve_fail_with(reply, &error);
        return NULL;
    }
    const bool is_small = serve_take_numbers(&rest, body, size) <= SERVE_MOST_VALUES;
    vit_status status = VIT_OK;
    if (rest.failed) status = vit_fail_memory(&error, "the body", size);
    if (status == VIT_OK && is_small)
        status = vit_json_parse(&object, rest.length > 0 ? rest.text : body,
                                rest.length > 0 ? rest.length : size, "the body", &error);
    serve_gate_leave(&request->server->gate);
    vit_string_free(&rest);
    if (status == VIT_OK && is_small) {
        if (serve_check_keys(object, request->keys, SERVE_IN_BODY, reply)) return object;
        json_decref(object);
        return NULL;
    }
    if (status == VIT_OK)
        serve_fail(reply, 413, "the body has more than %d values besides long arrays of numbers",
                   SERVE_MOST_VALUES);
    else
        serve_fail_with(reply, &error);
    return NULL;
}

/* A picture in an object. */
static const serve_key wrapped[] = {{"image", SERVE_IN_BODY, SERVE_TEXT}, {NULL, 0, 0}};

bool serve_add_string(serve_pictures *out, const serve_request *request, const json_t *value,
                      const char *key, serve_reply *reply) {
    char name[64];
    vit_error error;
    vit_bytes bytes;
    if (json_is_object(value)) {
        if (!serve_check_keys(value, wrapped, SERVE_IN_BODY, reply)) return false;
        value = json_object_get(value, "image");
    }
    if (!json_is_string(value))
        return serve_fail(reply, 400, "\"%s\": expected pictures as base64 or as data URLs", key);
    if (serve_read_base64(&bytes, json_string_value(value), json_string_length(value), &error) !=
        VIT_OK)
        return serve_fail_with(reply, &error);
    snprintf(name, sizeof name, "%s %zu", key, out->count);
    out->owns_bytes = true;
    const bool added = serve_add_picture(out, request, name, bytes.data, bytes.size, reply);
    if (!added) vit_free(bytes.data);
    return added;
}

bool serve_read_strings(serve_pictures *out, const serve_request *request, json_t *object,
                        const char *key, serve_reply *reply) {
    const json_t *value = json_object_get(object, key);
    *out = (serve_pictures){.is_list = json_is_array(value)};
    bool fine = out->is_list || serve_add_string(out, request, value, key, reply);
    for (size_t i = 0; i < json_array_size(value) && fine; i++)
        fine = serve_add_string(out, request, json_array_get(value, i), key, reply);
    if (fine && out->count == 0)
        fine = serve_fail(reply, 400, "\"%s\" is empty, expected pictures", key);
    json_object_del(object, key); /* decoded, the strings only take memory */
    if (!fine) serve_pictures_free(out);
    return fine;
}
