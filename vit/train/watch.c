/* What others see of a training: the page of --report and the event files of --tensorboard. */
#include "vit/base/sys.h"
#include "vit/report/report.h"
#include "vit/report/tensorboard.h"
#include "vit/train/run.h"

#include <math.h>
#include <stdio.h>

#define SECONDS_BETWEEN_REPORTS 5

struct vit_watched {
    vit_tensorboard *board; /* NULL: none */
    double written;         /* vit_clock() when the report was last written */
    uint64_t tenth;         /* tenth of the schedule whose pictures went last into event files */
};

/* ---- event files ---- */

static void put_scalars(vit_run *run, uint64_t step, const vit_scalar *scalars, size_t count) {
    vit_error error;
    if (!run->monitor.watched->board || run->monitor.failed.status != VIT_OK) return;
    if (vit_tensorboard_scalars(run->monitor.watched->board, step, scalars, count, &error) !=
        VIT_OK)
        vit_monitor_failed(run, &error);
}

static void put_point(vit_run *run, const vit_point *p) {
    const vit_scalar scalars[] = {{"loss/train", p->loss},
                                  {"lr", p->lr},
                                  {"gradient_norm", p->grad_norm},
                                  {"images_per_second", p->rate}};
    put_scalars(run, p->step, scalars, sizeof scalars / sizeof *scalars);
}

/* ---- the report ---- */

static vit_shown_weights shown_weights(const vit_run *run) {
    return (vit_shown_weights){&run->preset.config, vit_trainer_get(run->trainer).table,
                               vit_run_weights(run)};
}

/* The answers that are shown: those of the test pictures, logits [test.count][classes]; or with
 * logits NULL those of the validation pictures, as last measured. `which` names them. */
static vit_answers answers_of(const vit_run *run, const float *logits, char which[80]) {
    const vit_dataset *d = &run->data;
    vit_answers a = {.which = which,
                     .data = d,
                     .records = &d->test,
                     .count = d->test.count,
                     .classes = run->preset.config.classes,
                     .logits = logits,
                     .temperature =
                         run->validation.temperature > 0 ? run->validation.temperature : 1};
    if (logits) {
        snprintf(which, 80, "the test pictures");
        return a;
    }
    a.logits = run->monitor.logits;
    a.records = vit_loader_val_records(&run->loader);
    a.numbers = run->loader.val;
    a.count = run->monitor.answered > 0 ? run->loader.val_count : 0;
    snprintf(which, 80, "the validation set, after step %llu,",
             (unsigned long long)run->monitor.answered);
    return a;
}

static vit_report report_of(const vit_run *run, vit_report_state state) {
    return (vit_report){
        .preset = run->preset.name,
        .data = run->data.name,
        .state = state,
        .facts = vit_monitor_facts(run, state == VIT_REPORT_DONE),
        .parameters = vit_trainer_get(run->trainer).table->parameters,
        .batch = run->preset.recipe.batch,
        .step = vit_run_step(run),
        .test_top1 = NAN,
        .labels = run->data.labels,
        .curves = &run->monitor.curves,
    };
}

static void write_report(vit_run *run, const vit_report *report, const vit_answers *answers) {
    const vit_shown_weights weights = shown_weights(run);
    vit_report whole = *report;
    vit_error error;
    if (!run->options->report || !vit_run_writes(run)) return;
    if (run->monitor.failed.status != VIT_OK) return;
    whole.answers = answers;
    whole.weights = &weights;
    if (vit_report_write(run->options->report, &whole, &error) != VIT_OK)
        vit_monitor_failed(run, &error);
    run->monitor.watched->written = vit_clock();
}

/* ---- event files: pictures ---- */

static vit_status put_sheet(vit_run *run, const char *tag, const vit_sheet *sheet,
                            vit_error *error) {
    if (!sheet->png.data) return VIT_OK;
    return vit_tensorboard_image(run->monitor.watched->board, vit_run_step(run), tag, sheet->width,
                                 sheet->height, sheet->channels, sheet->png.data, sheet->png.size,
                                 error);
}

/* The first layer's filters, and the pictures whose wrong answers are the surest. */
static void put_pictures(vit_run *run, const vit_answers *answers) {
    const vit_shown_weights weights = shown_weights(run);
    vit_filters filters = {0};
    vit_sheet worst = {0};
    vit_error error;
    if (!run->monitor.watched->board || run->monitor.failed.status != VIT_OK) return;
    vit_status status = vit_filters_new(&filters, &weights, &error);
    if (status == VIT_OK) status = put_sheet(run, "filters", &filters.sheet, &error);
    if (status == VIT_OK) status = vit_answers_sheet(&worst, answers, &error);
    if (status == VIT_OK) status = put_sheet(run, "most_wrong", &worst, &error);
    vit_free(filters.sheet.png.data);
    vit_free(worst.png.data);
    if (status != VIT_OK) vit_monitor_failed(run, &error);
}

/* ---- the end of an epoch, and of the training ---- */

static void watch_epoch(vit_run *run, const vit_epoch_point *point) {
    struct vit_watched *s = run->monitor.watched;
    char which[80];
    const vit_scalar scalars[] = {{"accuracy/val", point->val_top1},
                                  {"accuracy/train", point->train_top1},
                                  {"loss/val", point->val_loss}};
    put_scalars(run, point->step, scalars, sizeof scalars / sizeof *scalars);
    const vit_answers answers = answers_of(run, NULL, which);
    const uint64_t tenth = point->step * 10 / run->plan.schedule;
    if (tenth > s->tenth && point->step < run->plan.steps) {
        s->tenth = tenth;
        put_pictures(run, &answers);
    }
    if (vit_clock() - s->written > SECONDS_BETWEEN_REPORTS && point->step < run->plan.steps) {
        vit_report report = report_of(run, VIT_REPORT_RUNNING);
        write_report(run, &report, &answers);
    }
}

static void watch_stop(vit_run *run) {
    char which[80];
    const vit_answers answers = answers_of(run, NULL, which);
    vit_report report = report_of(run, VIT_REPORT_STOPPED);
    write_report(run, &report, &answers);
}

static void watch_end(vit_run *run, const float *logits, double top1, double loss) {
    char which[80];
    const vit_answers answers = answers_of(run, logits, which);
    const vit_scalar scalars[] = {{"accuracy/test", top1}, {"loss/test", loss}};
    vit_report report = report_of(
        run, vit_run_step(run) == run->plan.schedule ? VIT_REPORT_DONE : VIT_REPORT_STOPPED);
    report.facts.is_over = true;
    report.test_top1 = top1;
    put_scalars(run, vit_run_step(run), scalars, sizeof scalars / sizeof *scalars);
    put_pictures(run, &answers);
    write_report(run, &report, &answers);
}

/* ---- opening ---- */

/* Checks that the report can be written; resumed, takes its curves over. */
static vit_status open_report(vit_run *run, vit_error *error) {
    const char *path = run->options->report;
    vit_writer *writer;
    vit_status status = vit_report_check(path, error);
    if (status != VIT_OK) return status;
    if (run->options->resume && vit_run_step(run) > 0) {
        vit_error why;
        if (vit_report_read_curves(&run->monitor.curves, path, vit_run_step(run),
                                   run->plan.schedule, &why) != VIT_OK)
            vit_run_note(run, "the curves begin anew: %s", why.message);
    }
    status = vit_writer_open(&writer, path, error);
    if (status == VIT_OK) vit_writer_abort(writer);
    return status;
}

static vit_status watch_open(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    struct vit_watched *s = vit_alloc(1, sizeof *s);
    if (!s) return vit_fail_memory(error, "a report", sizeof *s);
    run->monitor.watched = s;
    s->tenth = vit_run_step(run) * 10 / run->plan.schedule;
    if (!vit_run_writes(run)) return VIT_OK;
    vit_status status = o->report ? open_report(run, error) : VIT_OK;
    if (status == VIT_OK && o->tensorboard)
        status = vit_tensorboard_open(&s->board, o->tensorboard, vit_run_step(run) + 1, error);
    return status;
}

static void watch_close(vit_run *run) {
    vit_error error;
    struct vit_watched *s = run->monitor.watched;
    if (s && vit_tensorboard_close(s->board, &error) != VIT_OK) vit_monitor_failed(run, &error);
    vit_free(s);
    run->monitor.watched = NULL;
}

const vit_watcher vit_report_watcher = {.open = watch_open,
                                        .point = put_point,
                                        .epoch = watch_epoch,
                                        .stop = watch_stop,
                                        .end = watch_end,
                                        .close = watch_close};
