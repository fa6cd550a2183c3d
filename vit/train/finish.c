/* What a training leaves: the model file, and how it does on the test pictures. */
#include "datasets/dataset.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/json_out.h"
#include "vit/train/measure/score.h"
#include "vit/train/run.h"
#include "vit/weights/file/labels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCORE_BATCH 512
#define TRIED 32 /* training pictures that a model must answer before it is written */

/* Nothing in it depends on time, path, host or threads. */
char *vit_run_recipe(const vit_run *run, uint64_t steps) {
    vit_json_out json = {0};
    char *recipe = vit_recipe_write(&run->preset.recipe);
    vit_json_open(&json, NULL, '{');
    vit_json_text(&json, "preset", run->preset.name);
    vit_json_text(&json, "data", run->data.name);
    vit_json_text(&json, "data_sha256", run->data.checksum);
    if (run->data.corrected[0]) vit_json_text(&json, "corrected_sha256", run->data.corrected);
    if (run->data.joined) vit_json_text(&json, "joined_sha256", run->data.joined + 1);
    if (run->start.sha256[0]) vit_json_text(&json, "init_sha256", run->start.sha256);
    if (run->teacher.sha256[0]) vit_json_text(&json, "teacher_sha256", run->teacher.sha256);
    if (run->options->keep_best && run->history.best_step > 0)
        vit_json_count(&json, "best_step", run->history.best_step);
    if (run->history.extended_at > 0) {
        vit_json_open(&json, "extended", '{');
        vit_json_count(&json, "at_step", run->history.extended_at);
        vit_json_count(&json, "from_steps", run->history.extended_from);
        vit_json_close(&json, '}');
    }
    vit_json_count(&json, "seed", run->options->seed);
    vit_json_count(&json, "steps", steps);
    vit_json_count(&json, "schedule_steps", run->plan.schedule);
    vit_json_raw(&json, "train", recipe);
    vit_json_close(&json, '}');
    vit_free(recipe);
    return vit_json_take(&json);
}

static void add_operation(vit_preprocessing *p, vit_operation operation) {
    p->operations[p->count++] = operation;
}

/* How a picture becomes what the network was trained on. Data that were files of pictures say it;
 * for ready records: the picture is turned upright (EXIF) and put on white; then, for digits in
 * MNIST's format, the digit is found and prepared as MNIST's were; of others, made grey or RGB, the
 * middle is taken in the records' proportions. */
static vit_preprocessing preprocessing_of(const vit_dataset *d) {
    if (d->preprocessing.count > 0) return d->preprocessing;
    vit_preprocessing p = {0};
    if (d->channels == 0) return p; /* texts */
    vit_operation normalise = {.kind = VIT_OP_NORMALIZE};
    for (size_t i = 0; i < 3; i++) { /* grey: the one channel's, three times */
        normalise.mean[i] = d->mean[i % d->channels];
        normalise.std[i] = d->std[i % d->channels];
    }
    add_operation(&p, (vit_operation){.kind = VIT_OP_ORIENT});
    add_operation(&p, (vit_operation){.kind = VIT_OP_COMPOSITE, .background = {255, 255, 255}});
    if (d->is_digits) {
        add_operation(&p, (vit_operation){.kind = VIT_OP_DIGIT});
    } else {
        add_operation(&p, (vit_operation){.kind = d->channels == 1 ? VIT_OP_GREY : VIT_OP_RGB});
        vit_operation resize = {.kind = VIT_OP_RESIZE, .filter = VIT_FILTER_BILINEAR};
        if (d->height == d->width) {
            resize.shorter = d->height;
        } else {
            resize.height = d->height;
            resize.width = d->width;
            resize.fit = VIT_FIT_COVER;
        }
        add_operation(&p, resize);
        add_operation(&p, (vit_operation){
                              .kind = VIT_OP_CENTER_CROP, .height = d->height, .width = d->width});
    }
    add_operation(&p, normalise);
    return p;
}

vit_status vit_run_describe(vit_model_file *f, const vit_run *run, vit_error *error) {
    const vit_dataset *d = &run->data;
    *f = (vit_model_file){.config = run->preset.config,
                          .preprocessing = preprocessing_of(d),
                          .recipe = vit_run_recipe(run, vit_run_step(run))};
    if (run->preset.recipe.multi_label) f->scoring = VIT_SCORING_SIGMOID;
    if (!f->recipe) return vit_fail_memory(error, "the recipe", 0);
    vit_status status = vit_table_new(&f->table, &f->config, error);
    if (status == VIT_OK && !vit_config_has_decoder(&f->config))
        return d->labels ? vit_labels_copy(&f->labels, d->labels, d->classes, error) : VIT_OK;
    if (status == VIT_OK)
        status = vit_vocabulary_copy(&f->vocabulary, &d->target_vocabulary, error);
    if (status == VIT_OK && vit_config_takes_texts(&f->config))
        status = vit_vocabulary_copy(&f->source_vocabulary, &d->source_vocabulary, error);
    return status;
}

float *vit_run_weights(const vit_run *run) {
    const vit_trainer_state state = vit_trainer_get(run->trainer);
    return state.average ? state.average : state.values;
}

/* Fits run->validation.temperature and run->validation.threshold on the validation pictures; 0 if
 * there are none. */
static vit_status calibrate(vit_run *run, vit_error *error) {
    const size_t count = run->loader.val_count, classes = run->preset.config.classes;
    const vit_records *records = vit_loader_val_records(&run->loader);
    if (count == 0 || vit_config_has_decoder(&run->preset.config)) return VIT_OK;
    if (run->preset.recipe.multi_label) return VIT_OK; /* a temperature is of a softmax */
    if (!run->monitor.logits) run->monitor.logits = vit_alloc(count, classes * sizeof(float));
    vit_score score = {.logits = run->monitor.logits, .cluster = run->options->cluster};
    if (!score.logits)
        return vit_fail_memory(error, "logits", count * classes * sizeof *score.logits);
    const vit_status status =
        vit_score_records(&score, run->inference, &run->preset.config, &run->data, records,
                          run->loader.val, count, run->loader.table, SCORE_BATCH, error);
    if (status != VIT_OK) return status;
    if (isnan(run->validation.top1)) { /* resumed after its last step: no epoch ended since */
        run->validation.top1 = (double)score.correct / (double)count;
        run->validation.loss = score.loss;
    }
    run->validation.temperature =
        vit_temperature_fit(score.logits, records->labels, run->loader.val, count, classes);
    float *confidences = vit_alloc(count, sizeof *confidences);
    if (!confidences) return vit_fail_memory(error, "confidences", count * sizeof *confidences);
    run->validation.threshold =
        vit_threshold_fit(confidences, score.logits, count, classes, run->validation.temperature);
    vit_free(confidences);
    return status;
}

/* Writes the trainer's own values: a copy of them would raise the training's peak memory. */
static vit_status save(const vit_run *run, vit_model_file *f, const char *path, vit_error *error) {
    f->values = vit_run_weights(run);
    const vit_status status = vit_model_file_save(path, f, error);
    f->values = NULL;
    return status;
}

/* Writes the model into `directory`, under the file name of options->out, or as the first of
 * 2-NAME, 3-NAME, ... that does not exist; run->output.elsewhere is its path. */
static vit_status save_into(vit_run *run, vit_model_file *f, const char *directory) {
    const char *name = vit_path_last(run->options->out);
    vit_status status = VIT_ERROR_IO;
    bool exists = true;
    for (int i = 1; i < 1000 && exists; i++) {
        vit_string path = {0};
        vit_string_add(&path, "%s/", directory);
        if (i > 1) vit_string_add(&path, "%d-", i);
        vit_string_add(&path, "%s", name);
        status = path.failed ? VIT_ERROR_MEMORY : vit_path_exists(&exists, path.text, NULL);
        if (status == VIT_OK && !exists) {
            status = save(run, f, path.text, NULL);
            run->output.elsewhere = status == VIT_OK ? vit_strdup(path.text) : NULL;
        }
        vit_string_free(&path);
        if (status != VIT_OK) break;
    }
    return run->output.elsewhere ? VIT_OK : VIT_ERROR_IO;
}

/* A model that cannot be written where it should be goes beside its checkpoints, into the current
 * directory, or into that of temporary files, so that hours of training are not lost. */
static vit_status save_somewhere(vit_run *run, vit_model_file *f, vit_error *error) {
    const char *temporary = getenv("TMPDIR");
    const char *const directories[] = {run->options->checkpoint, ".",
                                       temporary && *temporary ? temporary : "/tmp"};
    vit_error *why = &run->output.failed;
    vit_status status = vit_run_check_out(run, why);
    if (status == VIT_OK) status = save(run, f, run->options->out, why);
    why->status = status;
    for (size_t i = 0; i < sizeof directories / sizeof *directories && status != VIT_OK; i++)
        if (directories[i]) status = save_into(run, f, directories[i]);
    if (status == VIT_OK) return VIT_OK;
    return vit_fail(error, why->status, "%s; nor could it be written into %s", why->message,
                    directories[2]);
}

/* Moves the trainer's weights into the model, packed as those of a loaded model are. Tensor by
 * tensor, the trainer's memory is given back, so that the peak does not rise; after that the
 * trainer can only be freed. */
static vit_status take_weights(vit_model_file *f, const vit_run *run, vit_error *error) {
    const vit_exec packs = {.kernels = run->kernels, .threads = 1};
    const vit_trainer_state state = vit_trainer_get(run->trainer);
    float *values = vit_run_weights(run);
    vit_store store;
    const vit_status status = vit_store_open(&store, f, &packs, 0, error);
    for (size_t i = 0; i < f->table.count && status == VIT_OK; i++) {
        const vit_parameter *p = &f->table.rows[i], *from = &state.table->rows[i];
        memcpy(vit_store_place(&store, p), values + from->offset, p->count * sizeof *values);
        vit_store_keep(&store, p);
        vit_discard(values + from->offset, p->count * sizeof *values);
    }
    vit_store_close(&store);
    return status;
}

/* With keep_best, puts the weights of the best step in place of the last ones. */
static void take_best(vit_run *run) {
    const vit_trainer_state s = vit_trainer_get(run->trainer);
    if (!run->saving.best || run->history.best_step == s.step) return;
    memcpy(vit_run_weights(run), run->saving.best, s.table->size * sizeof(float));
    vit_trainer_changed(run->trainer, s.step);
    vit_run_note(run, "the model is that of step %zu, the best on the validation set",
                 run->history.best_step);
}

/* A model that cannot answer is not written: ARGUMENT if its weights, or its loss on some training
 * pictures, are not finite. */
static vit_status check_model(vit_run *run, vit_error *error) {
    const vit_trainer_state s = vit_trainer_get(run->trainer);
    const float *values = vit_run_weights(run);
    const size_t some = vit_min(run->data.train.count, TRIED);
    vit_score score = {.cluster = run->options->cluster};
    for (size_t i = 0; i < s.table->count; i++)
        for (size_t k = 0; k < s.table->rows[i].count; k++)
            if (!isfinite(values[s.table->rows[i].offset + k]))
                return vit_fail(error, VIT_ERROR_ARGUMENT,
                                "the weights %s are not finite after step %llu; no model is "
                                "written: lower the learning rate (now %g at most) or raise "
                                "\"warmup\"",
                                s.table->rows[i].name, (unsigned long long)s.step,
                                run->preset.recipe.lr);
    vit_trainer_settle(run->trainer);
    const vit_status status =
        vit_score_records(&score, run->inference, &run->preset.config, &run->data, &run->data.train,
                          NULL, some, run->loader.table, SCORE_BATCH, error);
    if (status != VIT_OK || isfinite(score.loss)) return status;
    return vit_fail(
        error, VIT_ERROR_ARGUMENT,
        "the logits of the model of step %llu are not finite; it is not written: lower the "
        "learning rate (now %g at most) or raise \"warmup\"",
        (unsigned long long)s.step, run->preset.recipe.lr);
}

/* Scores the test pictures; score->logits, if report or event files show answers, is the caller's
 * to free. */
static vit_status score_test(vit_score *score, vit_run *run, vit_error *error) {
    const size_t count = run->data.test.count, classes = run->preset.config.classes;
    *score = (vit_score){.only_numbers = true, .cluster = run->options->cluster};
    if (run->monitor.answers && count > 0) {
        score->logits = vit_alloc(count, classes * sizeof *score->logits);
        if (!score->logits)
            return vit_fail_memory(error, "logits", count * classes * sizeof(float));
    }
    return vit_score_records(score, run->inference, &run->preset.config, &run->data,
                             &run->data.test, NULL, count, run->loader.table, SCORE_BATCH, error);
}

/* The model is written before it is tested, so that it is safe by then. */
vit_status vit_run_finish(vit_run *run, vit_model_file *model, vit_error *error) {
    vit_score score = {0};
    vit_model_file file;
    take_best(run);
    vit_status status = vit_run_describe(&file, run, error);
    if (status == VIT_OK) status = check_model(run, error);
    status = vit_cluster_agree(run->options->cluster, status, error);
    if (status == VIT_OK) status = calibrate(run, error);
    file.temperature = run->validation.temperature;
    file.threshold = run->validation.threshold;
    if (status == VIT_OK && run->options->out && vit_run_writes(run))
        status = save_somewhere(run, &file, error);
    status = vit_cluster_agree(run->options->cluster, status, error);
    if (status == VIT_OK) status = score_test(&score, run, error);
    if (status == VIT_OK && model) status = take_weights(&file, run, error);
    if (status == VIT_OK && model) {
        *model = file;
        file = (vit_model_file){0};
    }
    vit_model_file_clear(&file);
    const double top1 =
        score.images > 0 ? (double)score.correct / (double)score.images : (double)NAN;
    if (status == VIT_OK)
        vit_monitor_end(run, score.logits, top1, score.images > 0 ? score.loss : NAN);
    vit_free(score.logits);
    if (status != VIT_OK) return status;
    vit_run_note_majority(run, top1);
    vit_event event = vit_run_event(run, VIT_EVENT_DONE);
    event.test_top1 = top1;
    event.path = run->output.elsewhere ? run->output.elsewhere : run->options->out;
    vit_run_emit(run, &event);
    return VIT_OK;
}
