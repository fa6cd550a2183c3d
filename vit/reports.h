/* vit/reports.h - trainings as pages, one or several side by side; what their logs say; and an
 * evaluation as a page.
 *
 *     const char *logs[] = {"a.jsonl", "b.jsonl", "c.jsonl"};
 *     const vit_comparison_options options = {.logs = logs, .count = 3, .out = "runs.html"};
 *     if (vit_write_comparison(&options, &error) != VIT_OK)
 *         fprintf(stderr, "%s\n", error.message);
 */
#ifndef VIT_REPORTS_H
#define VIT_REPORTS_H

#include "vit/vit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a training as a page -------------------------------------------------------------------- */

typedef struct vit_report_options {
    const char *log; /* the log of a training: JSON lines, as vit-train --log writes them */
    const char *out; /* the page: one self-contained HTML file. An existing file that is not such a
                        page is not replaced: VIT_ERROR_MISMATCH */
    const char *model, *config; /* a model whose first-layer weights are shown, and its config if it
                                   is published weights; or NULL */
    /* with model: the data for its confusion matrix and its worst mistakes; or NULL */
    const char *data, *class_column; /* the latter as in vit_train_options */
    vit_split split;
    int threads;     /* 0: OMP_NUM_THREADS where it is set, else as many as the process may use */
    const char *cpu; /* as in vit_session_options */
    vit_note *note;  /* NULL: notes are dropped */
    void *user;
} vit_report_options;

/* Writes a page about a training from its log. vit_train writes the same page itself when its
 * options name a report; from a log it has no pictures without a model and data. */
VIT_API vit_status vit_write_report(const vit_report_options *options, vit_error *error);

/* What the log of a training says of its outcome. Shares of right answers, 0..1; NaN: none. */
typedef struct vit_log_summary {
    char preset[64], data[256]; /* names, cut to fit */
    /* all that the model depends on but the seed, as JSON: two trainings of one recipe have the
     * same text. NULL: the log does not say it */
    char *recipe;
    uint64_t seed;               /* 0 without a recipe */
    uint64_t step, steps;        /* done, and of the whole schedule */
    double best_top1, last_top1; /* of the validation pictures: best epoch, last epoch */
    double test_top1;
} vit_log_summary;
/* *out is freed by vit_log_summary_clear. FORMAT, naming the line, for what is no log. */
VIT_API vit_status vit_read_log(vit_log_summary *out, const char *path, vit_error *error);
VIT_API void vit_log_summary_clear(vit_log_summary *summary);

/* ---- several trainings ----------------------------------------------------------------------- */

/* Trainings by their recipe: those of a group differ in the seed alone. */
typedef struct vit_run_groups {
    size_t runs, count; /* of trainings, and of groups */
    size_t *group;      /* [runs] the group of each; groups are in the order of their first */
    char **titles;      /* [count] what a group has that others have not: "lr 0.002, batch 64"; ""
                           for one group alone */
} vit_run_groups;

/* Groups trainings by the recipes of their logs; those without one by preset, data and number of
 * steps. Freed by vit_run_groups_clear. Errors: MEMORY. */
VIT_API vit_status vit_group_runs(vit_run_groups *out, const vit_log_summary *runs, size_t count,
                                  vit_error *error);
VIT_API void vit_run_groups_clear(vit_run_groups *groups);

typedef struct vit_comparison_options {
    const char *const *logs; /* [count] JSON lines, as vit-train --log writes them; 2 or more */
    size_t count;
    const char *out; /* the page: one HTML file. An existing file that is no page of a training is
                        not replaced: VIT_ERROR_MISMATCH */
} vit_comparison_options;

/* Writes a page with the curves of all trainings, and their figures with means by recipe. */
VIT_API vit_status vit_write_comparison(const vit_comparison_options *options, vit_error *error);

/* ---- an evaluation as a page ----------------------------------------------------------------- */

/* A picture whose label is likely wrong (vit/reliance.h): its number among the answers, from 0, in
 * the order of the callback `picture`; and the class that it likely is of. */
typedef struct vit_listed_picture {
    size_t picture, likely;
} vit_listed_picture;

/* What the page shows beside the figures. */
typedef struct vit_page_lists {
    const vit_listed_picture *issues; /* [issue_count] NULL: they were not searched for */
    size_t issue_count;
    const char *const *notes, *const *files; /* [note_count] what is to be known of the data;
                                                [file_count] tables that belong to the page */
    size_t note_count, file_count;
} vit_page_lists;

typedef struct vit_evaluation_page {
    const char *out;   /* one self-contained HTML file; one that is no page of this library is not
                          replaced: VIT_ERROR_MISMATCH */
    const char *model; /* the model's name, for the title */
    /* Called when all pictures are answered; what it fills in must live until vit_evaluate_page
     * returns. NULL: none */
    vit_status (*lists)(vit_page_lists *lists, const vit_evaluation *result, void *user,
                        vit_error *error);
    void *user;
} vit_evaluation_page;

/* As vit_evaluate for a model of one class a picture, and writes a page: accuracy with its
 * interval, figures of each class, confusion matrix, reliability diagram, risk and coverage, the
 * worst pictures and those listed. Of several ranks only rank 0 writes it. */
VIT_API vit_status vit_evaluate_page(const vit_model *model, const vit_evaluate_options *options,
                                     const vit_evaluation_page *page, vit_evaluation *result,
                                     vit_error *error);

#ifdef __cplusplus
}
#endif

#endif
