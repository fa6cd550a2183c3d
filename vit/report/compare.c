#include "vit/report/compare.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/json_out.h"
#include "vit/formats/page.h"

#include <math.h>

/* The files of vit/report/page, line by line, as scripts/embed-text makes them. */
extern const char *const vit_compare_html[];
extern const char *const vit_compare_js[];
extern const char *const vit_report_css[];
extern const char *const vit_charts_js[];

/* The best and the last share of validation pictures; NaN: none was measured. */
static double best_of(const vit_training_curves *c) {
    double best = NAN;
    for (size_t i = 0; i < c->epoch_count; i++) best = fmax(best, c->epochs[i].val_top1);
    return best;
}

static double last_of(const vit_training_curves *c) {
    return c->epoch_count > 0 ? c->epochs[c->epoch_count - 1].val_top1 : NAN;
}

static void add_number(vit_json_out *json, const char *key, double value) {
    vit_json_float(json, key, (float)value);
}

static void add_points(vit_json_out *json, const vit_training_curves *c) {
    vit_json_open(json, "step", '[');
    for (size_t i = 0; i < c->point_count; i++) vit_json_count(json, NULL, c->points[i].step);
    vit_json_close(json, ']');
    vit_json_open(json, "loss", '[');
    for (size_t i = 0; i < c->point_count; i++) add_number(json, NULL, c->points[i].loss);
    vit_json_close(json, ']');
    vit_json_open(json, "lr", '[');
    for (size_t i = 0; i < c->point_count; i++) add_number(json, NULL, c->points[i].lr);
    vit_json_close(json, ']');
}

static void add_epochs(vit_json_out *json, const vit_training_curves *c) {
    vit_json_open(json, "epoch_step", '[');
    for (size_t i = 0; i < c->epoch_count; i++) vit_json_count(json, NULL, c->epochs[i].step);
    vit_json_close(json, ']');
    vit_json_open(json, "val_top1", '[');
    for (size_t i = 0; i < c->epoch_count; i++) add_number(json, NULL, c->epochs[i].val_top1);
    vit_json_close(json, ']');
    vit_json_open(json, "val_loss", '[');
    for (size_t i = 0; i < c->epoch_count; i++) add_number(json, NULL, c->epochs[i].val_loss);
    vit_json_close(json, ']');
}

static void add_run(vit_json_out *json, const vit_log *log, const char *name, size_t group) {
    vit_json_open_lines(json, NULL, '{');
    vit_json_text(json, "name", name);
    vit_json_text(json, "preset", log->preset);
    vit_json_text(json, "data", log->data);
    vit_json_count(json, "group", group);
    if (log->recipe)
        vit_json_count(json, "seed", log->seed);
    else
        vit_json_raw(json, "seed", "null");
    vit_json_count(json, "done", log->report.step);
    vit_json_count(json, "steps", log->report.facts.steps);
    add_number(json, "best_val_top1", best_of(&log->curves));
    add_number(json, "last_val_top1", last_of(&log->curves));
    add_number(json, "test_top1", log->report.test_top1);
    add_points(json, &log->curves);
    add_epochs(json, &log->curves);
    vit_json_close(json, '}');
}

vit_status vit_compare_write(const char *path, const vit_log *logs, const char *const *names,
                             size_t count, const size_t *group, const char *const *titles,
                             size_t groups, vit_error *error) {
    vit_json_out json = {0};
    vit_string page = {0};
    vit_status status = VIT_OK;
    vit_json_open_lines(&json, NULL, '{');
    vit_json_texts(&json, "groups", titles, groups);
    vit_json_open_lines(&json, "runs", '[');
    for (size_t i = 0; i < count; i++) add_run(&json, &logs[i], names[i], group[i]);
    vit_json_close(&json, ']');
    vit_json_close(&json, '}');
    const vit_page_part parts[] = {{"style", vit_report_css, NULL},
                                   {"charts", vit_charts_js, NULL},
                                   {"script", vit_compare_js, NULL},
                                   {"data", NULL, json.text.failed ? NULL : json.text.text}};
    vit_string_add_page(&page, vit_compare_html, parts, VIT_COUNT(parts));
    if (page.failed) status = vit_fail_memory(error, "the page", page.length);
    if (status == VIT_OK) status = vit_write_file(path, page.text, page.length, error);
    vit_string_free(&json.text);
    vit_string_free(&page);
    return status;
}
