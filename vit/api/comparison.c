/* vit/reports.h: several trainings by their recipes, and a page of them. */
#include "vit/base/fpmode.h"
#include "vit/base/sys.h"
#include "vit/formats/json_out.h"
#include "vit/report/compare.h"
#include "vit/report/groups.h"
#include "vit/reports.h"

#include <stdio.h>

/* *out: for a log without a recipe, what it says of one; owned. */
static vit_status recipe_of(char **out, const vit_log_summary *run, vit_error *error) {
    vit_json_out json = {0};
    if (run->recipe) {
        *out = vit_strdup(run->recipe);
    } else {
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "preset", run->preset);
        vit_json_text(&json, "data", run->data);
        vit_json_count(&json, "schedule_steps", run->steps);
        vit_json_close(&json, '}');
        *out = vit_json_take(&json);
    }
    return *out ? VIT_OK : vit_fail_memory(error, "recipes", 0);
}

/* Titles of the groups, from the recipe of the first training of each. */
static vit_status name_groups(vit_run_groups *g, char *const *recipes, vit_error *error) {
    const char **first = vit_alloc(g->count, sizeof *first);
    vit_status status =
        first ? VIT_OK : vit_fail_memory(error, "recipes", g->count * sizeof *first);
    for (size_t i = g->runs; i-- > 0 && first;) first[g->group[i]] = recipes[i];
    for (size_t i = 0; i < g->count && status == VIT_OK; i++)
        status = vit_recipe_differs(&g->titles[i], first, g->count, i, error);
    vit_free(first);
    return status;
}

vit_status vit_group_runs(vit_run_groups *out, const vit_log_summary *runs, size_t count,
                          vit_error *error) {
    VIT_ENTRY;
    char **recipes = vit_alloc(count, sizeof *recipes);
    *out = (vit_run_groups){.runs = count, .group = vit_alloc(count, sizeof *out->group)};
    vit_status status =
        recipes && out->group ? VIT_OK : vit_fail_memory(error, "recipes", count * sizeof *recipes);
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        status = recipe_of(&recipes[i], &runs[i], error);
    if (status == VIT_OK) {
        out->count = vit_recipes_group(out->group, (const char *const *)recipes, count);
        out->titles = vit_alloc(out->count, sizeof *out->titles);
        status = out->titles ? name_groups(out, recipes, error)
                             : vit_fail_memory(error, "recipes", out->count);
    }
    for (size_t i = 0; i < count && recipes; i++) vit_free(recipes[i]);
    vit_free(recipes);
    if (status != VIT_OK) vit_run_groups_clear(out);
    return status;
}

void vit_run_groups_clear(vit_run_groups *groups) {
    if (!groups) return;
    for (size_t i = 0; i < groups->count && groups->titles; i++) vit_free(groups->titles[i]);
    vit_free(groups->titles);
    vit_free(groups->group);
    *groups = (vit_run_groups){0};
}

static vit_log_summary summary_of(const vit_log *log) {
    vit_log_summary s = {.steps = log->report.facts.steps, .recipe = log->recipe};
    snprintf(s.preset, sizeof s.preset, "%s", log->preset);
    snprintf(s.data, sizeof s.data, "%s", log->data);
    return s;
}

static vit_status write_page(const vit_comparison_options *o, const vit_log *logs,
                             vit_error *error) {
    vit_log_summary *runs = vit_alloc(o->count, sizeof *runs);
    vit_run_groups groups = {0};
    if (!runs) return vit_fail_memory(error, "the trainings", o->count * sizeof *runs);
    for (size_t i = 0; i < o->count; i++) runs[i] = summary_of(&logs[i]);
    vit_status status = vit_group_runs(&groups, runs, o->count, error);
    if (status == VIT_OK)
        status = vit_compare_write(o->out, logs, o->logs, o->count, groups.group,
                                   (const char *const *)groups.titles, groups.count, error);
    vit_run_groups_clear(&groups);
    vit_free(runs);
    return status;
}

vit_status vit_write_comparison(const vit_comparison_options *options, vit_error *error) {
    VIT_ENTRY;
    const vit_comparison_options none = {0}, *o = options ? options : &none;
    if (!o->logs || o->count < 2 || !o->out)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "a comparison needs two logs or more, and a file to write");
    vit_status status = vit_report_check(o->out, error);
    if (status != VIT_OK) return status;
    vit_log *logs = vit_alloc(o->count, sizeof *logs);
    size_t read = 0;
    if (!logs) return vit_fail_memory(error, "the trainings", o->count * sizeof *logs);
    for (; read < o->count && status == VIT_OK; read++)
        status = vit_log_read(&logs[read], o->logs[read], error);
    if (status == VIT_OK) status = write_page(o, logs, error);
    for (size_t i = 0; i < read; i++) vit_log_free(&logs[i]);
    vit_free(logs);
    return status;
}
