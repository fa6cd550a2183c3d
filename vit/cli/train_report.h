/* What a training says while it runs: text for people, JSON events, a log file. */
#ifndef VIT_CLI_TRAIN_REPORT_H
#define VIT_CLI_TRAIN_REPORT_H

#include "vit/cli/program.h"
#include "vit/cli/progress.h"

typedef struct vit_train_report {
    const vit_command *command;
    const char *out;      /* the model to be written */
    const char *log_path; /* NULL: no log */
    FILE *log;
    bool json;            /* events on standard output instead of text */
    bool log_failed;      /* which has been said */
    bool list_details;    /* say notes that are one of many, too */
    bool started;         /* START has come */
    vit_text early;       /* lines for the log from before that */
    char *saved_in;       /* directory of the last checkpoint, freed by vit_free; or NULL */
    bool append;          /* the log is gone on with; else begun again when the training starts */
    uint64_t step, steps; /* of the last event */
    double loss;          /* of the last epoch: for the events that measure none; NaN before */
    vit_progress progress;
} vit_train_report;

/* Opens the log; a file that is no such log is not written to. The members that are no outcome are
 * the caller's to set. */
vit_status vit_train_report_start(vit_train_report *report, vit_error *error);

/* Says an event, and writes it to the log. */
void vit_train_report_event(vit_train_report *report, const vit_event *event);

/* Closes the log; false when it could not be written, which has been said. */
bool vit_train_report_end(vit_train_report *report);

#endif
