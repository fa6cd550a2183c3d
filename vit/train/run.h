/* One training, from the first check to the model file. The parts of it, in the order of a run:
 * open.c opens data, network and checkpoint (init_from.c: weights to start from; outputs.c: where
 * the outputs go; classes.c: how many pictures each class has), length.c decides how many steps
 * there are, loop.c runs steps and epochs, monitor.c shows them, divergence.c notices when they no
 * longer learn anything, ranks.c compares what several processes are about to do, finish.c writes
 * and tests the model. A step itself is in step/.
 */
#ifndef VIT_TRAIN_RUN_H
#define VIT_TRAIN_RUN_H

#include "vit/model/run/infer.h"
#include "vit/train/checkpoint.h"
#include "vit/train/monitor.h"
#include "vit/train/step/loader.h"
#include "vit/train/step/teacher.h"
#include "vit/weights/file/model_file.h"

/* Where the weights come from that a training starts with: a model (--init), or random numbers. */
typedef struct vit_start {
    char sha256[65];      /* of the model; "": none, the weights are random */
    vit_model_file model; /* it, until vit_run_load_init has copied its weights */
    size_t height, width; /* its picture size, before it is resized for the data */
} vit_start;

/* How long the training is. */
typedef struct vit_plan {
    uint64_t steps;    /* the step after which this run ends */
    uint64_t schedule; /* steps of the whole learning rate schedule */
    double deadline;   /* vit_clock() at which it ends, whatever the step; infinite without
                          --minutes */
} vit_plan;

typedef struct vit_mean {
    double sum;
    uint64_t count;
} vit_mean;

/* What this process has done so far, and what it has told of it. */
typedef struct vit_pace {
    double started;                  /* vit_clock() when the command began */
    double seconds;                  /* spent in steps */
    uint64_t steps;                  /* and their number */
    double sent, received, talked;   /* in them: bytes over the wire, seconds of communication */
    double beside;                   /* bytes of `sent` that left while this rank computed */
    double last_event;               /* vit_clock() of the last STEP event */
    vit_mean event_loss, event_norm; /* of the steps since then */
    vit_mean epoch_norm;             /* of the steps since the last EPOCH event; their loss is in
                                        the history */
} vit_pace;

/* The answers to the validation pictures. */
typedef struct vit_validation {
    double top1, loss;             /* NaN until measured */
    double temperature, threshold; /* of the model; 0 until they are fitted */
} vit_validation;

/* What is kept of the training's states. */
typedef struct vit_saving {
    vit_checkpoints checkpoints; /* open if options->checkpoint names a directory */
    uint64_t step;               /* of the last one that was written; 0: none */
    double tried;                /* vit_clock() of the last attempt to write one */
    vit_error failed;            /* why that failed; status VIT_OK: it did not */
    float *best;                 /* with keep_best: the weights after history.best_step; owned */
} vit_saving;

/* The model file. */
typedef struct vit_output {
    vit_error failed; /* why options->out could not be written; status VIT_OK: it was written */
    char *elsewhere;  /* path of the model that was written in its place; owned */
} vit_output;

struct vit_run {
    const vit_train_options *options;
    const vit_kernels *kernels;
    int threads;

    vit_preset preset; /* fitted to the data, with the options' batch size, learning rate, ... */
    vit_dataset data;
    vit_start start;
    vit_teacher teacher; /* zeroed: there is none */

    vit_loader loader;
    vit_trainer *trainer;
    vit_inference *inference; /* answers with the trainer's network */

    vit_plan plan;
    vit_pace pace;
    vit_history history;
    bool stop_asked; /* of this rank; all stop after the next step */
    bool diverged;   /* set by divergence.c: the training cannot go on */
    vit_validation validation;
    vit_saving saving;
    vit_output output;
    vit_monitor monitor;
};

/* A run whose command begins now. The caller sets kernels and threads. */
vit_run vit_run_begin(const vit_train_options *options);

/* What a checkpoint must agree with to be one of this training. */
vit_identity vit_run_identity(const vit_run *run);

/* Runs the whole training and frees what it holds. On success *model (model may be NULL) is the
 * trained model, its linear weights packed; free it with vit_model_file_clear. CANCELLED if the
 * callback asked to stop: a checkpoint is written first, and if that fails, so does the run. Any
 * other checkpoint that cannot be written is only recorded in run->saving.failed. */
vit_status vit_run_train(vit_run *run, vit_model_file *model, vit_error *error);

/* Whether this is rank 0, or the only process: it alone writes files. */
bool vit_run_writes(const vit_run *run);

/* MISMATCH, naming the rank and what differs, unless all ranks do the same training: version,
 * network, recipe, data, options. */
vit_status vit_run_compare_ranks(const vit_run *run, vit_error *error);

/* Notes ranks that have more threads than processors: a launcher binds processes to few. */
vit_status vit_run_note_binding(const vit_run *run, vit_error *error);

/* Gives all ranks the state of step `step` that rank 0 has loaded. */
vit_status vit_run_spread(vit_run *run, uint64_t step, vit_error *error);

/* ---- open.c, init_from.c, outputs.c, classes.c: before the first step ---- */

/* Opens data, preset and trainer, resumes from a checkpoint if that is asked for, and checks that
 * the outputs can be written. Call vit_run_close whether or not it succeeds. */
vit_status vit_run_open(vit_run *run, vit_error *error);
void vit_run_close(vit_run *run);

/* recipe->val = the number of the run's validation pictures, which goes into the
 * model file. */
void vit_run_hold_back(vit_recipe *recipe, const vit_run *run);

/* Loads the model of options->init into run->start.model; *preparation: picture size and
 * preprocessing of that model. */
vit_status vit_run_open_init(vit_run *run, vit_preparation *preparation, vit_error *error);

/* Gives run->preset the network of run->start.model, with a head for the data's classes; positions
 * are resampled if the data have another picture size. MISMATCH if the preset describes a different
 * network, or if the number of channels or the vocabularies differ. */
vit_status vit_run_adopt_init(vit_run *run, vit_error *error);

/* Copies the weights of run->start.model into the trainer and frees it. The rows of the head
 * follow the names of the classes; those of classes that the weights do not know keep their random
 * values, which a note says. */
vit_status vit_run_load_init(vit_run *run, vit_error *error);

/* Checks that model and checkpoints can be written, by opening the files and reserving the space
 * they need. MISMATCH if options->out exists and was not made by this training, unless
 * options->overwrite. */
vit_status vit_run_try_outputs(vit_run *run, vit_error *error);

/* The check of what is at options->out alone. */
vit_status vit_run_check_out(const vit_run *run, vit_error *error);

/* Gives the trainer class weights if the recipe asks for balance; notes classes that are rare,
 * unbalanced or not tested. */
vit_status vit_run_check_classes(vit_run *run, vit_error *error);

/* The class that most of `count` pictures are of; *share = its share of them, 0 if it is not known:
 * there are none, they have no classes, or no memory. numbers: of the records; NULL: the first. */
size_t vit_run_largest_class(double *share, const vit_records *records, const uint32_t *numbers,
                             size_t count, size_t classes);

/* Notes it if the share of test pictures that are answered right is no better than that of the
 * largest class. */
void vit_run_note_majority(const vit_run *run, double top1);

/* ---- length.c: how many steps there are, and what to expect of them ---- */

/* Sets run->plan from the options; with options->minutes, by timing a few
 * steps. resumed: steps of the schedule of the checkpoint that will be resumed, which is kept; 0:
 * none. */
vit_status vit_run_plan(vit_run *run, uint64_t resumed, vit_error *error);

/* Epochs that `steps` steps are; an epoch is one pass over the training pictures, without those
 * held back. */
double vit_run_epochs(const vit_run *run, uint64_t steps);

/* Notes the network that the data choose, where the preset leaves its sizes open, and what other
 * sizes would cost; and if so little fits into options->minutes that it can hardly be learnt. */
void vit_run_note_network(const vit_run *run);

/* Notes the accuracy to expect after run->plan.schedule steps, if trainings like it were measured.
 */
void vit_run_note_expected(const vit_run *run);

/* The preset that is expected to do better than run->preset within options->minutes, in which
 * run->plan.schedule steps fit; NULL: none is known, or the user has chosen one. */
const char *vit_run_better_preset(const vit_run *run);

/* ---- divergence.c: whether the training still learns ---- */

/* Call after every step, with its loss: counts steps that had to be skipped. ARGUMENT, with what to
 * try, when too many steps in a row were skipped, or had a loss many times that of the start. */
vit_status vit_run_check_step(vit_run *run, double loss, vit_error *error);

/* The largest gradient norm that the next step may use: for vit_trainer_limit. */
double vit_run_norm_limit(const vit_run *run);

/* ARGUMENT if val_loss was measured and is not finite. */
vit_status vit_run_check_validation(vit_run *run, vit_error *error);

/* Whether the last step was used and its loss was not high. */
bool vit_run_is_healthy(const vit_run *run);

/* After the last step: ARGUMENT if the training has learnt nothing. */
vit_status vit_run_check_learnt(vit_run *run, vit_error *error);

/* ---- finish.c: what a training leaves ---- */

/* The recipe that goes into the model file after `steps` steps: how the model was made, as JSON;
 * freed by vit_free. NULL: no memory. */
char *vit_run_recipe(const vit_run *run, uint64_t steps);

/* The weights that the model will have: the trained ones, or their moving average; the trainer's
 * own array. */
float *vit_run_weights(const vit_run *run);

/* *out: all of the model but its weights; freed by vit_model_file_clear, also on failure. */
vit_status vit_run_describe(vit_model_file *out, const vit_run *run, vit_error *error);

/* Writes options->out, tests the model and emits DONE; *model as for vit_run_train. */
vit_status vit_run_finish(vit_run *run, vit_model_file *model, vit_error *error);

/* ---- loop.c: events ---- */

/* Steps done so far, those of the checkpoint it was resumed from included. */
uint64_t vit_run_step(const vit_run *run);

/* An event of that kind, filled with the present state of the run. */
vit_event vit_run_event(const vit_run *run, vit_event_kind kind);

/* Passes the event to the callback, if there is one; false: the callback asks to stop. */
bool vit_run_emit(const vit_run *run, const vit_event *event);

/* Emits a NOTE event with this text. */
void vit_run_note(const vit_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
