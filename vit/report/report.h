/* A training or an evaluation as a page: one HTML file that loads nothing else, neither other files
 * nor the network. */
#ifndef VIT_REPORT_REPORT_H
#define VIT_REPORT_REPORT_H

#include "vit/report/advice.h"
#include "vit/report/figures.h"
#include "vit/report/weights.h"

typedef enum vit_report_state {
    VIT_REPORT_DONE,
    VIT_REPORT_STOPPED, /* before its last step */
    VIT_REPORT_RUNNING,
    VIT_REPORT_LOG, /* not known: the report is made from a log that has no end */
    VIT_REPORT_STATE_COUNT,
} vit_report_state;

typedef struct vit_report {
    const char *preset, *data;
    vit_report_state state;
    vit_facts facts;
    size_t parameters, batch;
    uint64_t step;
    double test_top1;          /* NaN: not measured */
    const char *const *labels; /* [facts.classes]; NULL: numbers */
    const vit_training_curves *curves;
    const vit_answers *answers;       /* NULL: there are none */
    const vit_shown_weights *weights; /* NULL: they are not known */
    const vit_figures *figures; /* of an evaluation, whose curves are empty; NULL: a training */
} vit_report;

/* Writes the page, atomically replacing a file that is there. Its bytes depend on *report alone,
 * and of the figures only the rates, all in one line, depend on the machine. Errors: IO, MEMORY. */
vit_status vit_report_write(const char *path, const vit_report *report, vit_error *error);

/* MISMATCH if there is a file at `path` that is no such page and must not be replaced. */
vit_status vit_report_check(const char *path, vit_error *error);

/* For a training that is resumed: appends the curves, up to `step`, of the page that it wrote
 * before; none if there is no page, or its schedule does not have `steps` steps. FORMAT for a page
 * that this library did not write so. */
vit_status vit_report_read_curves(vit_training_curves *curves, const char *path, uint64_t step,
                                  uint64_t steps, vit_error *error);

#endif
