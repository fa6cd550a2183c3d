/* What a training shows while it runs and afterwards: its curves, the page of --report, the event
 * files of --tensorboard, hints. None of it changes what is trained. */
#ifndef VIT_TRAIN_MONITOR_H
#define VIT_TRAIN_MONITOR_H

#include "vit/report/advice.h"

typedef struct vit_run vit_run;

/* What a guest shows of a training while it runs; of the list `guests`. A file that cannot be
 * written is for vit_monitor_failed, and does not end the training. */
typedef struct vit_watcher {
    vit_status (*open)(vit_run *run, vit_error *error);
    void (*point)(vit_run *run, const vit_point *point); /* the newest of the curves */
    void (*epoch)(vit_run *run,
                  const vit_epoch_point *point); /* as vit_monitor_epoch, _stop, _end */
    void (*stop)(vit_run *run);
    void (*end)(vit_run *run, const float *logits, double top1, double loss);
    void (*close)(vit_run *run); /* also after open has failed */
} vit_watcher;

extern const vit_watcher *const vit_run_watcher; /* NULL: there is none */

typedef struct vit_monitor {
    const vit_watcher *watcher;  /* a page or event files were asked for; NULL: not */
    struct vit_watched *watched; /* its own */
    bool answers;                /* it shows answers: the pictures have classes */
    unsigned hinted;             /* findings that were told, as bits 1 << vit_finding */
    vit_training_curves curves;
    float *logits;     /* [val_count][classes] of the validation pictures; NULL: not kept */
    uint64_t answered; /* the step after which they were computed; 0: not yet */
    vit_error failed;  /* of the first file that could not be written; OK: there is none */
} vit_monitor;

/* Keeps the first file that could not be written, and notes it. */
void vit_monitor_failed(vit_run *run, const vit_error *why);

/* What advice is given by. */
vit_facts vit_monitor_facts(const vit_run *run, bool is_over);

/* Checks that the files can be written; a training that is resumed continues its report's curves.
 * MISMATCH for a report that would replace a file of another kind. */
vit_status vit_monitor_open(vit_run *run, vit_error *error);
void vit_monitor_close(vit_run *run);

/* Records a step that took `seconds` at learning rate lr. */
void vit_monitor_step(vit_run *run, double loss, double lr, double seconds);

/* How many training pictures are classified after an epoch, to compare with the validation ones. */
size_t vit_monitor_sample(const vit_run *run);

/* Records an epoch, after the validation pictures were classified and their logits stored in
 * monitor->logits; notes, once each, what the curves show (overfitting, ...) and what to try. Fails
 * only if pictures cannot be read. */
vit_status vit_monitor_epoch(vit_run *run, vit_error *error);

/* The training was stopped: writes the report so far. */
void vit_monitor_stop(vit_run *run);

/* The training is complete: notes what the curves show, writes report and event files. Accuracy and
 * loss are those of the test pictures, NaN without any; logits: [test.count][classes], or NULL to
 * show the answers to the validation pictures. */
void vit_monitor_end(vit_run *run, const float *logits, double top1, double loss);

#endif
