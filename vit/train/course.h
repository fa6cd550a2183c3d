/* A training as others see it while it runs and afterwards: its curves, the page of --report, the
 * event files of --tensorboard. Nothing of it changes what is trained. */
#ifndef VIT_TRAIN_COURSE_H
#define VIT_TRAIN_COURSE_H

#include "vit/report/report.h"
#include "vit/report/tensorboard.h"

typedef struct vit_run vit_run;

typedef struct vit_course {
    bool wanted;     /* a report or event files are */
    bool answers;    /* so are answers: the pictures have classes */
    unsigned hinted; /* the findings, bits 1 << vit_finding, that have been said */
    vit_training_curves curves;
    vit_tensorboard *board; /* NULL: none */
    float *logits;          /* [val_count][classes] of the held-back pictures, where wanted */
    uint64_t answered;      /* the step whose answers they are; 0: there are none yet */
    double written;         /* vit_clock() when the report last was */
    uint64_t tenth;         /* of the schedule, whose pictures are in the event files */
    vit_error failed;       /* of the first file that could not be written; OK: all could */
} vit_course;

/* Finds out whether the files can be written; takes over what an earlier part of the training saw.
 * MISMATCH for a report that would replace a file of another kind. */
vit_status vit_course_open(vit_run *run, vit_error *error);
void vit_course_close(vit_run *run);

/* After a step of `seconds` at learning rate lr. */
void vit_course_step(vit_run *run, double loss, double lr, double seconds);

/* The training pictures that are answered after an epoch, as they are, beside the held-back ones.
 */
size_t vit_course_sample(const vit_run *run);

/* After the held-back pictures were answered, with the score's logits in course->logits. Says,
 * once, when the training overfits, and what to try. Fails only where pictures cannot be read. */
vit_status vit_course_epoch(vit_run *run, vit_error *error);

/* The training was stopped: the report so far. */
void vit_course_stop(vit_run *run);

/* It is over: says what else the figures show; the model answered the test pictures; logits
 * [test.count][classes], NULL: there are none, and the held-back ones count. */
void vit_course_end(vit_run *run, const float *logits, double top1, double loss);

#endif
