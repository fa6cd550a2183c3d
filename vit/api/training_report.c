/* vit_write_report: the page of a training from its log, with its model and data where they are
 * given; and vit_read_log. */
#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/report/log.h"
#include "vit/report/report.h"
#include "vit/reports.h"
#include "vit/weights/file/open.h"
#include <stdio.h>

#include <math.h>

typedef struct page {
    const vit_report_options *options;
    vit_report *report;
} page;

/* vit_evaluate_with calls this while the data are still open: the page shows their pictures. */
static vit_status write_answers(const vit_answers *answers, void *context, vit_error *error) {
    const page *p = context;
    p->report->answers = answers;
    return vit_report_write(p->options->out, p->report, error);
}

static vit_status write_with_data(const page *p, vit_error *error) {
    const vit_report_options *o = p->options;
    const vit_model_options how = {.config = o->config, .cpu = o->cpu};
    const vit_evaluate_options which = {.data = o->data,
                                        .class_column = o->class_column,
                                        .split = o->split,
                                        .threads = o->threads,
                                        .cpu = o->cpu,
                                        .note = o->note,
                                        .user = o->user};
    vit_model *model;
    vit_evaluation result;
    vit_status status = vit_model_load_with(&model, o->model, &how, error);
    if (status != VIT_OK) return status;
    status = vit_evaluate_with(model, &which, &result, write_answers, (void *)p, error);
    if (status == VIT_OK) vit_evaluation_clear(&result);
    vit_model_free(model);
    return status;
}

static vit_status write_with_model(const page *p, vit_error *error) {
    const vit_wanted wanted = {.config = p->options->config};
    vit_model_file file;
    vit_status status = vit_model_file_open(&file, p->options->model, &wanted, error);
    if (status != VIT_OK) return status;
    const vit_shown_weights weights = {&file.config, &file.table, file.values};
    p->report->weights = &weights;
    p->report->facts.classes = file.config.classes;
    p->report->labels = (const char *const *)file.labels;
    status = p->options->data ? write_with_data(p, error)
                              : vit_report_write(p->options->out, p->report, error);
    vit_model_file_clear(&file);
    return status;
}

vit_status vit_write_report(const vit_report_options *options, vit_error *error) {
    VIT_ENTRY;
    const vit_report_options none = {0}, *o = options ? options : &none;
    vit_log log;
    if (!o->log || !o->out)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "a report needs a log and a file to write");
    if (o->data && !o->model)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "a report of the pictures of %s needs the model that answers them",
                        o->data);
    vit_status status = vit_report_check(o->out, error);
    if (status == VIT_OK) status = vit_log_read(&log, o->log, error);
    if (status != VIT_OK) return status;
    const page p = {o, &log.report};
    status = o->model ? write_with_model(&p, error) : vit_report_write(o->out, &log.report, error);
    vit_log_free(&log);
    return status;
}

vit_status vit_read_log(vit_log_summary *out, const char *path, vit_error *error) {
    VIT_ENTRY;
    vit_log log;
    *out = (vit_log_summary){.best_top1 = NAN, .last_top1 = NAN, .test_top1 = NAN};
    if (!path) return vit_fail(error, VIT_ERROR_ARGUMENT, "the name of a log is missing");
    const vit_status status = vit_log_read(&log, path, error);
    if (status != VIT_OK) return status;
    const vit_training_curves *c = &log.curves;
    snprintf(out->preset, sizeof out->preset, "%s", log.preset);
    snprintf(out->data, sizeof out->data, "%s", log.data);
    out->step = log.report.step;
    out->steps = log.report.facts.steps;
    for (size_t i = 0; i < c->epoch_count; i++) {
        out->last_top1 = c->epochs[i].val_top1;
        out->best_top1 = fmax(out->best_top1, out->last_top1);
    }
    out->test_top1 = log.report.test_top1;
    out->seed = log.seed;
    out->recipe = log.recipe;
    log.recipe = NULL;
    vit_log_free(&log);
    return VIT_OK;
}

void vit_log_summary_clear(vit_log_summary *summary) {
    if (!summary) return;
    vit_free(summary->recipe);
    summary->recipe = NULL;
}
