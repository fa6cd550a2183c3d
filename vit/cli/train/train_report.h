/* What vit-train prints about a training: text for people, JSON events, a log file. */
#ifndef VIT_CLI_TRAIN_TRAIN_REPORT_H
#define VIT_CLI_TRAIN_TRAIN_REPORT_H

#include "vit/cli/parts/program.h"
#include "vit/cli/parts/progress.h"
#include "vit/reports.h"

typedef struct vit_train_report {
    const vit_command *command;
    const char *out;              /* path of the model */
    const char *log_path;         /* NULL: no log */
    const char *const *arguments; /* [argument_count] the command line, for the log; or NULL */
    size_t argument_count;
    bool json;         /* events on standard output instead of text */
    bool list_details; /* print notes with vit_event.is_detail, too */
    bool silent;       /* print and write nothing, only sum up */
    bool append;       /* continue the log; else it is emptied when the training starts */
    /* Set here: */
    FILE *log;
    bool log_failed;         /* the log could not be written, which was reported */
    bool started;            /* there was a START event */
    vit_string early;        /* lines for the log from before that */
    char *saved_in;          /* directory of the last checkpoint, freed by vit_free; NULL: none */
    double loss;             /* of the last epoch, for events that have none; NaN before that */
    vit_log_summary summary; /* of what was reported so far */
    vit_progress progress;
} vit_train_report;

/* Opens the log; IO if the file exists and is not such a log. The caller has set the first members.
 */
vit_status vit_train_report_start(vit_train_report *report, vit_error *error);

/* Prints an event, and writes it to the log. */
void vit_train_report_event(vit_train_report *report, const vit_event *event);

/* Closes the log; false if it could not be written, which was reported. */
bool vit_train_report_end(vit_train_report *report);

#endif
