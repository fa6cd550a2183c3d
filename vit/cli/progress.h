/* How far a training is, on standard error: on a terminal one line drawn again and again in place,
 * and in any case a line for every epoch. */
#ifndef VIT_CLI_PROGRESS_H
#define VIT_CLI_PROGRESS_H

#include "vit/base/text.h"

typedef struct vit_progress {
    bool redraw;     /* standard error is a terminal that can */
    bool epochs;     /* a line for every epoch is wanted */
    size_t drawn;    /* columns of the line that stands there now */
    double val_top1; /* of the last epoch; NaN: none yet */
} vit_progress;

/* epochs: a line for every epoch is wanted. */
vit_progress vit_progress_start(bool epochs);

/* Shows a STEP or EPOCH event. */
void vit_progress_show(vit_progress *progress, const vit_event *event);

/* Wipes the line away; before anything else is written, and at the end. */
void vit_progress_clear(vit_progress *progress);

/* The line itself, at most `width` columns: what comes last is left out first. */
void vit_progress_line(vit_text *out, const vit_event *event, double val_top1, size_t width);

/* Seconds as "0:32", "12:05", "3:04:05". */
char *vit_format_duration(char text[32], double seconds);

#endif
