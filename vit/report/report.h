/* A training as a page: one HTML file that needs nothing else and asks nobody. */
#ifndef VIT_REPORT_REPORT_H
#define VIT_REPORT_REPORT_H

#include "vit/report/advice.h"
#include "vit/report/weights.h"

typedef enum vit_report_state {
    VIT_REPORT_DONE,
    VIT_REPORT_STOPPED, /* before its last step */
    VIT_REPORT_RUNNING,
    VIT_REPORT_LOG, /* made of a log, which does not say */
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
    const vit_curves *curves;
    const vit_answers *answers;       /* NULL: there are none */
    const vit_shown_weights *weights; /* NULL: they are not known */
} vit_report;

/* Writes the page, in place of what is there, in one piece. The bytes are a function of *report
 * alone; of its figures only the rates, which stand in one line, depend on the machine. */
vit_status vit_report_write(const char *path, const vit_report *report, vit_error *error);

/* MISMATCH where there is a file that is no such page: it must not be replaced. */
vit_status vit_report_check(const char *path, vit_error *error);

/* Appends the curves of a page that was written before, up to `step`, so that a training that goes
 * on has them; nothing where there is no page, or one of another schedule. FORMAT for a page that
 * is not as this library writes it. */
vit_status vit_report_read_curves(vit_curves *curves, const char *path, uint64_t step,
                                  uint64_t steps, vit_error *error);

#endif
