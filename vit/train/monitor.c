#include "vit/train/monitor.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/train/measure/score.h"
#include "vit/train/run.h"

#include <math.h>
#include <stdio.h>

#define SECONDS_BETWEEN_REPORTS 5
#define SCORE_BATCH 512
#define SAMPLE 1000 /* training pictures that are classified after an epoch, at most */

/* A file that cannot be written does not end the training: a note says so once, and the training
 * fails for it at its end. */
static void failed(vit_run *run, const vit_error *why) {
    if (run->monitor.failed.status != VIT_OK) return;
    run->monitor.failed = *why;
    vit_run_note(run, "%s; the training goes on without it", why->message);
}

static void put_scalars(vit_run *run, uint64_t step, const vit_scalar *scalars, size_t count) {
    vit_error error;
    if (!run->monitor.board || run->monitor.failed.status != VIT_OK) return;
    if (vit_tensorboard_scalars(run->monitor.board, step, scalars, count, &error) != VIT_OK)
        failed(run, &error);
}

/* ---- steps ---- */

/* Tells of the newest point of the curves, and puts it into the event files. */
static void put_point(vit_run *run) {
    const vit_training_curves *c = &run->monitor.curves;
    const vit_point *p = &c->points[c->point_count - 1];
    vit_event event = vit_run_event(run, VIT_EVENT_POINT);
    event.loss = p->loss;
    event.lr = p->lr;
    event.grad_norm = p->grad_norm;
    event.images_per_second = p->rate;
    event.mean_over = p->steps;
    event.val_top1 = event.val_loss = NAN; /* of an earlier step */
    if (!vit_run_emit(run, &event)) run->stop_asked = true;
    const vit_scalar scalars[] = {{"loss/train", p->loss},
                                  {"lr", p->lr},
                                  {"gradient_norm", p->grad_norm},
                                  {"images_per_second", p->rate}};
    put_scalars(run, p->step, scalars, sizeof scalars / sizeof *scalars);
}

void vit_monitor_step(vit_run *run, double loss, double lr, double seconds) {
    bool complete;
    vit_error error;
    if (vit_training_curves_step(
            &run->monitor.curves, vit_run_step(run), loss, lr, vit_trainer_last(run->trainer).norm,
            (double)run->preset.recipe.batch, seconds, &complete, &error) != VIT_OK)
        failed(run, &error);
    else if (complete)
        put_point(run);
}

/* Completes the last point, which may be a mean over fewer steps. */
static void flush(vit_run *run) {
    bool complete;
    vit_error error;
    if (vit_training_curves_flush(&run->monitor.curves, vit_run_step(run), &complete, &error) !=
        VIT_OK)
        failed(run, &error);
    else if (complete)
        put_point(run);
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

/* What advice need not say again. */
static vit_choices choices_of(const vit_run *run) {
    const vit_train_options *o = run->options;
    const vit_recipe *r = &run->preset.recipe;
    return (vit_choices){.known = true,
                         .from_model = o->init != NULL,
                         .freezes = r->freeze > 0,
                         .preset = o->preset != NULL,
                         .keeps_best = o->keep_best,
                         .balances = r->balance,
                         .own_val = run->data.val.count > 0,
                         .flip_suits = !run->data.has_characters && !run->data.is_digits,
                         .flips = r->augment.flip,
                         .rotates = r->augment.rotate > 0 || r->policy != VIT_POLICY_NONE,
                         .crops = r->augment.crop > 0,
                         .mixup = r->mixup,
                         .cutmix = r->cutmix,
                         .drop_path = r->drop_path,
                         .weight_decay = r->weight_decay};
}

static vit_report report_of(const vit_run *run, vit_report_state state) {
    double majority;
    vit_run_largest_class(&majority, vit_loader_val_records(&run->loader), run->loader.val,
                          run->loader.val_count, run->preset.config.classes);
    return (vit_report){
        .preset = run->preset.name,
        .data = run->data.name,
        .state = state,
        .facts = {.choices = choices_of(run),
                  .classes = run->preset.config.classes,
                  .train_images = run->loader.train_count,
                  .val_images = run->loader.val_count,
                  .majority = majority,
                  .sample = vit_monitor_sample(run),
                  .steps = run->plan.schedule,
                  .epochs = vit_run_epochs(run, run->plan.schedule),
                  .lr = run->preset.recipe.lr,
                  .is_over = state == VIT_REPORT_DONE},
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
    if (vit_report_write(run->options->report, &whole, &error) != VIT_OK) failed(run, &error);
    run->monitor.written = vit_clock();
}

/* ---- event files: pictures ---- */

static vit_status put_sheet(vit_run *run, const char *tag, const vit_sheet *sheet,
                            vit_error *error) {
    if (!sheet->png.data) return VIT_OK;
    return vit_tensorboard_image(run->monitor.board, vit_run_step(run), tag, sheet->width,
                                 sheet->height, sheet->channels, sheet->png.data, sheet->png.size,
                                 error);
}

/* The first layer's filters, and the pictures whose wrong answers are the surest. */
static void put_pictures(vit_run *run, const vit_answers *answers) {
    const vit_shown_weights weights = shown_weights(run);
    vit_filters filters = {0};
    vit_sheet worst = {0};
    vit_error error;
    if (!run->monitor.board || run->monitor.failed.status != VIT_OK) return;
    vit_status status = vit_filters_new(&filters, &weights, &error);
    if (status == VIT_OK) status = put_sheet(run, "filters", &filters.sheet, &error);
    if (status == VIT_OK) status = vit_answers_sheet(&worst, answers, &error);
    if (status == VIT_OK) status = put_sheet(run, "most_wrong", &worst, &error);
    vit_free(filters.sheet.png.data);
    vit_free(worst.png.data);
    if (status != VIT_OK) failed(run, &error);
}

/* ---- hints ---- */

#define LEAST_EPOCHS 3 /* that must be measured before there is a hint */
#define MOST_REMEDIES 3

static void hint(vit_run *run, const vit_advice *advice) {
    vit_run_note(run, "%s. %s", vit_finding_name(advice->finding), advice->why);
    for (size_t i = 0; i < MOST_REMEDIES && i < advice->try_count; i++) {
        vit_string text = {0};
        for (const char *c = advice->tries[i]; *c; c++)
            if (*c != '`') vit_string_add_bytes(&text, c, 1);
        if (!text.failed) vit_run_note(run, "to try: %s", text.text);
        vit_string_free(&text);
    }
}

/* --minutes has left fewer epochs than the preset has. That it could be better then is no news. */
static bool is_cut_short(const vit_run *run) {
    return run->options->minutes > 0 &&
           vit_run_epochs(run, run->plan.schedule) < run->preset.recipe.epochs;
}

static bool is_told(const vit_run *run, vit_finding finding) {
    switch (finding) {
    case VIT_FINDING_OVERFITTING:
        return true;
    case VIT_FINDING_UNDERFITTING:
    case VIT_FINDING_SHORT:
        return !is_cut_short(run);
    case VIT_FINDING_STUCK:
    case VIT_FINDING_FEW:
    case VIT_FINDING_FINE:
    case VIT_FINDING_COUNT:
        break;
    }
    return false;
}

/* Names overfitting, underfitting and too short a training, each once. A training that has learnt
 * nothing at all is for divergence.c to tell. */
static void give_hints(vit_run *run, bool is_over) {
    vit_advice advice[VIT_FINDING_COUNT];
    vit_facts facts = report_of(run, VIT_REPORT_RUNNING).facts;
    facts.is_over = is_over;
    if (run->monitor.curves.epoch_count < LEAST_EPOCHS) return;
    const size_t count = vit_advise(advice, &facts, &run->monitor.curves);
    for (size_t i = 0; i < count; i++) {
        const vit_finding finding = advice[i].finding;
        if (!is_told(run, finding) || run->monitor.hinted & 1U << finding) continue;
        run->monitor.hinted |= 1U << finding;
        hint(run, &advice[i]);
    }
}

/* ---- the end of an epoch, and of the training ---- */

size_t vit_monitor_sample(const vit_run *run) {
    const size_t val = run->loader.val_count, count = run->monitor.wanted ? SAMPLE : 0;
    return vit_min(run->loader.train_count, val > 0 ? vit_min(val, SAMPLE) : count);
}

/* Accuracy and loss on training pictures as they are, without the augmentation, smoothing and
 * mixing that the training loss includes. loader.train is in random order, so its first pictures
 * are a sample. */
static vit_status score_sample(vit_epoch_point *point, vit_run *run, vit_error *error) {
    const size_t count = vit_monitor_sample(run);
    vit_score score = {.cluster = run->options->cluster};
    vit_trainer_settle(run->trainer);
    const vit_status status =
        vit_score_records(&score, run->inference, &run->preset.config, &run->data, &run->data.train,
                          run->loader.train, count, run->loader.table, SCORE_BATCH, error);
    point->train_top1 = (double)score.correct / (double)count;
    point->train_loss = score.loss;
    return status;
}

vit_status vit_monitor_epoch(vit_run *run, vit_error *error) {
    vit_monitor *s = &run->monitor;
    vit_epoch_point point = {vit_run_step(run), run->validation.top1, run->validation.loss, NAN,
                             NAN};
    char which[80];
    vit_error why;
    if (vit_monitor_sample(run) == 0) return VIT_OK;
    if (run->loader.val_count > 0 && s->logits) s->answered = point.step;
    const vit_status status = score_sample(&point, run, error);
    if (status != VIT_OK) return status;
    if (vit_training_curves_epoch(&s->curves, point, &why) != VIT_OK) failed(run, &why);
    give_hints(run, false);
    if (!s->wanted) return VIT_OK;
    const vit_scalar scalars[] = {{"accuracy/val", point.val_top1},
                                  {"accuracy/train", point.train_top1},
                                  {"loss/val", point.val_loss}};
    put_scalars(run, point.step, scalars, sizeof scalars / sizeof *scalars);
    const vit_answers answers = answers_of(run, NULL, which);
    const uint64_t tenth = point.step * 10 / run->plan.schedule;
    if (tenth > s->tenth && point.step < run->plan.steps) {
        s->tenth = tenth;
        put_pictures(run, &answers);
    }
    if (vit_clock() - s->written > SECONDS_BETWEEN_REPORTS && point.step < run->plan.steps) {
        vit_report report = report_of(run, VIT_REPORT_RUNNING);
        write_report(run, &report, &answers);
    }
    return VIT_OK;
}

void vit_monitor_stop(vit_run *run) {
    char which[80];
    flush(run);
    if (!run->monitor.wanted) return;
    const vit_answers answers = answers_of(run, NULL, which);
    vit_report report = report_of(run, VIT_REPORT_STOPPED);
    write_report(run, &report, &answers);
}

void vit_monitor_end(vit_run *run, const float *logits, double top1, double loss) {
    char which[80];
    give_hints(run, true);
    flush(run);
    if (!run->monitor.wanted) return;
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

vit_status vit_monitor_open(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    vit_monitor *s = &run->monitor;
    const size_t count = run->loader.val_count, classes = run->preset.config.classes;
    s->wanted = o->report || o->tensorboard;
    vit_training_curves_start(&s->curves, run->plan.schedule);
    if (!s->wanted) return VIT_OK;
    s->tenth = vit_run_step(run) * 10 / run->plan.schedule;
    s->answers = run->data.target_vocabulary.count == 0;
    if (s->answers) s->logits = vit_alloc(count, classes * sizeof *s->logits);
    if (s->answers && !s->logits)
        return vit_fail_memory(error, "the answers of a report", count * classes * sizeof(float));
    if (!vit_run_writes(run)) return VIT_OK;
    vit_status status = o->report ? open_report(run, error) : VIT_OK;
    if (status == VIT_OK && o->tensorboard)
        status = vit_tensorboard_open(&s->board, o->tensorboard, vit_run_step(run) + 1, error);
    return status;
}

void vit_monitor_close(vit_run *run) {
    vit_error error;
    if (vit_tensorboard_close(run->monitor.board, &error) != VIT_OK) failed(run, &error);
    run->monitor.board = NULL;
    vit_training_curves_free(&run->monitor.curves);
    vit_free(run->monitor.logits);
    run->monitor.logits = NULL;
}
