/* vit_evaluate_page: an evaluation as a page. */
#include "vit/api/internal.h"
#include "vit/base/fpmode.h"
#include "vit/report/report.h"
#include "vit/reports.h"

typedef struct page {
    const vit_evaluation_page *options;
    const vit_model *model;
    const vit_evaluation *result;
    vit_cluster *cluster;
} page;

/* vit_evaluate_with calls this while the data are still open: the page shows their pictures. */
static vit_status write_page(const vit_answers *given, void *context, vit_error *error) {
    const page *p = context;
    const vit_model_file *file = &p->model->file;
    const vit_training_curves none = {0};
    vit_page_lists lists = {0};
    vit_answers answers = *given;
    const vit_figures figures = {p->result, &lists};
    const vit_report report = {.preset = p->options->model ? p->options->model : "a model",
                               .data = p->result->data,
                               .state = VIT_REPORT_DONE,
                               .facts.classes = answers.classes,
                               .parameters = file->table.parameters,
                               .labels = (const char *const *)file->labels,
                               .curves = &none,
                               .answers = &answers,
                               .figures = &figures};
    if (vit_cluster_rank(p->cluster) != 0) return VIT_OK;
    answers.lists = &lists;
    const vit_status status =
        p->options->lists ? p->options->lists(&lists, p->result, p->options->user, error) : VIT_OK;
    return status == VIT_OK ? vit_report_write(p->options->out, &report, error) : status;
}

vit_status vit_evaluate_page(const vit_model *m, const vit_evaluate_options *options,
                             const vit_evaluation_page *choice, vit_evaluation *result,
                             vit_error *error) {
    VIT_ENTRY;
    const page p = {choice, m, result, options ? options->cluster : NULL};
    *result = (vit_evaluation){0};
    vit_status status = choice && choice->out
                            ? vit_report_check(choice->out, error)
                            : vit_fail(error, VIT_ERROR_ARGUMENT, "a page needs a file to write");
    if (status == VIT_OK) status = vit_model_needs(m, false, error);
    if (status == VIT_OK && m->file.scoring != VIT_SCORING_SOFTMAX)
        status = vit_fail(error, VIT_ERROR_UNSUPPORTED,
                          "the page of an evaluation is for models of one class a picture");
    if (status != VIT_OK) return status;
    return vit_evaluate_with(m, options, result, write_page, (void *)&p, error);
}
