#include "vit/report/report.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/json.h"
#include "vit/formats/json_out.h"
#include "vit/formats/page.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The files of vit/report/page, line by line, as scripts/embed-text makes them. */
extern const char *const vit_report_html[];
extern const char *const vit_report_css[];
extern const char *const vit_report_js[];
extern const char *const vit_charts_js[];

static const char *const states[] = {
    [VIT_REPORT_DONE] = "done",
    [VIT_REPORT_STOPPED] = "stopped",
    [VIT_REPORT_RUNNING] = "running",
    [VIT_REPORT_LOG] = "log",
};
VIT_CHECK_ROWS(states, VIT_REPORT_STATE_COUNT);

/* ---- writing ---- */

/* A figure, to the digits of a float. */
static void add_number(vit_json_out *json, const char *key, double value) {
    vit_json_float(json, key, (float)value);
}

static void add_title(vit_json_out *json, const vit_report *r) {
    vit_json_open(json, "title", '{');
    vit_json_text(json, "preset", r->preset);
    vit_json_text(json, "data", r->data);
    vit_json_text(json, "state", states[r->state]);
    vit_json_count(json, "parameters", r->parameters);
    vit_json_count(json, "classes", r->facts.classes);
    vit_json_count(json, "train_images", r->facts.train_images);
    vit_json_count(json, "val_images", r->facts.val_images);
    vit_json_count(json, "batch", r->batch);
    vit_json_count(json, "step", r->step);
    vit_json_count(json, "steps", r->facts.steps);
    add_number(json, "epochs", r->facts.epochs);
    add_number(json, "test_top1", r->test_top1);
    vit_json_close(json, '}');
    if (r->labels)
        vit_json_texts(json, "labels", r->labels, r->facts.classes);
    else
        vit_json_raw(json, "labels", "null");
}

/* A column of a table of points: a field, uint64_t (whole) or double, `offset` bytes from the
 * beginning of each. */
typedef struct report_column {
    const char *name;
    size_t offset;
    bool whole;
} report_column;

static void add_table(vit_json_out *json, const char *name, const report_column *columns,
                      size_t width, const void *rows, size_t count, size_t size) {
    vit_json_open_lines(json, name, '{');
    for (size_t k = 0; k < width; k++) {
        vit_json_open(json, columns[k].name, '[');
        for (size_t i = 0; i < count; i++) {
            const char *at = (const char *)rows + i * size + columns[k].offset;
            uint64_t number;
            double value;
            memcpy(&number, at, sizeof number);
            memcpy(&value, at, sizeof value);
            if (columns[k].whole)
                vit_json_count(json, NULL, number);
            else
                add_number(json, NULL, value);
        }
        vit_json_close(json, ']');
    }
    vit_json_close(json, '}');
}

/* The rates, which depend on the machine, have a line of their own. */
static void add_curves(vit_json_out *json, const vit_training_curves *c) {
    static const report_column points[] = {{"step", offsetof(vit_point, step), true},
                                           {"steps", offsetof(vit_point, steps), true},
                                           {"loss", offsetof(vit_point, loss), false},
                                           {"lr", offsetof(vit_point, lr), false},
                                           {"grad_norm", offsetof(vit_point, grad_norm), false},
                                           {"rate", offsetof(vit_point, rate), false}};
    static const report_column epochs[] = {
        {"step", offsetof(vit_epoch_point, step), true},
        {"val_top1", offsetof(vit_epoch_point, val_top1), false},
        {"val_loss", offsetof(vit_epoch_point, val_loss), false},
        {"train_top1", offsetof(vit_epoch_point, train_top1), false},
        {"train_loss", offsetof(vit_epoch_point, train_loss), false}};
    add_table(json, "points", points, sizeof points / sizeof *points, c->points, c->point_count,
              sizeof *c->points);
    add_table(json, "epochs", epochs, sizeof epochs / sizeof *epochs, c->epochs, c->epoch_count,
              sizeof *c->epochs);
}

static void add_advice(vit_json_out *json, const vit_report *r) {
    vit_advice advice[VIT_FINDING_COUNT];
    const size_t count = vit_advise(advice, &r->facts, r->curves);
    vit_json_open_lines(json, "advice", '[');
    for (size_t i = 0; i < count; i++) {
        vit_json_open(json, NULL, '{');
        vit_json_text(json, "name", vit_finding_name(advice[i].finding));
        vit_json_text(json, "why", advice[i].why);
        vit_json_open(json, "try", '[');
        for (size_t k = 0; k < advice[i].try_count; k++)
            vit_json_text(json, NULL, advice[i].tries[k]);
        vit_json_close(json, ']');
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
}

static vit_status add_data(vit_json_out *json, const vit_report *r, vit_error *error) {
    vit_status status = VIT_OK;
    vit_json_open_lines(json, NULL, '{');
    add_title(json, r);
    add_curves(json, r->curves);
    add_advice(json, r);
    if (r->figures) vit_figures_write(json, r->figures);
    if (r->weights) {
        status = vit_weights_write(json, r->weights, error);
    } else {
        vit_json_raw(json, "filters", "null");
        vit_json_raw(json, "positions", "null");
    }
    if (status != VIT_OK) return status;
    if (r->answers && r->answers->count > 0) {
        status = vit_answers_write(json, r->answers, error);
    } else {
        vit_json_raw(json, "answers", "null");
        vit_json_raw(json, "pictures", "[]");
    }
    vit_json_close(json, '}');
    return status;
}

vit_status vit_report_write(const char *path, const vit_report *report, vit_error *error) {
    vit_json_out json = {0};
    vit_string page = {0};
    vit_status status = add_data(&json, report, error);
    const vit_page_part parts[] = {{"style", vit_report_css, NULL},
                                   {"charts", vit_charts_js, NULL},
                                   {"script", vit_report_js, NULL},
                                   {"data", NULL, json.text.failed ? NULL : json.text.text}};
    if (status == VIT_OK) vit_string_add_page(&page, vit_report_html, parts, VIT_COUNT(parts));
    if (page.failed) status = vit_fail_memory(error, "the report", page.length);
    if (status == VIT_OK) status = vit_write_file(path, page.text, page.length, error);
    vit_string_free(&json.text);
    vit_string_free(&page);
    return status;
}

/* ---- reading ---- */

#define LARGEST_PAGE ((size_t)64 << 20)

/* Whether the file begins with the template's first two lines, as every page does. */
static bool is_report(const vit_bytes *bytes) {
    size_t at = 0;
    for (size_t i = 0; i < 2; i++) {
        const size_t length = strlen(vit_report_html[i]);
        if (bytes->size - at < length || memcmp(bytes->data + at, vit_report_html[i], length) != 0)
            return false;
        at += length;
    }
    return true;
}

/* Maps the page at `path`; *out is empty if there is no file or an empty one. MISMATCH: it is no
 * page. */
static vit_status open_report(vit_bytes *out, const char *path, vit_error *error) {
    *out = (vit_bytes){0};
    if (vit_path_look(path) != VIT_PATH_FILE) return VIT_OK;
    const vit_status status = vit_map_file(out, path, error);
    if (status != VIT_OK || out->size == 0 || is_report(out)) return status;
    vit_unmap_file(out);
    *out = (vit_bytes){0};
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s exists and is no report of this program: it is not replaced, name another "
                    "file",
                    path);
}

vit_status vit_report_check(const char *path, vit_error *error) {
    vit_bytes bytes;
    const vit_status status = open_report(&bytes, path, error);
    vit_unmap_file(&bytes);
    return status;
}

/* Where the first text `what` from byte `from` on ends; bytes->size: there is none. */
static size_t after(const vit_bytes *bytes, size_t from, const char *what) {
    const size_t length = strlen(what);
    for (size_t i = from; i + length <= bytes->size; i++)
        if (memcmp(bytes->data + i, what, length) == 0) return i + length;
    return bytes->size;
}

static double number_at(const json_t *table, const char *column, size_t i) {
    const json_t *value = json_array_get(json_object_get(table, column), i);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static uint64_t step_at(const json_t *table, const char *column, size_t i) {
    const json_int_t value = json_integer_value(json_array_get(json_object_get(table, column), i));
    return value > 0 ? (uint64_t)value : 0;
}

static vit_status take_curves(vit_training_curves *c, const json_t *page, vit_error *error) {
    const json_t *p = json_object_get(page, "points"), *e = json_object_get(page, "epochs");
    vit_status status = VIT_OK;
    for (size_t i = 0; i < json_array_size(json_object_get(p, "step")) && status == VIT_OK; i++)
        status = vit_training_curves_point(
            c,
            (vit_point){step_at(p, "step", i), step_at(p, "steps", i), number_at(p, "loss", i),
                        number_at(p, "lr", i), number_at(p, "grad_norm", i),
                        number_at(p, "rate", i)},
            error);
    for (size_t i = 0; i < json_array_size(json_object_get(e, "step")) && status == VIT_OK; i++)
        status = vit_training_curves_epoch(
            c,
            (vit_epoch_point){step_at(e, "step", i), number_at(e, "val_top1", i),
                              number_at(e, "val_loss", i), number_at(e, "train_top1", i),
                              number_at(e, "train_loss", i)},
            error);
    return status;
}

vit_status vit_report_read_curves(vit_training_curves *curves, const char *path, uint64_t step,
                                  uint64_t steps, vit_error *error) {
    vit_bytes bytes;
    json_t *page = NULL;
    vit_status status = open_report(&bytes, path, error);
    if (status != VIT_OK || bytes.size == 0) return status;
    const size_t start = after(&bytes, 0, "<script id=\"data\" type=\"application/json\">");
    const size_t end = after(&bytes, start, "</script>");
    if (bytes.size > LARGEST_PAGE || start == bytes.size || end == bytes.size)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: a report without its data", path);
    else
        status = vit_json_parse(&page, (const char *)bytes.data + start,
                                end - start - strlen("</script>"), path, error);
    const json_t *title = json_object_get(page, "title");
    if (status == VIT_OK &&
        json_integer_value(json_object_get(title, "steps")) == (json_int_t)steps)
        status = take_curves(curves, page, error);
    if (status == VIT_OK) vit_training_curves_cut(curves, step);
    json_decref(page);
    vit_unmap_file(&bytes);
    return status;
}
