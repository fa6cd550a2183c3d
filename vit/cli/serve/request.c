#include "vit/cli/serve/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- what was asked ---- */

const char *serve_argument(const serve_request *request, const char *name) {
    for (size_t i = 0; i < request->argument_count; i++)
        if (strcmp(request->arguments[i].name, name) == 0) return request->arguments[i].value;
    return NULL;
}

bool serve_add_argument(serve_request *r, const char *name, const char *value) {
    if (r->argument_count == SERVE_MOST_ARGUMENTS) return false;
    r->arguments[r->argument_count].name = name;
    r->arguments[r->argument_count++].value = value;
    return true;
}

const char *serve_given_twice(const serve_request *request) {
    for (size_t i = 0; i < request->argument_count; i++) {
        const char *name = request->arguments[i].name;
        if (strcmp(serve_argument(request, name), request->arguments[i].value) != 0) return name;
    }
    return NULL;
}

bool serve_take_field(serve_request *r, const char *name, const void *value, size_t size,
                      serve_reply *reply) {
    const char *near, *given = serve_argument(r, name);
    const serve_key *known = serve_find_key(r->keys, SERVE_IN_QUERY, name, &near);
    if (near)
        return serve_fail(reply, 400, "%.32s: there is no such field, did you mean %s?", name,
                          near);
    if (!known || size == 0) return true;
    if (memchr(value, '\0', size))
        return serve_fail(reply, 400, "%s: the field has a zero byte", name);
    if (given && (strlen(given) != size || memcmp(given, value, size) != 0))
        return serve_fail(reply, 400, "%s is given twice, as \"%.32s\" and \"%.*s\"", name, given,
                          size < 32 ? (int)size : 32, (const char *)value);
    if (given) return true;
    if (size >= SERVE_FIELDS_MAX - r->fields_size || r->argument_count == SERVE_MOST_ARGUMENTS)
        return serve_fail(reply, 413, "%s: the fields of the form are too long", name);
    char *copy = r->fields + r->fields_size;
    memcpy(copy, value, size);
    copy[size] = '\0';
    r->fields_size += size + 1;
    return serve_add_argument(r, known->name, copy);
}

bool serve_is_json(const serve_request *request) {
    const char *type = request->content_type;
    size_t at = 0;
    while (at < request->size && request->body[at] != '\0' && strchr(" \t\r\n", request->body[at]))
        at++;
    return (type && strncasecmp(type, "application/json", 16) == 0) ||
           (at < request->size && request->body[at] == '{');
}

/* ---- replies ---- */

void serve_end_json(vit_json_out *json, char bracket, serve_reply *reply) {
    vit_json_close(json, bracket);
    vit_string_add(&json->text, "\n");
    reply->body = json->text;
}

static bool reply_error(serve_reply *reply, unsigned status, const char *sentence) {
    vit_json_out json = {0};
    vit_string_free(&reply->body);
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "error", sentence);
    serve_end_json(&json, '}', reply);
    reply->status = status;
    reply->type = "application/json";
    reply->json_size = 0; /* of an answer that did not come about */
    if (status == 429 || status == 503) reply->retry_after = 1;
    return false;
}

bool serve_fail(serve_reply *reply, unsigned status, const char *format, ...) {
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return reply_error(reply, status, sentence);
}

bool serve_fail_with(serve_reply *reply, const vit_error *error) {
    unsigned status = 400;
    switch (error->status) {
    case VIT_ERROR_MEMORY:
    case VIT_ERROR_CANCELLED:
        status = 503;
        break;
    case VIT_ERROR_UNSUPPORTED:
        status = 415;
        break;
    case VIT_ERROR_IO:
        status = 500;
        break;
    case VIT_OK:
    case VIT_ERROR_ARGUMENT:
    case VIT_ERROR_FORMAT:
    case VIT_ERROR_MISMATCH:
        break;
    }
    return reply_error(reply, status, error->message);
}

bool serve_fail_computed(serve_reply *reply, const vit_error *error) {
    return error->status == VIT_ERROR_FORMAT ? reply_error(reply, 500, error->message)
                                             : serve_fail_with(reply, error);
}

bool serve_check_turn(serve_reply *reply, serve_turn turn) {
    switch (turn) {
    case SERVE_TURN_DONE:
        break;
    case SERVE_TURN_FULL:
        return serve_fail(reply, 503, "too many pictures are waiting: try again soon");
    case SERVE_TURN_LATE:
        return serve_fail(reply, 503, "this request had to wait too long: try again later");
    }
    return true;
}
