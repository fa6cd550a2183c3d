/* The log of a training, JSON lines as vit-train --log writes them. */
#ifndef VIT_REPORT_LOG_H
#define VIT_REPORT_LOG_H

#include "vit/report/report.h"

typedef struct vit_log {
    char *preset, *data; /* names; NULL: not said */
    vit_report report;   /* preset, data and curves point into this struct */
    vit_curves curves;
} vit_log;

/* Of several parts of a training, --resume having appended to the log, all count. A last line that
 * is cut off is left out. FORMAT, naming the line, for what is no log; freed by vit_log_free. */
vit_status vit_log_read(vit_log *out, const char *path, vit_error *error);
void vit_log_free(vit_log *log);

#endif
