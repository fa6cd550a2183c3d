/* The progress of a training, or of other work, on standard error: on a terminal one line that is
 * redrawn in place, and everywhere a line for each epoch; where nothing is redrawn, also one a
 * minute within it. */
#ifndef VIT_CLI_PARTS_PROGRESS_H
#define VIT_CLI_PARTS_PROGRESS_H

#include "vit/base/text.h"

typedef struct vit_progress {
    bool redraw;     /* standard error is a terminal that can redraw a line */
    bool epochs;     /* write a line for each epoch */
    size_t drawn;    /* columns of the line that is on the terminal now */
    double val_top1; /* of the last epoch; NaN: none yet */
    double every;    /* seconds after which another line is written, if nothing is redrawn */
    double written;  /* vit_clock() at the last line */
} vit_progress;

/* epochs: write a line for each epoch. */
vit_progress vit_progress_start(bool epochs);

/* Shows a STEP or EPOCH event. */
void vit_progress_show(vit_progress *progress, const vit_event *event);

/* Shows a text in place of the line, at most five times a second; elsewhere than on a terminal
 * nothing. */
void vit_progress_text(vit_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Erases the line: call it before anything else is written, and at the end. */
void vit_progress_clear(vit_progress *progress);

/* Appends the line, at most `width` columns: parts that do not fit are left out, the last first. */
void vit_progress_line(vit_string *out, const vit_event *event, double val_top1, size_t width);

/* Seconds as "0:32", "12:05", "3:04:05". */
char *vit_format_duration(char text[32], double seconds);

#endif
