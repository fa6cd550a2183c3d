#include "vit/cli/serve/log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "vit/cli/program.h"

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

static void add_text(vit_text *text, const serve_entry *e, const char *time) {
    char number[32];
    vit_text_add(text, "%s %s %s ", time, e->client, e->method);
    vit_text_add_visible(text, e->path, 0);
    vit_text_add(text, " %u %s s%s", e->status, vit_format_fixed(number, e->seconds, 4),
                 e->is_cut ? ", cut off" : "");
}

void serve_log_request(serve_log log, const serve_entry *e) {
    vit_json_out json = {0};
    char time[64];
    if (log == SERVE_LOG_NONE) return;
    format_time(time, sizeof time);
    if (log == SERVE_LOG_JSON)
        add_json(&json, e, time);
    else
        add_text(&json.line, e, time);
    vit_text_add(&json.line, "\n");
    /* One call, so that lines of several threads do not mix. */
    if (!json.line.failed) fwrite(json.line.text, 1, json.line.length, stderr);
    vit_text_free(&json.line);
}
