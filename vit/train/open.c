/* What a training needs before its first step: options that make sense, data, preset, trainer, and
 * the checkpoint it resumes from. */
#include "datasets/duplicates.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/train/measure/calibration.h"
#include "vit/train/run.h"
#include <stdio.h>
#include <string.h>

#define MOST_ACCUMULATED 65536
#define MOST_PIXELS 2048 /* of a picture's side */

static vit_status check_options(const vit_train_options *o, vit_error *error) {
    if (!o->data && !o->arrays) return vit_fail(error, VIT_ERROR_ARGUMENT, "no data was named");
    if ((o->epochs > 0) + (o->steps > 0) + (o->minutes > 0) > 1)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "epochs, steps and minutes exclude each other: give one");
    if (!(o->epochs >= 0) || !(o->minutes >= 0) || !(o->lr >= 0) || !(o->layer_decay >= 0))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "epochs, minutes, the learning rate and its decay must not be negative");
    if (o->schedule_steps > 0 && o->steps > o->schedule_steps)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%llu steps of a schedule of %llu",
                        (unsigned long long)o->steps, (unsigned long long)o->schedule_steps);
    if (o->height > MOST_PIXELS || o->width > MOST_PIXELS)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "a size of %zu x %zu pixels, expected at most %d a side", o->height,
                        o->width, MOST_PIXELS);
    if (o->gradient_accumulation > MOST_ACCUMULATED)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%zu batches a step, expected 1 to %zu",
                        o->gradient_accumulation, (size_t)MOST_ACCUMULATED);
    if (o->resume && !o->checkpoint)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "resuming needs to know the checkpoint's directory");
    return VIT_OK;
}

/* A file that cannot be read, beyond those that the data's notes name. Nothing else is known of the
 * training yet. */
static void note_unreadable(const char *problem, void *user) {
    const vit_run *run = user;
    char text[1500];
    const vit_event event = {.kind = VIT_EVENT_NOTE,
                             .text = text,
                             .is_detail = true,
                             .seconds = vit_clock() - run->pace.started};
    snprintf(text, sizeof text, "left out: %s", problem);
    vit_run_emit(run, &event);
}

/* Whether the last of the values that were set for it says so. The preset is read after the data,
 * and must agree. */
static bool is_multi_label(const vit_train_options *o) {
    static const char key[] = "multi_label=";
    bool is = false;
    for (size_t i = 0; i < o->set_count; i++)
        if (strncmp(o->set[i], key, sizeof key - 1) == 0)
            is = strcmp(o->set[i] + sizeof key - 1, "true") == 0;
    return is;
}

/* A picture size that was asked for must be the data's: only pictures of folders are resized. */
static vit_status open_data(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    const vit_dataset *d = &run->data;
    vit_dataset_options parts = {.arrays = o->arrays,
                                 .need = VIT_PART_TRAIN,
                                 .want = VIT_PART_TRAIN | VIT_PART_VAL | VIT_PART_TEST,
                                 .class_column = o->class_column,
                                 .exclude = o->exclude,
                                 .relabel = o->relabel,
                                 .tag_branch = o->tag_branch,
                                 .finds_copies = true,
                                 .empty_classes = o->empty_classes,
                                 .splits_are_classes = o->splits_are_classes,
                                 .multi_label = is_multi_label(o),
                                 .threads = run->threads,
                                 .kernels = run->kernels,
                                 .unreadable = note_unreadable,
                                 .user = run};
    vit_preparation preparation; /* a model that is trained further keeps its preprocessing */
    vit_status status = o->init ? vit_run_open_init(run, &preparation, error) : VIT_OK;
    if (o->init) parts.preparation = &preparation;
    parts.height = o->height;
    parts.width = o->width;
    if (status == VIT_OK) status = vit_dataset_open(&run->data, o->data, &parts, error);
    if (status != VIT_OK || o->height == 0) return status;
    if (d->height == o->height && d->width == o->width) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "the size is to be %zu x %zu, but the pictures of %s are records of %zu x %zu: "
                    "it is for folders of pictures",
                    o->height, o->width, d->name, d->height, d->width);
}

/* Pictures that are held back if the recipe does not say how many: at most this many, at most a
 * tenth. They serve to fit the temperature and to choose the best epoch; if they are too few for
 * the first and the second is not asked for, none are. */
#define HELD_BACK 1000

void vit_run_hold_back(vit_recipe *recipe, const vit_run *run) {
    const vit_train_options *o = run->options;
    const size_t all = run->data.train.count, count = vit_min(all / 10, HELD_BACK);
    const bool chooses = o->keep_best || o->patience > 0 || run->data.classes == 0;
    if (recipe->val < 0)
        recipe->val = count < VIT_TEMPERATURE_PICTURES && !chooses ? 0 : (double)count;
    recipe->val = (double)vit_recipe_val(recipe, all);
}

/* The highest instruction set that the options allow, whose name has been checked. */
static vit_cpu highest_of(const vit_run *run) {
    vit_cpu highest = VIT_CPU_AMX;
    if (run->options->cpu) vit_cpu_parse(run->options->cpu, &highest);
    return highest;
}

/* The kernels for the recipe's precision, which says the arithmetic that they have from then on. */
static vit_status choose_kernels(vit_run *run, vit_error *error) {
    vit_recipe *r = &run->preset.recipe;
    const vit_status status =
        vit_precision_choose(&run->kernels, highest_of(run), r->precision, r->bf16, error);
    if (status == VIT_OK) r->bf16 = run->kernels->products[r->precision]->bf16;
    return status;
}

static void note_tiles(const vit_run *run) {
    const char *why = vit_precision_lacks_tiles(highest_of(run), run->preset.recipe.precision);
    if (why) vit_run_note(run, "AMX is not used: %s", why);
}

/* run->preset = the preset `name`, or the data's own for NULL, with the values of the options,
 * fitted to the data. */
static vit_status choose_preset(vit_run *run, const char *name, vit_error *error) {
    const vit_train_options *o = run->options;
    vit_status status =
        vit_preset_choose(&run->preset, name, run->data.preset, o->set, o->set_count, error);
    if (status != VIT_OK) return status;
    if (o->batch > 0) run->preset.recipe.batch = o->batch;
    if (o->lr > 0) run->preset.recipe.lr = o->lr;
    if (o->gradient_accumulation > 1) run->preset.recipe.batch *= o->gradient_accumulation;
    if (o->val.given) run->preset.recipe.val = o->val.value;
    if (o->freeze > 0) run->preset.recipe.freeze = o->freeze;
    if (o->layer_decay > 0) run->preset.recipe.layer_decay = o->layer_decay;
    if (o->precision != VIT_PRECISION_F32) run->preset.recipe.precision = o->precision;
    if (run->preset.recipe.freeze > 0 && !o->init)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "the first %zu blocks are to keep their weights, which are random ones: "
                        "give a model to start from, or leave freeze out",
                        run->preset.recipe.freeze);
    if (o->init) status = vit_run_adopt_init(run, error);
    if (status == VIT_OK) status = vit_preset_fit(&run->preset, &run->data, error);
    if (status == VIT_OK) status = vit_recipe_check(&run->preset.recipe, error);
    if (status == VIT_OK && o->report && vit_config_has_decoder(&run->preset.config))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "a report shows answers that are classes, those of %s are texts: leave it "
                        "out, or take the log (--log) or TensorBoard's files (--tensorboard)",
                        run->data.name);
    if (status == VIT_OK && run->preset.recipe.multi_label && (o->report || o->teacher))
        return vit_fail(
            error, VIT_ERROR_ARGUMENT,
            "%s is for pictures of one class each, not for \"multi_label\": leave it out",
            o->report ? "a report" : "a teacher");
    if (status == VIT_OK) status = choose_kernels(run, error);
    if (status != VIT_OK) return status;
    vit_run_hold_back(&run->preset.recipe, run);
    return VIT_OK;
}

static vit_status open_trainer(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    vit_status status =
        vit_loader_new(&run->loader, &run->data, &run->preset.recipe, o->seed, error);
    run->loader.teacher = run->teacher.logits;
    const vit_trainer_options options = {.kernels = run->kernels,
                                         .threads = run->threads,
                                         .activation_checkpointing = o->activation_checkpointing,
                                         .teacher = &run->teacher,
                                         .blank = o->init != NULL,
                                         .cluster = o->cluster,
                                         .shard = o->shard_optimizer};
    if (status == VIT_OK)
        status = vit_trainer_new(&run->trainer, &run->preset.config, &run->preset.recipe, &options,
                                 o->seed, error);
    if (status == VIT_OK)
        status = vit_inference_new(&run->inference, vit_trainer_network(run->trainer), run->kernels,
                                   run->threads, error);
    return status;
}

/* Changes to the preset that is expected to do better in the given minutes, if one is known. */
static vit_status take_better(vit_run *run, vit_error *error) {
    const char *better = vit_run_better_preset(run);
    if (!better) return VIT_OK;
    vit_run_note(run, "%s in place of %s: in a similar time it was measured to be better", better,
                 run->preset.name);
    vit_inference_free(run->inference);
    vit_trainer_free(run->trainer);
    vit_loader_free(&run->loader);
    run->inference = NULL;
    run->trainer = NULL;
    vit_status status = choose_preset(run, better, error);
    if (status == VIT_OK) status = open_trainer(run, error);
    return status == VIT_OK ? vit_run_plan(run, 0, error) : status;
}

static void note_skipped(const char *why, void *context) {
    vit_run_note(context, "skipped: %s", why);
}

/* With keep_best, loads the weights of the best step so far from its checkpoint; if that is lost,
 * the search for the best begins anew. */
static vit_status load_best(vit_run *run, vit_error *error) {
    const vit_trainer_state s = vit_trainer_get(run->trainer);
    vit_history *h = &run->history;
    vit_checkpoint best;
    vit_error why;
    bool missing;
    if (!run->options->keep_best || h->best_step == 0) return VIT_OK;
    run->saving.best = vit_alloc_unset(s.table->size, sizeof(float));
    if (!run->saving.best)
        return vit_fail_memory(error, "the best weights", s.table->size * sizeof(float));
    vit_status status =
        vit_checkpoints_at(&best, &run->saving.checkpoints, h->best_step, &missing, &why);
    if (status == VIT_OK)
        status = vit_checkpoint_weights(run->saving.best, s.table, &best, s.average != NULL, &why);
    vit_checkpoint_close(&best);
    if (status == VIT_OK) return VIT_OK;
    if (!missing) return vit_fail(error, status, "%s", why.message);
    vit_run_note(run,
                 "the state that was best on the validation set, of step %zu, is lost (%s): "
                 "the best of those from step %llu on will be kept",
                 h->best_step, why.message, (unsigned long long)vit_run_step(run));
    vit_free(run->saving.best);
    run->saving.best = NULL;
    h->best_step = h->stale = 0;
    h->best_top1 = h->best_loss = 0;
    return VIT_OK;
}

/* The schedule has more steps than that of the checkpoint: from here on the learning rate follows
 * the longer one. */
static void extend(vit_run *run, const vit_checkpoint *c) {
    const vit_recipe *r = &run->preset.recipe;
    run->history.extended_at = (size_t)c->step;
    run->history.extended_from = (size_t)c->schedule;
    vit_run_note(run,
                 "the schedule becomes longer, %llu steps instead of %llu: the learning rate goes "
                 "from %g to %g, and the model is another than one trained so from the start",
                 (unsigned long long)run->plan.schedule, (unsigned long long)c->schedule,
                 c->step > 0 ? vit_recipe_learning_rate(r, c->step - 1, c->schedule) : 0,
                 vit_recipe_learning_rate(r, c->step, run->plan.schedule));
}

/* Says if sums of bfloat16 were rounded in another order before the checkpoint. */
static vit_status note_arithmetic(vit_run *run, const vit_checkpoint *c, vit_error *error) {
    const vit_recipe *r = &run->preset.recipe;
    vit_bf16 theirs;
    const vit_status status = vit_checkpoint_bf16(&theirs, c, error);
    if (status != VIT_OK || !vit_precisions[r->precision].orders || theirs == r->bf16)
        return status;
    vit_run_note(run,
                 "the steps before were computed in bf16 by %s, the next ones by %s: the model "
                 "is another than one trained by either alone (arithmetic)",
                 vit_bf16_names[theirs], vit_bf16_names[r->bf16]);
    return VIT_OK;
}

static vit_status load_checkpoint(vit_run *run, const vit_checkpoint *c, vit_error *error) {
    vit_identity identity = vit_run_identity(run);
    const bool is_longer = run->plan.schedule > c->schedule;
    if (is_longer) identity.schedule = c->schedule;
    vit_status status = vit_checkpoint_compare(c, &identity, error);
    if (status == VIT_OK) status = note_arithmetic(run, c, error);
    if (status == VIT_OK) status = vit_checkpoint_load(run->trainer, &run->history, c, error);
    if (status == VIT_OK && is_longer) extend(run, c);
    if (status == VIT_OK) status = load_best(run, error);
    if (status == VIT_OK)
        vit_run_note(run, "resuming after step %llu of %llu", (unsigned long long)c->step,
                     (unsigned long long)run->plan.schedule);
    if (status == VIT_OK && c->step > run->plan.steps)
        vit_run_note(run,
                     "that is beyond the %llu steps that were asked for: the model will be that of "
                     "step %llu",
                     (unsigned long long)run->plan.steps, (unsigned long long)c->step);
    return status;
}

/* What all ranks know of the checkpoint that rank 0 has found. */
typedef struct found {
    bool is_there;
    uint64_t step, schedule;
} found;

static vit_status tell_found(found *f, const vit_run *run, const vit_checkpoint *c,
                             vit_error *error) {
    *f = (found){c->file != NULL, c->step, c->schedule};
    return vit_cluster_broadcast(run->options->cluster, f, sizeof *f, error);
}

/* Rank 0 loads the checkpoint, and all have it. */
static vit_status resume(vit_run *run, const vit_checkpoint *c, uint64_t step, vit_error *error) {
    vit_status status = c->file ? load_checkpoint(run, c, error) : VIT_OK;
    status = vit_cluster_agree(run->options->cluster, status, error);
    return status == VIT_OK ? vit_run_spread(run, step, error) : status;
}

/* For a training that starts afresh although its directory holds checkpoint *c: one of the same
 * training stays until this run has come as far; MISMATCH for one of another training, which only
 * --overwrite replaces. */
static vit_status check_own(vit_run *run, const vit_checkpoint *c, vit_error *error) {
    const vit_identity identity = vit_run_identity(run);
    vit_error why = {0};
    const char *directory = run->options->checkpoint;
    if (vit_checkpoint_compare(c, &identity, &why) != VIT_OK)
        return vit_fail(error, why.status,
                        "%s; name another directory, or replace what it holds (--overwrite)",
                        why.message);
    vit_run_note(run,
                 "%s has step %llu of this training, from which --resume would continue; this run "
                 "starts from the beginning and keeps it until it has reached that step",
                 directory, (unsigned long long)c->step);
    return VIT_OK;
}

/* Opens options->checkpoint and the newest checkpoint in it; c->file is NULL if there is none. */
static vit_status find_checkpoint(vit_run *run, vit_checkpoint *c, vit_error *error) {
    const vit_train_options *o = run->options;
    *c = (vit_checkpoint){0};
    if (!o->checkpoint) return VIT_OK;
    vit_status status = vit_checkpoints_open(&run->saving.checkpoints, o->checkpoint, error);
    if (status != VIT_OK || (o->overwrite && !o->resume)) {
        vit_checkpoints_replace(&run->saving.checkpoints);
        return status;
    }
    status =
        vit_checkpoints_newest(c, &run->saving.checkpoints, UINT64_MAX, note_skipped, run, error);
    if (status == VIT_OK && !c->file && o->resume)
        vit_run_note(run, "%s holds no checkpoint: starting afresh", o->checkpoint);
    return status;
}

/* If the newest checkpoint is beyond the last step that was asked for, takes the newest one that is
 * not, if there is one. */
static void step_back(vit_run *run, vit_checkpoint *c) {
    vit_checkpoint earlier;
    if (!run->options->resume || !c->file || c->step <= run->plan.steps) return; /* or not rank 0 */
    if (c->schedule != run->plan.schedule) return;
    if (vit_checkpoints_newest(&earlier, &run->saving.checkpoints, run->plan.steps, note_skipped,
                               run, NULL) != VIT_OK ||
        !earlier.file)
        return;
    vit_run_note(run, "%s holds step %llu, beyond the %llu steps that were asked for",
                 run->options->checkpoint, (unsigned long long)c->step,
                 (unsigned long long)run->plan.steps);
    vit_checkpoint_close(c);
    *c = earlier;
}

/* A precision that takes longer than float32. */
static void note_precision(const vit_run *run) {
    const vit_precision precision = run->preset.recipe.precision;
    if (vit_precision_slower(precision, run->kernels))
        vit_run_note(run,
                     "this processor multiplies more slowly in %s than in %s: another training "
                     "with --precision %s, to other weights, takes less time",
                     vit_precision_names[precision], vit_precision_names[VIT_PRECISION_F32],
                     vit_precision_names[VIT_PRECISION_F32]);
}

static void note_teacher(const vit_run *run) {
    char text[256];
    if (vit_match_said(text, &run->teacher.match, "the data", "the teacher"))
        vit_run_note(run, "%s", text);
}

/* Decides the number of steps, and loads the checkpoint or the weights that training starts from.
 */
static vit_status start(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    vit_checkpoint c = {0};
    found f = {0};
    vit_status status = vit_run_writes(run) ? find_checkpoint(run, &c, error) : VIT_OK;
    status = vit_cluster_agree(o->cluster, status, error);
    if (status == VIT_OK) status = tell_found(&f, run, &c, error);
    if (status == VIT_OK)
        status = vit_run_plan(run, o->resume && f.is_there ? f.schedule : 0, error);
    if (status == VIT_OK) status = take_better(run, error);
    if (status == VIT_OK) step_back(run, &c);
    if (status == VIT_OK) status = tell_found(&f, run, &c, error);
    if (status == VIT_OK && o->init) status = vit_run_load_init(run, error);
    for (size_t i = 0; i < run->data.note_count && status == VIT_OK; i++)
        vit_run_note(run, "%s", run->data.notes[i]);
    if (status == VIT_OK) note_teacher(run);
    if (status == VIT_OK) status = vit_run_note_binding(run, error);
    if (status == VIT_OK) note_precision(run);
    if (status == VIT_OK) vit_run_note_network(run);
    if (status == VIT_OK) vit_run_note_expected(run);
    if (status == VIT_OK) status = vit_run_check_classes(run, error);
    if (status == VIT_OK && o->resume && f.is_there)
        status = resume(run, &c, f.step, error);
    else if (status == VIT_OK && c.file)
        status = check_own(run, &c, error);
    vit_checkpoint_close(&c);
    if (status == VIT_OK && vit_run_writes(run)) status = vit_run_try_outputs(run, error);
    if (status == VIT_OK) status = vit_monitor_open(run, error);
    return vit_cluster_agree(o->cluster, status, error);
}

/* The preset of a training that starts from another model's weights, unless another is given: it
 * has a smaller learning rate than those for random weights. */
#define PRESET_OF_INIT "finetune"

vit_status vit_run_open(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    vit_status status = check_options(o, error);
    if (status == VIT_OK) status = open_data(run, error);
    if (status == VIT_OK && o->near_duplicates && vit_run_writes(run))
        status = vit_duplicates_save(o->near_duplicates, &run->data, run->threads, error);
    const bool is_text = run->data.target_vocabulary.count > 0;
    const char *preset = o->preset || !o->init || is_text ? o->preset : PRESET_OF_INIT;
    if (status == VIT_OK) status = choose_preset(run, preset, error);
    if (status == VIT_OK && o->teacher)
        status = vit_teacher_open(&run->teacher, o->teacher, &run->data, run->kernels, error);
    if (status == VIT_OK) status = open_trainer(run, error);
    status = vit_cluster_agree(o->cluster, status, error);
    if (status == VIT_OK) status = vit_run_compare_ranks(run, error);
    if (status == VIT_OK) note_tiles(run);
    if (status == VIT_OK) status = start(run, error);
    return status;
}

void vit_run_close(vit_run *run) {
    vit_monitor_close(run);
    vit_inference_free(run->inference);
    vit_trainer_free(run->trainer);
    vit_teacher_close(&run->teacher);
    vit_loader_free(&run->loader);
    vit_dataset_close(&run->data);
    vit_model_file_clear(&run->start.model);
    vit_checkpoints_close(&run->saving.checkpoints);
    vit_free(run->saving.best);
    vit_free(run->output.elsewhere);
}
