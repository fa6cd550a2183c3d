#include "vit/cli/serve/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "vit/formats/json_out.h"

/* ---- what was asked ---- */

const char *serve_argument(const serve_request *request, const char *name) {
    for (size_t i = 0; i < request->argument_count; i++)
        if (strcmp(request->arguments[i].name, name) == 0) return request->arguments[i].value;
    return NULL;
}

bool serve_take_field(serve_request *r, const char *name, const void *value, size_t size,
                      serve_reply *reply) {
    const char *known = NULL, *given = serve_argument(r, name);
    size_t count = 0;
    for (; r->options && r->options[count] && !known; count++)
        if (strcmp(r->options[count], name) == 0) known = r->options[count];
    const char *near = known || !r->options ? NULL : vit_nearest(name, r->options, count);
    if (near) {
        serve_fail(reply, 400, "%.32s: there is no such field, did you mean %s?", name, near);
        return false;
    }
    if (!known || size == 0) return true;
    if (memchr(value, '\0', size)) {
        serve_fail(reply, 400, "%s: the field has a zero byte", name);
        return false;
    }
    if (given && (strlen(given) != size || memcmp(given, value, size) != 0)) {
        serve_fail(reply, 400, "%s is given twice, as \"%.32s\" and \"%.*s\"", name, given,
                   size < 32 ? (int)size : 32, (const char *)value);
        return false;
    }
    if (given) return true;
    if (size >= SERVE_FIELDS_MAX - r->fields_size || r->argument_count == SERVE_MOST_ARGUMENTS) {
        serve_fail(reply, 413, "%s: the fields of the form are too long", name);
        return false;
    }
    char *copy = r->fields + r->fields_size;
    memcpy(copy, value, size);
    copy[size] = '\0';
    r->fields_size += size + 1;
    r->arguments[r->argument_count].name = known;
    r->arguments[r->argument_count++].value = copy;
    return true;
}

bool serve_is_json(const serve_request *request) {
    const char *type = request->content_type;
    size_t at = 0;
    while (at < request->size && request->body[at] != '\0' && strchr(" \t\r\n", request->body[at]))
        at++;
    return (type && strncasecmp(type, "application/json", 16) == 0) ||
           (at < request->size && request->body[at] == '{');
}

/* ---- replies that are errors ---- */

static void reply_error(serve_reply *reply, unsigned status, const char *sentence) {
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "error", sentence);
    vit_json_close(&json, '}');
    vit_string_add(&json.text, "\n");
    vit_string_free(&reply->body);
    reply->status = status;
    reply->type = "application/json";
    reply->body = json.text;
    if (status == 429 || status == 503) reply->retry_after = 1;
}

void serve_fail(serve_reply *reply, unsigned status, const char *format, ...) {
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    reply_error(reply, status, sentence);
}

void serve_fail_with(serve_reply *reply, const vit_error *error) {
    unsigned status = 400;
    switch (error->status) {
    case VIT_ERROR_MEMORY:
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
    case VIT_ERROR_CANCELLED:
        break;
    }
    reply_error(reply, status, error->message);
}

void serve_fail_computed(serve_reply *reply, const vit_error *error) {
    if (error->status == VIT_ERROR_FORMAT)
        reply_error(reply, 500, error->message);
    else
        serve_fail_with(reply, error);
}

void serve_fail_turn(serve_reply *reply, serve_turn turn) {
    switch (turn) {
    case SERVE_TURN_DONE:
        break;
    case SERVE_TURN_FULL:
        serve_fail(reply, 503, "too many pictures are waiting: try again soon");
        break;
    case SERVE_TURN_LATE:
        serve_fail(reply, 503, "this request had to wait too long: try again later");
        break;
    }
}
