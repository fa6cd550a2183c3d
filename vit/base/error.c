#include "vit/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "vit/base/utf8.h"

const char *vit_version(void) {
    return VIT_VERSION;
}

const char *vit_status_name(vit_status status) {
    switch (status) {
    case VIT_OK:
        return "ok";
    case VIT_ERROR_ARGUMENT:
        return "argument";
    case VIT_ERROR_MEMORY:
        return "memory";
    case VIT_ERROR_IO:
        return "io";
    case VIT_ERROR_FORMAT:
        return "format";
    case VIT_ERROR_UNSUPPORTED:
        return "unsupported";
    case VIT_ERROR_MISMATCH:
        return "mismatch";
    case VIT_ERROR_CANCELLED:
        return "cancelled";
    }
    return "unknown";
}

/* The message goes to terminals, logs and JSON as it is, but it quotes file names and the contents
 * of files: control characters and broken UTF-8 become '?'. A text cut at the end ends in dots. */
static void set_message(vit_error *error, const char *text, bool cut) {
    const size_t room = sizeof error->message - 1 - (cut ? 3 : 0);
    size_t length = 0;
    while (*text != '\0') {
        size_t n = vit_utf8_length(text);
        bool clean = n > 0 && (unsigned char)*text >= 0x20 && *text != 0x7f;
        if (length + (clean ? n : 1) > room) break;
        if (clean) {
            memcpy(error->message + length, text, n);
            length += n;
            text += n;
        } else {
            error->message[length++] = '?';
            text++;
        }
    }
    memcpy(error->message + length, cut ? "..." : "", cut ? 4 : 1);
}

/* Formats apart from error->message first: an argument may be that very message. */
static void set_error(vit_error *error, vit_status status, const char *reason, const char *format,
                      va_list arguments) {
    if (!error) return;
    char text[sizeof error->message];
    int length = vsnprintf(text, sizeof text, format, arguments);
    size_t used = length < 0 ? 0 : (size_t)length;
    bool cut = used >= sizeof text;
    if (length < 0) text[0] = '\0';
    if (reason && !cut) {
        int more = snprintf(text + used, sizeof text - used, ": %s", reason);
        cut = more < 0 || (size_t)more >= sizeof text - used;
    }
    error->status = status;
    set_message(error, text, cut);
}

vit_status vit_fail(vit_error *error, vit_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set_error(error, status, NULL, format, arguments);
    va_end(arguments);
    return status;
}

vit_status vit_fail_errno(vit_error *error, int number, const char *format, ...) {
    vit_status status = number == ENOMEM ? VIT_ERROR_MEMORY : VIT_ERROR_IO;
    char reason[128];
    if (strerror_r(number, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "system error %d", number);
    va_list arguments;
    va_start(arguments, format);
    set_error(error, status, reason, format, arguments);
    va_end(arguments);
    return status;
}

vit_status vit_fail_memory(vit_error *error, const char *what, size_t bytes) {
    return vit_fail(error, VIT_ERROR_MEMORY, "out of memory: %s needs %zu bytes", what, bytes);
}

vit_status vit_fail_prefix(vit_error *error, vit_status status, const char *prefix) {
    if (!error) return status;
    return vit_fail(error, error->status, "%s: %s", prefix, error->message);
}
