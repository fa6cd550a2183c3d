/* The loop over steps and epochs: events, accuracy on the validation pictures, checkpoints. */
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/train/measure/score.h"
#include "vit/train/run.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_BETWEEN_EVENTS 0.2
#define SCORE_BATCH 512
#define DEFAULT_SAVE_MINUTES 10

vit_run vit_run_begin(const vit_train_options *options) {
    return (vit_run){
        .options = options, .pace.started = vit_clock(), .validation = {.top1 = NAN, .loss = NAN}};
}

static void add_to(vit_mean *mean, double value) {
    mean->sum += value;
    mean->count++;
}

static double mean_of(const vit_mean *mean) {
    return mean->sum / (double)mean->count;
}

vit_identity vit_run_identity(const vit_run *run) {
    return (vit_identity){.preset = &run->preset,
                          .data = VIT_DATASET_IDENTITY(&run->data),
                          .init = run->start.sha256,
                          .teacher = run->teacher.sha256,
                          .classes = {run->data.labels, run->data.classes},
                          .seed = run->options->seed,
                          .schedule = run->plan.schedule};
}

/* ---- events ---- */

uint64_t vit_run_step(const vit_run *run) {
    return vit_trainer_steps(run->trainer);
}

static double learning_rate(const vit_run *run, uint64_t step) {
    return vit_recipe_learning_rate(&run->preset.recipe, step, run->plan.schedule);
}

vit_event vit_run_event(const vit_run *run, vit_event_kind kind) {
    const uint64_t step = vit_run_step(run);
    const double batch = (double)run->preset.recipe.batch;
    const bool talks = run->options->cluster && run->pace.steps > 0;
    const double per_step = run->pace.steps > 0 ? run->pace.seconds / (double)run->pace.steps : NAN;
    return (vit_event){
        .kind = kind,
        .preset = run->preset.name,
        .data = run->data.name,
        .classes_from = run->data.class_source,
        .parameters = vit_trainer_get(run->trainer).table->parameters,
        .train_images = run->loader.train_count,
        .val_images = run->loader.val_count,
        .batch = run->preset.recipe.batch,
        .from_pictures = vit_config_takes_pictures(&run->preset.config),
        .to_texts = vit_config_has_decoder(&run->preset.config),
        .step = step,
        .steps = run->plan.schedule,
        .epoch = vit_run_epochs(run, step),
        .epochs = vit_run_epochs(run, run->plan.schedule),
        .loss = NAN,
        .grad_norm = NAN,
        .lr = step > 0 ? learning_rate(run, step - 1) : 0,
        .val_top1 = run->validation.top1,
        .val_loss = run->validation.loss,
        .test_top1 = NAN,
        .images_per_second = batch / per_step,
        .step_sent = talks ? run->pace.sent / (double)run->pace.steps : NAN,
        .step_received = talks ? run->pace.received / (double)run->pace.steps : NAN,
        .communication = talks ? run->pace.talked / run->pace.seconds : NAN,
        .overlap = talks && run->pace.sent > 0 ? run->pace.beside / run->pace.sent : NAN,
        .seconds = vit_clock() - run->pace.started,
        .seconds_left = run->plan.steps > step ? per_step * (double)(run->plan.steps - step) : 0};
}

bool vit_run_emit(const vit_run *run, const vit_event *event) {
    return !run->options->callback || run->options->callback(event, run->options->user);
}

void vit_run_note(const vit_run *run, const char *format, ...) {
    char text[1100]; /* a note of a data set contains an error's message */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    vit_event event = vit_run_event(run, VIT_EVENT_NOTE);
    event.text = text;
    vit_run_emit(run, &event);
}

/* ---- the end of an epoch ---- */

static vit_status measure_validation(vit_run *run, vit_error *error) {
    vit_score score = {.logits = run->monitor.logits, .cluster = run->options->cluster};
    if (run->loader.val_count == 0) return VIT_OK;
    vit_trainer_settle(run->trainer);
    const vit_status status =
        vit_score_records(&score, run->inference, &run->preset.config, &run->data,
                          vit_loader_val_records(&run->loader), run->loader.val,
                          run->loader.val_count, run->loader.table, SCORE_BATCH, error);
    if (status != VIT_OK) return status;
    run->validation.top1 = (double)score.correct / (double)run->loader.val_count;
    run->validation.loss = score.loss;
    return vit_run_check_validation(run, error);
}

static vit_status keep_if_best(vit_run *run, vit_error *error) {
    vit_history *h = &run->history;
    if (run->loader.val_count == 0) return VIT_OK;
    /* After a step that was skipped no checkpoint is saved, so there would be no way back to it. */
    const bool better =
        vit_run_is_healthy(run) &&
        (h->best_step == 0 || run->validation.top1 > h->best_top1 ||
         (!(run->validation.top1 < h->best_top1) && run->validation.loss < h->best_loss));
    h->stale = better ? 0 : h->stale + 1;
    if (!better) return VIT_OK;
    h->best_step = (size_t)vit_run_step(run);
    h->best_top1 = run->validation.top1;
    h->best_loss = run->validation.loss;
    if (!run->options->keep_best) return VIT_OK;
    const size_t size = vit_trainer_get(run->trainer).table->size;
    if (!run->saving.best) run->saving.best = vit_alloc_unset(size, sizeof(float));
    if (!run->saving.best) return vit_fail_memory(error, "the best weights", size * sizeof(float));
    memcpy(run->saving.best, vit_run_weights(run), size * sizeof(float));
    return VIT_OK;
}

/* Ends the training if the accuracy on the validation pictures has not improved for `patience`
 * epochs. */
static void stop_early(vit_run *run) {
    const size_t patience = run->options->patience;
    const uint64_t step = vit_run_step(run);
    if (patience == 0 || run->history.stale < patience || step >= run->plan.steps) return;
    run->plan.steps = step;
    vit_run_note(run,
                 "not better on the validation set for %zu epochs, best after step %zu: "
                 "stopping at step %llu of %llu",
                 run->history.stale, run->history.best_step, (unsigned long long)step,
                 (unsigned long long)run->plan.schedule);
}

static vit_status save_into(vit_run *run, vit_checkpoints *c, vit_error *error) {
    vit_identity identity = vit_run_identity(run);
    vit_model_file model;
    char *path;
    run->saving.tried = vit_clock();
    vit_status status = vit_run_describe(&model, run, error);
    identity.model = &model;
    if (status == VIT_OK)
        status = vit_checkpoints_save(&path, c, run->trainer, &identity, &run->history, error);
    vit_model_file_clear(&model);
    if (status != VIT_OK) return status;
    vit_event event = vit_run_event(run, VIT_EVENT_CHECKPOINT);
    event.path = path;
    vit_run_emit(run, &event);
    vit_free(path);
    return VIT_OK;
}

/* Of several ranks, the first one writes, and all return what became of it. */
static vit_status save(vit_run *run, vit_error *error) {
    if (!run->options->checkpoint || run->saving.step == vit_run_step(run)) return VIT_OK;
    vit_status status = vit_trainer_gather(run->trainer, error);
    if (status != VIT_OK) return status;
    if (vit_run_writes(run)) status = save_into(run, &run->saving.checkpoints, error);
    vit_trainer_drop(run->trainer);
    status = vit_cluster_follow(run->options->cluster, status, error);
    if (status == VIT_OK) run->saving.step = vit_run_step(run);
    return status;
}

/* Saves into directory `name`, or the first of name-2, name-3, ... that holds no checkpoint. */
static vit_status save_into_free(vit_run *run, const char *name, vit_error *error) {
    vit_status status = VIT_OK;
    bool free_one = false;
    for (int i = 1; i < 1000 && !free_one && status == VIT_OK; i++) {
        vit_string path = {0};
        vit_checkpoints c = {.lock = -1};
        vit_error taken;
        bool exists;
        vit_string_add(&path, "%s", name);
        if (i > 1) vit_string_add(&path, "-%d", i);
        status = path.failed ? vit_fail_memory(error, name, strlen(name))
                             : vit_path_exists(&exists, path.text, error);
        if (status == VIT_OK && vit_checkpoints_open(&c, path.text, &taken) == VIT_OK)
            free_one = c.count == 0 && !c.has_old;
        else if (status == VIT_OK && !exists)
            status = vit_fail(error, taken.status, "%s", taken.message);
        if (status == VIT_OK && free_one) status = save_into(run, &c, error);
        vit_checkpoints_close(&c);
        vit_string_free(&path);
    }
    if (status != VIT_OK || free_one) return status;
    return vit_fail(error, VIT_ERROR_IO, "%s, %s-2, ... all hold something", name, name);
}

/* A checkpoint that cannot be written does not end the training: there may be space on the disk
 * when the next one is due. */
static void try_to_save(vit_run *run) {
    vit_error *error = &run->saving.failed;
    error->status = save(run, error);
    if (error->status == VIT_OK || vit_run_step(run) == run->plan.steps) return;
    vit_run_note(run, "%s; the training goes on and saves again after the next epoch",
                 error->message);
}

/* The callback asked to stop: saves a checkpoint, in options->rescue if there is no directory for
 * checkpoints or none that can be written, and returns CANCELLED. */
static vit_status stop(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    vit_status status = save(run, error);
    if (o->rescue && (!o->checkpoint || status != VIT_OK)) {
        if (status != VIT_OK) vit_run_note(run, "%s", error->message);
        status = vit_trainer_gather(run->trainer, error);
        if (status == VIT_OK && vit_run_writes(run)) status = save_into_free(run, o->rescue, error);
    }
    vit_monitor_stop(run);
    if (status == VIT_OK)
        status =
            vit_fail(error, VIT_ERROR_CANCELLED, "training was stopped after step %llu of %llu",
                     (unsigned long long)vit_run_step(run), (unsigned long long)run->plan.schedule);
    return vit_cluster_agree(o->cluster, status, error);
}

/* A callback asked to stop. Several ranks do so together, when the next step has told them. */
static vit_status ask_to_stop(vit_run *run, vit_error *error) {
    if (!run->options->cluster) return stop(run, error);
    run->stop_asked = true;
    return VIT_OK;
}

/* Whether the last of `steps` steps completed a pass over the training pictures. */
static bool ends_pass(const vit_run *run, uint64_t steps) {
    const uint64_t batch = run->preset.recipe.batch, pictures = run->loader.train_count;
    return steps == run->plan.schedule ||
           steps * batch / pictures != (steps - 1) * batch / pictures;
}

/* A run that ends within a pass is measured there, too, but its checkpoint is saved before that:
 * so a training that is resumed from it equals one that never stopped. */
static vit_status end_epoch(vit_run *run, vit_error *error) {
    vit_history *h = &run->history;
    if (!ends_pass(run, vit_run_step(run))) try_to_save(run);
    vit_status status = measure_validation(run, error);
    if (status == VIT_OK) status = keep_if_best(run, error);
    if (status == VIT_OK) status = vit_monitor_epoch(run, error);
    if (status != VIT_OK) return status;
    vit_event event = vit_run_event(run, VIT_EVENT_EPOCH);
    event.loss = h->loss_sum / (double)h->loss_steps;
    event.grad_norm = mean_of(&run->pace.epoch_norm);
    h->loss_sum = 0;
    h->loss_steps = 0;
    run->pace.epoch_norm = (vit_mean){0};
    if (!vit_run_emit(run, &event)) {
        const vit_status stopped = ask_to_stop(run, error);
        if (stopped != VIT_OK) return stopped;
    }
    stop_early(run);
    if (vit_run_is_healthy(run) || vit_run_step(run) == run->plan.steps) try_to_save(run);
    return VIT_OK;
}

/* ---- steps ---- */

static bool save_is_due(const vit_run *run) {
    const double minutes = run->options->save_minutes;
    return run->options->checkpoint &&
           vit_clock() - run->saving.tried > 60 * (minutes > 0 ? minutes : DEFAULT_SAVE_MINUTES);
}

/* Whether this rank has this to say. */
static bool is_due(const vit_run *run, vit_word word) {
    switch (word) {
    case VIT_WORD_STOP:
        return run->stop_asked;
    case VIT_WORD_SAVE:
        return vit_run_writes(run) && save_is_due(run);
    case VIT_WORD_LATE:
        return vit_run_writes(run) && vit_clock() > run->plan.deadline;
    case VIT_WORDS:
        break;
    }
    return false;
}

/* What is due, and what this rank says of it in the next step. */
static unsigned words(const vit_run *run) {
    unsigned said = 0;
    for (vit_word word = 0; word < VIT_WORDS; word++) said |= (unsigned)is_due(run, word) << word;
    return said;
}

/* Adds what went over the wire since `before`. */
static void count_traffic(vit_run *run, const vit_traffic *before) {
    const vit_traffic now = vit_cluster_traffic(run->options->cluster);
    run->pace.sent += (double)(now.sent - before->sent);
    run->pace.received += (double)(now.received - before->received);
    run->pace.beside += (double)(now.beside - before->beside);
    run->pace.talked += now.seconds - before->seconds;
}

static vit_status one_step(vit_run *run, uint64_t step, vit_error *error) {
    const double start = vit_clock();
    const vit_traffic before = vit_cluster_traffic(run->options->cluster);
    vit_trainer_say(run->trainer, words(run));
    vit_loader_prepare(&run->loader, step);
    double loss;
    vit_trainer_limit(run->trainer, vit_run_norm_limit(run));
    vit_status status = vit_trainer_step(run->trainer, &loss, learning_rate(run, step),
                                         vit_loader_source, &run->loader, error);
    if (status != VIT_OK) return status;
    const double seconds = vit_clock() - start, norm = vit_trainer_last(run->trainer).norm;
    run->pace.seconds += seconds;
    run->pace.steps++;
    count_traffic(run, &before);
    status = vit_run_check_step(run, loss, error);
    if (status != VIT_OK || vit_trainer_last(run->trainer).skipped) return status;
    vit_monitor_step(run, loss, learning_rate(run, step), seconds);
    add_to(&run->pace.event_norm, norm);
    add_to(&run->pace.epoch_norm, norm);
    add_to(&run->pace.event_loss, loss);
    run->history.loss_sum += loss;
    run->history.loss_steps++;
    return VIT_OK;
}

/* Emits a STEP event if enough time has passed, and after the last step. False: stop. */
static bool report_step(vit_run *run) {
    const double now = vit_clock();
    if (now - run->pace.last_event < SECONDS_BETWEEN_EVENTS && vit_run_step(run) < run->plan.steps)
        return true;
    vit_event event = vit_run_event(run, VIT_EVENT_STEP);
    event.loss = mean_of(&run->pace.event_loss);
    event.grad_norm = mean_of(&run->pace.event_norm);
    run->pace.event_loss = run->pace.event_norm = (vit_mean){0};
    run->pace.last_event = now;
    return vit_run_emit(run, &event);
}

static vit_status run_steps(vit_run *run, vit_error *error) {
    vit_loader_plan(&run->loader, run->plan.schedule);
    run->saving.tried = vit_clock();
    stop_early(run);
    for (uint64_t step = vit_run_step(run); step < run->plan.steps; step++) {
        vit_status status = one_step(run, step, error);
        if (status != VIT_OK) return status;
        const unsigned heard = run->options->cluster ? vit_trainer_heard(run->trainer) : words(run);
        if (heard >> VIT_WORD_LATE & 1 && step + 1 < run->plan.steps) {
            run->plan.steps = step + 1;
            vit_run_note(
                run,
                "out of time: stopping at step %llu of %llu, before the learning rate has "
                "fallen to its end; --steps %llu/%llu gives this model again",
                (unsigned long long)run->plan.steps, (unsigned long long)run->plan.schedule,
                (unsigned long long)run->plan.steps, (unsigned long long)run->plan.schedule);
        }
        if (step + 1 == run->plan.steps || ends_pass(run, step + 1))
            status = end_epoch(run, error);
        else if (heard >> VIT_WORD_SAVE & 1 && vit_run_is_healthy(run))
            try_to_save(run); /* no state of skipped steps */
        if (status == VIT_OK && heard >> VIT_WORD_STOP & 1 && step + 1 < run->plan.steps)
            status = stop(run, error);
        if (status == VIT_OK && !report_step(run)) status = ask_to_stop(run, error);
        if (status != VIT_OK) return status;
    }
    return VIT_OK;
}

/* ---- the whole training ---- */

/* A training that diverged leaves the best model so far, with keep_best, or points to its last good
 * checkpoint. *error says why it diverged; what is left is added to that. */
static vit_status end_diverged(vit_run *run, vit_error *error) {
    const vit_error why = *error;
    const vit_checkpoints *c = &run->saving.checkpoints;
    uint64_t good = 0;
    vit_monitor_stop(run);
    if (run->saving.best && vit_run_finish(run, NULL, error) == VIT_OK)
        return vit_fail(error, why.status, "%s; the model is that of step %zu, the best so far",
                        why.message, run->history.best_step);
    for (size_t i = 0; i < c->count; i++)
        if (!c->entries[i].stale && c->entries[i].step <= vit_run_step(run))
            good = c->entries[i].step;
    if (good == 0) return vit_fail(error, why.status, "%s; no model is written", why.message);
    return vit_fail(error, why.status,
                    "%s; no model is written; %s keeps the state of step %llu, of which --resume "
                    "with --steps %llu/%llu makes one",
                    why.message, c->directory, (unsigned long long)good, (unsigned long long)good,
                    (unsigned long long)run->plan.schedule);
}

/* Fails for what went wrong although the model was trained and written somewhere. */
static vit_status check_outcome(vit_run *run, vit_error *error) {
    const vit_status status = vit_run_check_learnt(run, error);
    const bool saved = run->saving.failed.status == VIT_OK,
               there = run->output.failed.status == VIT_OK;
    if (saved && there) return status;
    if (status != VIT_OK) vit_run_note(run, "%s", error->message);
    if (!saved && !there) vit_run_note(run, "%s", run->saving.failed.message);
    if (!there)
        return vit_fail(error, run->output.failed.status, "%s; the model is in %s instead",
                        run->output.failed.message, run->output.elsewhere);
    return vit_fail(error, run->saving.failed.status,
                    "%s; the model is complete, its checkpoint is of an earlier step or missing",
                    run->saving.failed.message);
}

static vit_status emit_start(vit_run *run, vit_error *error) {
    char *recipe = vit_run_recipe(run, run->plan.steps);
    char *network = vit_config_write(&run->preset.config);
    const vit_status status = recipe && network ? VIT_OK : vit_fail_memory(error, "the recipe", 0);
    vit_event event = vit_run_event(run, VIT_EVENT_START);
    event.recipe = recipe;
    event.network = network;
    if (status == VIT_OK) run->stop_asked = !vit_run_emit(run, &event);
    vit_free(recipe);
    vit_free(network);
    return status;
}

static vit_status train(vit_run *run, vit_model_file *model, vit_error *error) {
    vit_status status = vit_run_open(run, error);
    if (status == VIT_OK) status = emit_start(run, error);
    if (status != VIT_OK) return status;
    if (run->stop_asked && !run->options->cluster)
        return vit_fail(error, VIT_ERROR_CANCELLED, "training was stopped before its first step");
    status = run_steps(run, error);
    if (status != VIT_OK && !run->diverged) return status;
    if (status != VIT_OK)
        return vit_cluster_agree(run->options->cluster, end_diverged(run, error), error);
    status = vit_run_finish(run, model, error);
    vit_monitor_close(run);
    if (status == VIT_OK) status = check_outcome(run, error);
    if (status == VIT_OK && run->monitor.failed.status != VIT_OK)
        status = vit_fail(error, run->monitor.failed.status, "%s; the model is complete",
                          run->monitor.failed.message);
    return vit_cluster_agree(run->options->cluster, status, error);
}

vit_status vit_run_train(vit_run *run, vit_model_file *model, vit_error *error) {
    vit_error own;
    const vit_status status = train(run, model, error ? error : &own);
    vit_run_close(run);
    return status;
}
