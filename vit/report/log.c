#include "vit/report/log.h"
#include "vit/base/sys.h"
#include "vit/formats/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LARGEST_LOG ((size_t)256 << 20)

static double number(const json_t *event, const char *key) {
    const json_t *value = json_object_get(event, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static uint64_t count(const json_t *event, const char *key) {
    const json_int_t value = json_integer_value(json_object_get(event, key));
    return value > 0 ? (uint64_t)value : 0;
}

static vit_status set_name(char **name, const json_t *event, const char *key, vit_error *error) {
    const char *text = json_string_value(json_object_get(event, key));
    vit_free(*name);
    *name = vit_strdup(text ? text : "?");
    return *name ? VIT_OK : vit_fail_memory(error, "the log", 0);
}

/* A training begins or is resumed; what an earlier part did beyond that step was lost. */
static vit_status take_start(vit_log *log, const json_t *event, vit_error *error) {
    vit_report *r = &log->report;
    r->parameters = (size_t)count(event, "parameters");
    r->batch = (size_t)count(event, "batch");
    r->facts.train_images = (size_t)count(event, "train_images");
    r->facts.val_images = (size_t)count(event, "val_images");
    r->facts.steps = count(event, "steps");
    r->facts.epochs = number(event, "epochs");
    r->step = count(event, "step");
    r->state = VIT_REPORT_LOG;
    r->test_top1 = NAN;
    vit_training_curves_cut(&log->curves, r->step);
    const vit_status status = set_name(&log->preset, event, "preset", error);
    return status == VIT_OK ? set_name(&log->data, event, "data", error) : status;
}

static vit_status take_epoch(vit_log *log, const json_t *event, vit_error *error) {
    const uint64_t step = count(event, "step");
    const vit_point point = {step,
                             step - log->report.step,
                             number(event, "loss"),
                             number(event, "lr"),
                             number(event, "grad_norm"),
                             number(event, "images_per_second")};
    const vit_epoch_point answers = {step, number(event, "val_top1"), number(event, "val_loss"),
                                     NAN, NAN};
    log->report.step = step;
    log->report.facts.lr = fmax(log->report.facts.lr, point.lr);
    const vit_status status = vit_training_curves_point(&log->curves, point, error);
    return status == VIT_OK ? vit_training_curves_epoch(&log->curves, answers, error) : status;
}

static vit_status take_event(vit_log *log, const json_t *event, const char *where,
                             vit_error *error) {
    const char *name = json_string_value(json_object_get(event, "event"));
    if (!name || (!log->preset && strcmp(name, "start") != 0))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: expected an event, {\"event\": \"start\", ...}, as vit-train --log "
                        "writes them",
                        where);
    if (strcmp(name, "start") == 0) return take_start(log, event, error);
    if (strcmp(name, "epoch") == 0) return take_epoch(log, event, error);
    if (strcmp(name, "done") == 0) {
        log->report.step = count(event, "step");
        log->report.test_top1 = number(event, "test_top1");
        log->report.state =
            log->report.step < log->report.facts.steps ? VIT_REPORT_STOPPED : VIT_REPORT_DONE;
        log->report.facts.is_over = true;
    }
    return VIT_OK;
}

static vit_status read_lines(vit_log *log, const vit_bytes *bytes, const char *path,
                             vit_error *error) {
    const char *line = (const char *)bytes->data, *end = line + bytes->size;
    for (size_t number_of = 1; line < end; number_of++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        char where[600];
        json_t *event;
        if (!stop) break; /* cut off */
        snprintf(where, sizeof where, "%.500s, line %zu", path, number_of);
        vit_status status = vit_json_parse(&event, line, (size_t)(stop - line), where, error);
        if (status == VIT_OK) status = take_event(log, event, where, error);
        json_decref(event);
        if (status != VIT_OK) return status;
        line = stop + 1;
    }
    if (log->preset) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: the log has no event of a training", path);
}

vit_status vit_log_read(vit_log *out, const char *path, vit_error *error) {
    vit_bytes bytes;
    *out = (vit_log){.report.test_top1 = NAN};
    vit_status status = vit_read_file(&bytes, path, LARGEST_LOG, error);
    if (status != VIT_OK) return status;
    status = read_lines(out, &bytes, path, error);
    vit_free(bytes.data);
    out->report.preset = out->preset;
    out->report.data = out->data;
    out->report.curves = &out->curves;
    if (status != VIT_OK) vit_log_free(out);
    return status;
}

void vit_log_free(vit_log *log) {
    vit_training_curves_free(&log->curves);
    vit_free(log->preset);
    vit_free(log->data);
    *log = (vit_log){0};
}
