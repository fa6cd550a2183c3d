#include "datasets/dataset.h"
#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/base/text.h"
#include "vit/train/run.h"
#include "vit/train/score.h"
#include <math.h>
#include <string.h>

#define SCORE_BATCH 512

uint8_t vit_draw_digit(uint8_t *pixels, uint64_t seed, uint32_t index) {
    const vit_fpmode host = vit_fpmode_enter();
    const uint8_t label = vit_digits_draw(pixels, seed, index);
    vit_fpmode_leave(host);
    return label;
}

/* ---- before ---- */

static vit_status check_options(const vit_train_options *o, vit_error *error) {
    if (!o->data) return vit_fail(error, VIT_ERROR_ARGUMENT, "no data was named");
    if ((o->epochs > 0) + (o->steps > 0) + (o->minutes > 0) > 1)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "epochs, steps and minutes exclude each other: give one");
    if (!(o->epochs >= 0) || !(o->minutes >= 0) || !(o->lr >= 0) || !(o->layer_decay >= 0))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "epochs, minutes, the learning rate and its decay must not be negative");
    if (o->schedule_steps > 0 && o->steps > o->schedule_steps)
        return vit_fail(error, VIT_ERROR_ARGUMENT, "%llu steps of a schedule of %llu",
                        (unsigned long long)o->steps, (unsigned long long)o->schedule_steps);
    if (o->resume && !o->checkpoint)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "resuming needs to know the checkpoint's directory");
    return VIT_OK;
}

/* Unknown 28x28 grey sets are trained as MNIST is, CIFAR-100 as CIFAR-10. */
static const char *preset_of(const vit_run *run) {
    if (run->options->preset) return run->options->preset;
    if (strcmp(run->data.name, "grey") == 0) return "mnist";
    if (strcmp(run->data.name, "cifar100") == 0) return "cifar10";
    return run->data.name;
}

static vit_status open_data(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    vit_dataset_options parts = {.need = VIT_PART_TRAIN,
                                 .want = VIT_PART_TRAIN | VIT_PART_TEST,
                                 .threads = run->threads,
                                 .kernels = run->kernels};
    vit_preparation preparation; /* a model that is trained further goes on seeing as it did */
    const vit_status status = o->init ? vit_run_open_init(run, &preparation, error) : VIT_OK;
    if (o->init) parts.preparation = &preparation;
    return status == VIT_OK ? vit_dataset_open(&run->data, o->data, &parts, error) : status;
}

static vit_status open_inputs(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    vit_status status =
        vit_choose(&run->kernels, &run->threads, o->cpu, o->threads, o->precision, error);
    if (status == VIT_OK) status = open_data(run, error);
    if (status == VIT_OK) status = vit_preset_load(&run->preset, preset_of(run), error);
    if (status != VIT_OK) return status;
    if (o->batch > 0) run->preset.recipe.batch = o->batch;
    if (o->lr > 0) run->preset.recipe.lr = o->lr;
    if (o->freeze > 0) run->preset.recipe.freeze = o->freeze;
    if (o->layer_decay > 0) run->preset.recipe.layer_decay = o->layer_decay;
    if (o->precision_given || o->precision != VIT_PRECISION_F32)
        run->preset.recipe.precision = o->precision;
    if (run->preset.recipe.freeze > 0 && !o->init)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "the first %zu blocks are to keep their weights, which are random ones: "
                        "give a model to start from, or leave freeze out",
                        run->preset.recipe.freeze);
    if (o->init) status = vit_run_adopt_init(run, error);
    if (status == VIT_OK) status = vit_preset_fit(&run->preset, &run->data, error);
    if (status == VIT_OK) status = vit_recipe_check(&run->preset.recipe, error);
    return status;
}

static vit_status open_trainer(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    vit_status status =
        vit_loader_new(&run->loader, &run->data, &run->preset.recipe, o->seed, error);
    if (status == VIT_OK)
        status = vit_trainer_new(
            &run->trainer, &run->preset.config, &run->preset.recipe,
            &(vit_trainer_options){run->kernels, run->threads, o->recompute, o->init != NULL},
            o->seed, error);
    if (status == VIT_OK)
        status = vit_inference_new(&run->inference, vit_trainer_network(run->trainer), run->kernels,
                                   run->threads, error);
    return status;
}

/* Plans, and goes to where a checkpoint was. */
static vit_status start(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    bool found = false;
    uint64_t schedule = 0;
    vit_status status = VIT_OK;
    if (o->resume) status = vit_checkpoint_schedule(&found, &schedule, o->checkpoint, error);
    if (status == VIT_OK) status = vit_run_plan(run, found ? schedule : 0, error);
    if (status == VIT_OK && o->init) status = vit_run_load_init(run, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < run->data.note_count; i++) vit_run_note(run, "%s", run->data.notes[i]);
    if (o->resume && !found)
        vit_run_note(run, "%s holds no checkpoint: starting afresh", o->checkpoint);
    if (!found) return VIT_OK;
    const vit_identity identity = vit_run_identity(run);
    status = vit_checkpoint_load(run->trainer, o->checkpoint, &identity, error);
    if (status == VIT_OK)
        vit_run_note(run, "resuming after step %llu of %llu",
                     (unsigned long long)vit_trainer_get(run->trainer).step,
                     (unsigned long long)run->schedule);
    return status;
}

/* ---- after ---- */

/* How the model came to be. Nothing in it depends on time, path, host or threads. */
static char *recipe_text(const vit_run *run) {
    vit_text t = {0};
    char *recipe = vit_recipe_write(&run->preset.recipe);
    vit_text_add(&t, "{\"preset\": ");
    vit_text_add_json(&t, run->preset.name);
    vit_text_add(&t, ", \"data\": \"%s\", \"data_sha256\": \"%s\", ", run->data.title,
                 run->data.checksum);
    if (run->init[0]) vit_text_add(&t, "\"init_sha256\": \"%s\", ", run->init);
    vit_text_add(&t, "\"seed\": %llu, \"steps\": %llu, \"schedule_steps\": %llu, \"train\": %s}",
                 (unsigned long long)run->options->seed,
                 (unsigned long long)vit_trainer_get(run->trainer).step,
                 (unsigned long long)run->schedule, recipe ? recipe : "");
    if (t.failed || !recipe) vit_text_free(&t);
    vit_free(recipe);
    return t.text;
}

static void add_operation(vit_preprocessing *p, vit_operation operation) {
    p->operations[p->count++] = operation;
}

/* What made the records; for records that came as they are: a picture is turned as its camera was
 * held and put on white. Then, for digits in MNIST's format, the digit is looked for and prepared
 * as those were; other pictures become grey (or RGB) and are resized. */
static vit_preprocessing preprocessing_of(const vit_dataset *d) {
    if (d->preprocessing.count > 0) return d->preprocessing;
    vit_preprocessing p = {0};
    vit_operation normalise = {.kind = VIT_OP_NORMALIZE};
    const bool is_digits = strcmp(d->name, "mnist") == 0 || strcmp(d->name, "digits") == 0;
    for (size_t i = 0; i < 3; i++) { /* grey: the one channel's, three times */
        normalise.mean[i] = d->mean[i % d->channels];
        normalise.std[i] = d->std[i % d->channels];
    }
    add_operation(&p, (vit_operation){.kind = VIT_OP_ORIENT});
    add_operation(&p, (vit_operation){.kind = VIT_OP_COMPOSITE, .background = {255, 255, 255}});
    if (is_digits) {
        add_operation(&p, (vit_operation){.kind = VIT_OP_DIGIT});
    } else {
        add_operation(&p, (vit_operation){.kind = d->channels == 1 ? VIT_OP_GREY : VIT_OP_RGB});
        add_operation(&p, (vit_operation){.kind = VIT_OP_RESIZE,
                                          .height = d->height,
                                          .width = d->width,
                                          .filter = VIT_FILTER_BILINEAR});
    }
    add_operation(&p, normalise);
    return p;
}

static vit_status copy_labels(char ***out, const vit_dataset *d, vit_error *error) {
    size_t bytes = d->classes * sizeof(char *);
    if (!d->labels) return VIT_OK;
    for (size_t i = 0; i < d->classes; i++) bytes += strlen(d->labels[i]) + 1;
    *out = vit_alloc(1, bytes);
    if (!*out) return vit_fail_memory(error, "labels", bytes);
    char *text = (char *)(*out + d->classes);
    for (size_t i = 0; i < d->classes; i++) {
        const size_t size = strlen(d->labels[i]) + 1;
        (*out)[i] = memcpy(text, d->labels[i], size);
        text += size;
    }
    return VIT_OK;
}

/* All of the model but its values. */
static vit_status describe(vit_model_file *f, const vit_run *run, vit_error *error) {
    *f = (vit_model_file){.config = run->preset.config,
                          .preprocessing = preprocessing_of(&run->data),
                          .recipe = recipe_text(run)};
    const vit_status status = f->recipe ? vit_table_new(&f->table, &f->config, error)
                                        : vit_fail_memory(error, "the recipe", 0);
    return status == VIT_OK ? copy_labels(&f->labels, &run->data, error) : status;
}

static float *trained_values(const vit_run *run) {
    const vit_trainer_state state = vit_trainer_get(run->trainer);
    return state.average ? state.average : state.values;
}

/* From the trainer's own values: a copy would be the most memory that the training takes. */
static vit_status save(const vit_run *run, vit_model_file *f, vit_error *error) {
    f->values = trained_values(run);
    const vit_status status = vit_model_file_save(run->options->out, f, error);
    f->values = NULL;
    return status;
}

/* Takes what *f holds. */
static vit_status make_model(vit_model **out, const vit_run *run, vit_model_file *f,
                             vit_error *error) {
    const vit_exec packs = {.kernels = run->kernels, .threads = 1};
    const vit_trainer_state state = vit_trainer_get(run->trainer);
    const float *values = trained_values(run);
    vit_store store;
    const vit_status status = vit_store_open(&store, f, &packs, error);
    for (size_t i = 0; i < f->table.count && status == VIT_OK; i++) {
        const vit_parameter *p = &f->table.rows[i], *from = &state.table->rows[i];
        memcpy(vit_store_place(&store, p), values + from->offset, p->count * sizeof *values);
        vit_store_keep(&store, p);
    }
    vit_store_close(&store);
    return status == VIT_OK ? vit_model_from_file(out, f, error) : status;
}

/* The model is safe on the disk before it is tested. */
static vit_status finish(vit_model **out, vit_run *run, vit_error *error) {
    vit_score score = {0};
    vit_model_file file;
    vit_status status = describe(&file, run, error);
    vit_trainer_settle(run->trainer);
    if (status == VIT_OK && run->options->out) status = save(run, &file, error);
    if (status == VIT_OK)
        status = vit_score_records(&score, run->inference, &run->preset.config, &run->data,
                                   &run->data.test, NULL, run->data.test.count, run->loader.table,
                                   SCORE_BATCH, error);
    if (status == VIT_OK && out) status = make_model(out, run, &file, error);
    vit_model_file_clear(&file);
    if (status != VIT_OK) return status;
    vit_event event = vit_run_event(run, VIT_EVENT_DONE);
    if (score.images > 0) event.test_top1 = (double)score.correct / (double)score.images;
    event.path = run->options->out;
    vit_run_emit(run, &event);
    return VIT_OK;
}

/* ---- the whole ---- */

static vit_status train(vit_model **out, vit_run *run, vit_error *error) {
    vit_status status = open_inputs(run, error);
    if (status == VIT_OK) status = open_trainer(run, error);
    if (status == VIT_OK) status = start(run, error);
    if (status != VIT_OK) return status;
    const vit_event event = vit_run_event(run, VIT_EVENT_START);
    if (!vit_run_emit(run, &event))
        return vit_fail(error, VIT_ERROR_CANCELLED, "training was stopped before its first step");
    status = vit_run_loop(run, error);
    if (status == VIT_OK) status = finish(out, run, error);
    if (status != VIT_OK || run->unsaved.status == VIT_OK) return status;
    return vit_fail(error, run->unsaved.status,
                    "%s; the model is complete, its checkpoint is of an earlier step or missing",
                    run->unsaved.message);
}

vit_status vit_train(vit_model **out, const vit_train_options *options, vit_error *error) {
    vit_run run = {.options = options, .started = vit_clock(), .val_top1 = NAN, .val_loss = NAN};
    if (out) *out = NULL;
    const vit_fpmode host = vit_fpmode_enter();
    vit_status status = check_options(options, error);
    if (status == VIT_OK) status = train(out, &run, error);
    if (status != VIT_OK && out) {
        vit_model_free(*out);
        *out = NULL;
    }
    vit_inference_free(run.inference);
    vit_trainer_free(run.trainer);
    vit_loader_free(&run.loader);
    vit_dataset_close(&run.data);
    vit_model_file_clear(&run.start);
    vit_fpmode_leave(host);
    return status;
}
