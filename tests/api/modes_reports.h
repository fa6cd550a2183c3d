/* For test_modes.c alone: the functions of vit/reports.h that came with comparisons, and matrices
 * of vit/maps.h. */
#ifndef VIT_TESTS_API_MODES_REPORTS_H
#define VIT_TESTS_API_MODES_REPORTS_H

#include "tests/api/modes.h"

/* The log of the room, twice. */
static void read_logs(vit_log_summary logs[2]) {
    for (size_t i = 0; i < 2; i++) works(vit_read_log(&logs[i], "log", &error));
}

static void try_vit_log_summary_clear(void) {
    vit_log_summary logs[2];
    read_logs(logs);
    TRY(vit_log_summary_clear(&logs[0]));
    vit_log_summary_clear(&logs[1]);
}

static void try_vit_group_runs(void) {
    vit_log_summary logs[2];
    vit_run_groups groups;
    vit_status status;
    read_logs(logs);
    TRY(status = vit_group_runs(&groups, logs, 2, &error));
    works(status);
    add_number((double)groups.count);
    vit_run_groups_clear(&groups);
    for (size_t i = 0; i < 2; i++) vit_log_summary_clear(&logs[i]);
}

static void try_vit_run_groups_clear(void) {
    vit_log_summary logs[2];
    vit_run_groups groups;
    read_logs(logs);
    works(vit_group_runs(&groups, logs, 2, &error));
    TRY(vit_run_groups_clear(&groups));
    for (size_t i = 0; i < 2; i++) vit_log_summary_clear(&logs[i]);
}

static void try_vit_write_comparison(void) {
    static const char *const logs[] = {"log", "log"};
    const vit_comparison_options options = {.logs = logs, .count = 2, .out = "written"};
    vit_status status;
    TRY(status = vit_write_comparison(&options, &error));
    works(status);
    add_file("written");
    unlink("written");
}

static void try_vit_preset_key(void) {
    const char *text;
    TRY(text = vit_preset_key("num_heads", false));
    add_text(text);
}

static void try_vit_explain_matrices(void) {
    vit_answer_matrices out;
    vit_status status;
    TRY(status = vit_explain_matrices(session, digits[0], NULL, &out, &error));
    works(status);
    for (size_t i = 0; i < out.count; i++)
        add(out.items[i].values, out.items[i].rows * out.items[i].columns * sizeof(float));
    vit_matrices_clear(&out);
}

static void try_vit_matrices_clear(void) {
    vit_answer_matrices out;
    works(vit_explain_matrices(session, digits[0], NULL, &out, &error));
    TRY(vit_matrices_clear(&out));
}

static void try_vit_matrices_save(void) {
    vit_answer_matrices out;
    vit_status status;
    works(vit_explain_matrices(session, digits[0], NULL, &out, &error));
    TRY(status = vit_matrices_save(&out, "written.npz", &error));
    works(status);
    add_file("written.npz");
    unlink("written.npz");
    vit_matrices_clear(&out);
}

static void try_vit_evaluate_page(void) {
    const vit_evaluate_options options = {.arrays = &few, .data = "drawn"};
    const vit_evaluation_page page = {.out = "written.html", .model = "a model"};
    vit_evaluation result;
    vit_status status;
    TRY(status = vit_evaluate_page(model, &options, &page, &result, &error));
    works(status);
    add_number(result.top1);
    vit_evaluation_clear(&result);
    unlink("written.html");
}

#endif
