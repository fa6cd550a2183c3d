#include "vit/cli/serve/work/access_log.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vit/cli/parts/program.h"

/* "2026-01-31T12:34:56.789Z" */
static void format_time(char *text, size_t size) {
    struct timespec now;
    struct tm parts;
    char seconds[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text, size, "%s.%03ldZ", seconds, now.tv_nsec / 1000000);
}

/* The characters of a hexadecimal digit, which may be written as "%61"; 0: it is none. */
static size_t digit_length(const char *at) {
    static const char digits[] = "0123456789abcdefABCDEF";
    if (*at != '%') return *at != '\0' && strchr(digits, *at) ? 1 : 0;
    const char code[3] = {at[1], at[1] != '\0' ? at[2] : '\0', '\0'};
    const long value = strspn(code, digits) == 2 ? strtol(code, NULL, 16) : 0;
    return value > 0 && value < 128 && strchr(digits, (int)value) ? 3 : 0;
}

void serve_log_path(char *path, size_t size, const char *uri) {
    enum { SECRET = 32, SHOWN = 6 };
    size_t length = 0;
    while (*uri != '\0' && length + 1 < size) {
        size_t count = 0, run = 0, shown = 0;
        for (size_t digit; (digit = digit_length(uri + run)) > 0; run += digit)
            if (++count <= SHOWN) shown = run + digit;
        const size_t kept = count >= SECRET ? shown : run > 0 ? run : 1;
        length += (size_t)snprintf(path + length, size - length, "%.*s%s", (int)kept, uri,
                                   count >= SECRET ? "..." : "");
        uri += run > 0 ? run : 1;
    }
    path[length < size ? length : size - 1] = '\0';
}

static void add_json(vit_json_out *json, const serve_entry *e, const char *time) {
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "time", time);
    vit_json_text(json, "client", e->client);
    vit_json_text(json, "method", e->method);
    vit_json_text(json, "path", e->path);
    vit_json_count(json, "status", e->status);
    vit_json_number(json, "seconds", e->seconds);
    vit_json_count(json, "received", e->received);
    vit_json_count(json, "sent", e->sent);
    if (e->model[0] != '\0') vit_json_text(json, "model", e->model);
    if (e->pictures > 0) vit_json_count(json, "pictures", e->pictures);
    if (e->is_cut) vit_json_text(json, "error", "cut off");
    vit_json_close(json, '}');
}

static void add_text(vit_string *text, const serve_entry *e, const char *time) {
    char number[32];
    vit_string_add(text, "%s %s %s ", time, e->client, e->method);
    vit_string_add_visible(text, e->path, 0);
    vit_string_add(text, " %u %s s%s", e->status, vit_format_fixed(number, e->seconds, 4),
                   e->is_cut ? ", cut off" : "");
}

/* ---- writing ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long lost; /* lines that nobody read; guarded by the lock */

/* Whether a line can be written without waiting. A pipe that is ready takes PIPE_BUF bytes, which
 * is more than any line has. */
static bool is_ready(void) {
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0;
}

/* Writes the line in one call, so that lines do not mix, and frees it. */
static void write_line(vit_string *line) {
    char said[96];
    pthread_mutex_lock(&lock);
    if (lost > 0 && is_ready()) {
        const int length = snprintf(said, sizeof said,
                                    "vit-serve: nobody read this log: %lu lines are lost\n", lost);
        if (write(STDERR_FILENO, said, (size_t)length) == length) lost = 0;
    }
    if (line->failed || line->length > PIPE_BUF || !is_ready() ||
        write(STDERR_FILENO, line->text, line->length) < 0)
        lost++;
    pthread_mutex_unlock(&lock);
    vit_string_free(line);
}

void serve_log_say(const char *format, ...) {
    char sentence[2048];
    vit_string line = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    vit_string_add(&line, "vit-serve: ");
    vit_string_add_visible(&line, sentence, 0);
    vit_string_add(&line, "\n");
    write_line(&line);
}

void serve_log_request(serve_log log, const serve_entry *e) {
    vit_json_out json = {0};
    char time[64];
    format_time(time, sizeof time);
    switch (log) {
    case SERVE_LOG_NONE:
    case SERVE_LOG_COUNT:
        return;
    case SERVE_LOG_TEXT:
        add_text(&json.text, e, time);
        break;
    case SERVE_LOG_JSON:
        add_json(&json, e, time);
        break;
    }
    vit_string_add(&json.text, "\n");
    write_line(&json.text);
}
