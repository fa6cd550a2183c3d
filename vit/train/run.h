/* A training from first to last: what it needs (open.c, init.c) and where it writes (places.c), how
 * long it will be (plan.c), the loop over steps and epochs with its events and checkpoints
 * (loop.c), whether it can go on (watch.c), what it leaves (finish.c). A step itself is in step/.
 */
#ifndef VIT_TRAIN_RUN_H
#define VIT_TRAIN_RUN_H

#include "vit/model/infer.h"
#include "vit/train/checkpoint.h"
#include "vit/train/course.h"
#include "vit/train/step/loader.h"
#include "vit/train/step/teacher.h"
#include "vit/weights/model_file.h"

struct vit_run {
    const vit_train_options *options;
    double started;    /* vit_clock() when the command began */
    vit_preset preset; /* fitted to the data, with the options' batch and lr */
    vit_dataset data;
    char init[65];                    /* SHA-256 of the model it starts from, "" for none */
    vit_model_file start;             /* that model, until its weights are taken over */
    size_t start_height, start_width; /* of its pictures, before it is resized for the data */
    vit_teacher teacher;              /* or none */
    const vit_kernels *kernels;
    int threads;
    vit_loader loader;
    vit_trainer *trainer;
    vit_inference *inference; /* of the trainer's network */

    uint64_t steps;    /* where this run ends */
    uint64_t schedule; /* steps of the whole schedule */
    double deadline;   /* vit_clock() at which it ends whatever the step; infinite without
                          --minutes */
    double training;   /* seconds spent in steps of this process, and how many those were */
    uint64_t done;
    vit_history history;
    vit_checkpoints checkpoints; /* open where a directory was given */
    uint64_t saved;              /* step of the last checkpoint that was written; 0: none */
    double last_save;            /* vit_clock() of the last try */
    float *best;                 /* with keep_best: the weights of history.best_step */
    double step_loss_sum;        /* since the last STEP event */
    uint64_t step_loss_steps;
    double step_norm_sum, epoch_norm_sum; /* of the gradients, since the last event of its kind */
    uint64_t epoch_norm_steps;
    double last_event;
    double val_top1, val_loss;
    double temperature, threshold; /* of the model, once they are fitted; 0 */
    vit_course course;
    bool diverged;       /* the training diverged: watch.c */
    vit_error unwritten; /* why options->out could not be written; status VIT_OK: it was written */
    char *elsewhere;     /* where the model was written instead; owned */
    vit_error unsaved;   /* why the last checkpoint could not be written; status VIT_OK: it was */
};

/* Runs the whole training. The caller has set options, started, kernels and threads, and val_top1
 * and val_loss to NaN. *model (model may be NULL) is freed by vit_model_file_clear; its linear
 * weights are packed. CANCELLED when the callback asked to stop; a checkpoint is still written, and
 * the run fails if that fails. Any other checkpoint that cannot be written is noted in
 * run->unsaved. */
vit_status vit_run_train(vit_run *run, vit_model_file *model, vit_error *error);

/* advice.c: gives the trainer class weights where the recipe asks for them; notes what is wrong
 * with the numbers of pictures. */
vit_status vit_run_advise(vit_run *run, vit_error *error);

/* Data, preset and trainer, at the step where training begins; and frees all that a run holds. */
vit_status vit_run_open(vit_run *run, vit_error *error);
void vit_run_close(vit_run *run);

/* All of the model but its values; freed by vit_model_file_clear. */
vit_status vit_run_describe(vit_model_file *out, const vit_run *run, vit_error *error);

/* Writes options->out, tests the model and emits DONE; *model as above. */
vit_status vit_run_finish(vit_run *run, vit_model_file *model, vit_error *error);

/* Checks at the start that the outputs can be written, by opening them and reserving the room they
 * will need. MISMATCH where --out holds something that this training did not make
 * (options->overwrite). */
vit_status vit_run_try_places(vit_run *run, vit_error *error);

/* The same for --out alone, whatever is there now. */
vit_status vit_run_check_out(const vit_run *run, vit_error *error);

/* ---- watch.c: whether it is getting anywhere ---- */

/* Call after every step, with its loss: counts the steps that must be skipped. ARGUMENT, saying
 * what to try, when too many steps in a row were skipped, or had a loss many times that of the
 * start. */
vit_status vit_run_watch(vit_run *run, double loss, vit_error *error);

/* The limit to pass to vit_trainer_limit. */
double vit_run_norm_limit(const vit_run *run);

/* ARGUMENT where val_loss was measured and is not finite. */
vit_status vit_run_check_held_back(vit_run *run, vit_error *error);

/* Whether the last steps were all used, none with a high loss. */
bool vit_run_is_well(const vit_run *run);

/* After the last step: ARGUMENT where the training has learnt nothing. */
vit_status vit_run_judge(vit_run *run, vit_error *error);

/* How the model came to be, JSON; freed by vit_free. NULL: no memory. */
char *vit_run_recipe(const vit_run *run);

/* The weights that the model will have: the trained ones, or their average. */
float *vit_run_weights(const vit_run *run);

vit_identity vit_run_identity(const vit_run *run);

/* Sets steps, schedule and deadline from the options; with `minutes`, by measuring. A schedule of
 * a checkpoint that will be resumed is kept: resumed is its number of steps, or 0. */
vit_status vit_run_plan(vit_run *run, uint64_t resumed, vit_error *error);

/* ---- foresee.c: predictions from measured trainings of presets on the same data ---- */

/* Notes the accuracy to expect after run->schedule steps, where that is known. */
void vit_run_foresee(const vit_run *run);

/* The preset expected to do better than run->preset within options->minutes, in which run->schedule
 * steps fit; NULL: none is known, or the user chose otherwise. */
const char *vit_run_better(const vit_run *run);

/* ---- init.c: a training that begins with options->init ---- */

/* Loads run->start; *preparation: how that model sees pictures. */
vit_status vit_run_open_init(vit_run *run, vit_preparation *preparation, vit_error *error);

/* Gives run->preset the network of run->start, with a head for the data's classes; where the data
 * are of another size, positions are resampled. MISMATCH for a preset that describes another
 * network, and for data with another number of channels. */
vit_status vit_run_adopt_init(vit_run *run, vit_error *error);

/* Copies the weights of run->start over the random ones and frees run->start. A head for other
 * classes keeps its random weights, and a note says so. */
vit_status vit_run_load_init(vit_run *run, vit_error *error);

/* Passes since the start; one pass is all training pictures but those held back. */
double vit_run_epochs(const vit_run *run, uint64_t steps);

/* An event filled with where the run stands. */
vit_event vit_run_event(const vit_run *run, vit_event_kind kind);

/* Calls the callback if there is one; false: stop. */
bool vit_run_emit(const vit_run *run, const vit_event *event);

/* A NOTE event. */
void vit_run_note(const vit_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
