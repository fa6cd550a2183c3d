#include "vit/train/monitor.h"
#include "vit/base/guests.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/train/measure/score.h"
#include "vit/train/run.h"

#include <math.h>

#define SCORE_BATCH 512
#define SAMPLE 1000 /* training pictures that are classified after an epoch, at most */

/* A file that cannot be written does not end the training: a note says so once, and the training
 * fails for it at its end. */
void vit_monitor_failed(vit_run *run, const vit_error *why) {
    if (run->monitor.failed.status != VIT_OK) return;
    run->monitor.failed = *why;
    vit_run_note(run, "%s; the training goes on without it", why->message);
}

/* ---- steps ---- */

/* Tells of the newest point of the curves. */
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
    if (run->monitor.watcher) run->monitor.watcher->point(run, p);
}

void vit_monitor_step(vit_run *run, double loss, double lr, double seconds) {
    bool complete;
    vit_error error;
    if (vit_training_curves_step(
            &run->monitor.curves, vit_run_step(run), loss, lr, vit_trainer_last(run->trainer).norm,
            (double)run->preset.recipe.batch, seconds, &complete, &error) != VIT_OK)
        vit_monitor_failed(run, &error);
    else if (complete)
        put_point(run);
}

/* Completes the last point, which may be a mean over fewer steps. */
static void flush(vit_run *run) {
    bool complete;
    vit_error error;
    if (vit_training_curves_flush(&run->monitor.curves, vit_run_step(run), &complete, &error) !=
        VIT_OK)
        vit_monitor_failed(run, &error);
    else if (complete)
        put_point(run);
}

/* ---- hints ---- */

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

vit_facts vit_monitor_facts(const vit_run *run, bool is_over) {
    double majority;
    vit_run_largest_class(&majority, vit_loader_val_records(&run->loader), run->loader.val,
                          run->loader.val_count, run->preset.config.classes);
    return (vit_facts){.choices = choices_of(run),
                       .classes = run->preset.config.classes,
                       .train_images = run->loader.train_count,
                       .val_images = run->loader.val_count,
                       .majority = majority,
                       .sample = vit_monitor_sample(run),
                       .steps = run->plan.schedule,
                       .epochs = vit_run_epochs(run, run->plan.schedule),
                       .lr = run->preset.recipe.lr,
                       .is_over = is_over};
}

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
    const vit_facts facts = vit_monitor_facts(run, is_over);
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
    const size_t val = run->loader.val_count, count = run->monitor.watcher ? SAMPLE : 0;
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
    vit_error why;
    if (vit_monitor_sample(run) == 0) return VIT_OK;
    if (run->loader.val_count > 0 && s->logits) s->answered = point.step;
    const vit_status status = score_sample(&point, run, error);
    if (status != VIT_OK) return status;
    if (vit_training_curves_epoch(&s->curves, point, &why) != VIT_OK) vit_monitor_failed(run, &why);
    give_hints(run, false);
    if (s->watcher) s->watcher->epoch(run, &point);
    return VIT_OK;
}

void vit_monitor_stop(vit_run *run) {
    flush(run);
    if (run->monitor.watcher) run->monitor.watcher->stop(run);
}

void vit_monitor_end(vit_run *run, const float *logits, double top1, double loss) {
    give_hints(run, true);
    flush(run);
    if (run->monitor.watcher) run->monitor.watcher->end(run, logits, top1, loss);
}

/* ---- opening ---- */

vit_status vit_monitor_open(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    vit_monitor *s = &run->monitor;
    const size_t count = run->loader.val_count, classes = run->preset.config.classes;
    char guest[VIT_GUEST_TEXT];
    const bool wanted = o->report || o->tensorboard;
    vit_training_curves_start(&s->curves, run->plan.schedule);
    if (!wanted) return VIT_OK;
    if (!vit_run_watcher)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED, "no page and no event files are written%s",
                        vit_guests_for(guest, "vit_run_watcher"));
    s->watcher = vit_run_watcher;
    s->answers = run->data.target_vocabulary.count == 0;
    if (s->answers) s->logits = vit_alloc(count, classes * sizeof *s->logits);
    if (s->answers && !s->logits)
        return vit_fail_memory(error, "the answers of a report", count * classes * sizeof(float));
    return s->watcher->open(run, error);
}

void vit_monitor_close(vit_run *run) {
    if (run->monitor.watcher) run->monitor.watcher->close(run);
    run->monitor.watcher = NULL;
    vit_training_curves_free(&run->monitor.curves);
    vit_free(run->monitor.logits);
    run->monitor.logits = NULL;
}
