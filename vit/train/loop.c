/* The loop over steps and epochs: events, held-back accuracy, checkpoints. */
#include "vit/base/sys.h"
#include "vit/train/run.h"
#include "vit/train/score.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define SECONDS_BETWEEN_EVENTS 0.2
#define SCORE_BATCH 512

vit_identity vit_run_identity(const vit_run *run) {
    return (vit_identity){&run->preset, run->data.checksum, run->init, run->options->seed,
                          run->schedule};
}

/* ---- events ---- */

static uint64_t step_of(const vit_run *run) {
    return vit_trainer_get(run->trainer).step;
}

static double learning_rate(const vit_run *run, uint64_t step) {
    return vit_recipe_learning_rate(&run->preset.recipe, step, run->schedule);
}

vit_event vit_run_event(const vit_run *run, vit_event_kind kind) {
    const uint64_t step = step_of(run);
    const double batch = (double)run->preset.recipe.batch;
    const double per_step = run->done > 0 ? run->training / (double)run->done : NAN;
    return (vit_event){.kind = kind,
                       .preset = run->preset.name,
                       .data = run->data.name,
                       .parameters = vit_trainer_get(run->trainer).table->parameters,
                       .train_images = run->loader.train_count,
                       .val_images = run->loader.val_count,
                       .batch = run->preset.recipe.batch,
                       .step = step,
                       .steps = run->schedule,
                       .epoch = vit_run_epochs(run, step),
                       .epochs = vit_run_epochs(run, run->schedule),
                       .loss = NAN,
                       .lr = step > 0 ? learning_rate(run, step - 1) : 0,
                       .val_top1 = run->val_top1,
                       .val_loss = run->val_loss,
                       .test_top1 = NAN,
                       .images_per_second = batch / per_step,
                       .seconds = vit_clock() - run->started,
                       .seconds_left =
                           run->steps > step ? per_step * (double)(run->steps - step) : 0};
}

bool vit_run_emit(const vit_run *run, const vit_event *event) {
    return !run->options->callback || run->options->callback(event, run->options->user);
}

void vit_run_note(const vit_run *run, const char *format, ...) {
    char text[1100]; /* a note of a data set holds the message of an error */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    vit_event event = vit_run_event(run, VIT_EVENT_NOTE);
    event.text = text;
    vit_run_emit(run, &event);
}

/* ---- one epoch's end ---- */

static vit_status measure_held_back(vit_run *run, vit_error *error) {
    vit_score score = {0};
    if (run->loader.val_count == 0) return VIT_OK;
    vit_trainer_settle(run->trainer);
    const vit_status status =
        vit_score_records(&score, run->inference, &run->preset.config, &run->data,
                          vit_loader_val_records(&run->loader), run->loader.val,
                          run->loader.val_count, run->loader.table, SCORE_BATCH, error);
    run->val_top1 = (double)score.correct / (double)run->loader.val_count;
    run->val_loss = score.loss;
    return status;
}

static vit_status save(vit_run *run, vit_error *error) {
    if (!run->options->checkpoint) return VIT_OK;
    const vit_identity identity = vit_run_identity(run);
    char *path;
    const vit_status status =
        vit_checkpoint_save(&path, run->options->checkpoint, run->trainer, &identity, error);
    if (status != VIT_OK) return status;
    vit_event event = vit_run_event(run, VIT_EVENT_CHECKPOINT);
    event.path = path;
    vit_run_emit(run, &event);
    vit_free(path);
    return VIT_OK;
}

/* A checkpoint that cannot be written does not end the training: the disk may have room when the
 * next one is due. */
static void try_to_save(vit_run *run) {
    vit_error *error = &run->unsaved;
    error->status = save(run, error);
    if (error->status == VIT_OK || step_of(run) == run->steps) return;
    vit_run_note(run, "%s; the training goes on and saves again after the next epoch",
                 error->message);
}

static vit_status cancelled(const vit_run *run, vit_error *error) {
    return vit_fail(error, VIT_ERROR_CANCELLED, "training was stopped after step %llu of %llu",
                    (unsigned long long)step_of(run), (unsigned long long)run->schedule);
}

static vit_status end_epoch(vit_run *run, vit_error *error) {
    vit_status status = measure_held_back(run, error);
    if (status != VIT_OK) return status;
    vit_event event = vit_run_event(run, VIT_EVENT_EPOCH);
    event.loss = run->loss_sum / (double)run->loss_steps;
    run->loss_sum = 0;
    run->loss_steps = 0;
    if (vit_run_emit(run, &event)) {
        try_to_save(run);
        return VIT_OK;
    }
    status = save(run, error);
    return status == VIT_OK ? cancelled(run, error) : status;
}

/* ---- steps ---- */

static vit_status one_step(vit_run *run, uint64_t step, vit_error *error) {
    const double start = vit_clock();
    vit_loader_prepare(&run->loader, step);
    double loss;
    const vit_status status = vit_trainer_step(run->trainer, &loss, learning_rate(run, step),
                                               vit_loader_source, &run->loader, error);
    if (status != VIT_OK) return status;
    run->training += vit_clock() - start;
    run->done++;
    run->loss_sum += loss;
    run->loss_steps++;
    run->step_loss_sum += loss;
    run->step_loss_steps++;
    if (isfinite(loss)) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "the loss became %s at step %llu: lower the learning rate (now %g at most) or "
                    "raise \"warmup\"",
                    isnan(loss) ? "NaN" : "infinite", (unsigned long long)step + 1,
                    run->preset.recipe.lr);
}

/* A STEP event, where enough time has passed, and after the last step. */
static bool tell(vit_run *run) {
    const double now = vit_clock();
    if (now - run->last_event < SECONDS_BETWEEN_EVENTS && step_of(run) < run->steps) return true;
    vit_event event = vit_run_event(run, VIT_EVENT_STEP);
    event.loss = run->step_loss_sum / (double)run->step_loss_steps;
    run->step_loss_sum = 0;
    run->step_loss_steps = 0;
    run->last_event = now;
    return vit_run_emit(run, &event);
}

/* Whether the step that was just done (so many are now) ended a pass over the pictures. */
static bool ends_epoch(const vit_run *run, uint64_t steps) {
    const uint64_t batch = run->preset.recipe.batch, pictures = run->loader.train_count;
    return steps == run->steps || steps * batch / pictures != (steps - 1) * batch / pictures;
}

static vit_status all_steps(vit_run *run, vit_error *error) {
    vit_loader_plan(&run->loader, run->schedule);
    for (uint64_t step = step_of(run); step < run->steps; step++) {
        vit_status status = one_step(run, step, error);
        if (status != VIT_OK) return status;
        if (vit_clock() > run->deadline && step + 1 < run->steps) {
            run->steps = step + 1;
            vit_run_note(run, "out of time: stopping at step %llu of %llu",
                         (unsigned long long)run->steps, (unsigned long long)run->schedule);
        }
        if (ends_epoch(run, step + 1)) status = end_epoch(run, error);
        if (status != VIT_OK) return status;
        if (!tell(run)) {
            status = save(run, error);
            return status == VIT_OK ? cancelled(run, error) : status;
        }
    }
    return VIT_OK;
}

/* ---- the whole ---- */

static vit_status train(vit_run *run, vit_model_file *model, vit_error *error) {
    vit_status status = vit_run_open(run, error);
    if (status != VIT_OK) return status;
    const vit_event event = vit_run_event(run, VIT_EVENT_START);
    if (!vit_run_emit(run, &event))
        return vit_fail(error, VIT_ERROR_CANCELLED, "training was stopped before its first step");
    status = all_steps(run, error);
    if (status == VIT_OK) status = vit_run_finish(run, model, error);
    if (status != VIT_OK || run->unsaved.status == VIT_OK) return status;
    return vit_fail(error, run->unsaved.status,
                    "%s; the model is complete, its checkpoint is of an earlier step or missing",
                    run->unsaved.message);
}

vit_status vit_run_train(vit_run *run, vit_model_file *model, vit_error *error) {
    const vit_status status = train(run, model, error);
    vit_run_close(run);
    return status;
}
