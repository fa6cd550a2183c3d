/* The log of a training, JSON lines as vit-train --log writes them. */
#ifndef VIT_REPORT_LOG_H
#define VIT_REPORT_LOG_H

#include "vit/report/report.h"

typedef struct vit_log {
    char *preset, *data; /* names; owned */
    char *recipe;        /* without its seed, as JSON; owned. NULL: the log has none */
    uint64_t seed;
    bool has_steps;    /* events of steps, which are finer than those of epochs */
    vit_report report; /* its preset, data and curves are those of this struct */
    vit_training_curves curves;
} vit_log;

/* Reads a log; freed by vit_log_free. A training that was resumed has several parts, which are
 * joined. A last line that is cut off is ignored. Errors: FORMAT, naming the line, for what is no
 * log; IO, MEMORY. */
vit_status vit_log_read(vit_log *out, const char *path, vit_error *error);
void vit_log_free(vit_log *log);

#endif
