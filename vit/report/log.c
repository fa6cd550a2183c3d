#include "vit/report/log.h"
#include "vit/base/sys.h"
#include "vit/formats/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* *text: all of the recipe and the network but the seed, its keys in order: equal for trainings
 * that differ in nothing else. */
static vit_status set_recipe(vit_log *log, const json_t *event, vit_error *error) {
    json_t *recipe = json_object_get(event, "recipe"), *network = json_object_get(event, "network");
    if (!json_is_object(recipe)) return VIT_OK;
    log->seed = count(recipe, "seed");
    json_object_del(recipe, "seed");
    if (network && json_object_set(recipe, "network", network) != 0)
        return vit_fail_memory(error, "the log", 0);
    char *text = json_dumps(recipe, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
    vit_free(log->recipe);
    log->recipe = text ? vit_strdup(text) : NULL;
    free(text);
    return log->recipe ? VIT_OK : vit_fail_memory(error, "the log", 0);
}

/* A training begins or is resumed; what an earlier part did beyond that step was lost. */
static vit_status take_start(vit_log *log, json_t *event, vit_error *error) {
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
    vit_status status = set_name(&log->preset, event, "preset", error);
    if (status == VIT_OK) status = set_recipe(log, event, error);
    return status == VIT_OK ? set_name(&log->data, event, "data", error) : status;
}

static vit_status add_point(vit_log *log, const json_t *event, uint64_t over, vit_error *error) {
    const vit_point point = {count(event, "step"),       over,
                             number(event, "loss"),      number(event, "lr"),
                             number(event, "grad_norm"), number(event, "images_per_second")};
    log->report.facts.lr = fmax(log->report.facts.lr, point.lr);
    return vit_training_curves_point(&log->curves, point, error);
}

/* A mean over some steps. */
static vit_status take_step(vit_log *log, const json_t *event, vit_error *error) {
    log->has_steps = true;
    return add_point(log, event, count(event, "mean_over"), error);
}

/* Without events of steps, an epoch is a point, too. */
static vit_status take_epoch(vit_log *log, const json_t *event, vit_error *error) {
    const uint64_t step = count(event, "step");
    const vit_epoch_point answers = {step, number(event, "val_top1"), number(event, "val_loss"),
                                     NAN, NAN};
    const vit_status status =
        log->has_steps ? VIT_OK : add_point(log, event, step - log->report.step, error);
    log->report.step = step;
    return status == VIT_OK ? vit_training_curves_epoch(&log->curves, answers, error) : status;
}

static vit_status take_event(vit_log *log, json_t *event, const char *where, vit_error *error) {
    const char *name = json_string_value(json_object_get(event, "event"));
    if (!name || (!log->preset && strcmp(name, "start") != 0))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: expected an event, {\"event\": \"start\", ...}, as vit-train --log "
                        "writes them",
                        where);
    if (strcmp(name, "start") == 0) return take_start(log, event, error);
    if (strcmp(name, "step") == 0) return take_step(log, event, error);
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
    vit_free(log->recipe);
    *log = (vit_log){0};
}
