#include "vit/cli/train/runs.h"

#include <math.h>
#include <string.h>

#include "vit/base/sys.h"
#include "vit/reports.h"

/* What is compared: its name in JSON, its heading, and where it stands. */
static const struct figure {
    const char *key, *heading;
    size_t offset;
} figures[] = {
    {"best_val_top1", "validation", offsetof(vit_log_summary, best_top1)},
    {"last_val_top1", "at last", offsetof(vit_log_summary, last_top1)},
    {"test_top1", "test", offsetof(vit_log_summary, test_top1)},
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

/* Trainings, and which have one recipe. */
typedef struct runs_by_recipe {
    const vit_run *runs;
    size_t count;
    vit_run_groups groups;
} runs_by_recipe;

static double value_of(const vit_run *run, const struct figure *f) {
    return *(const double *)((const char *)&run->summary + f->offset);
}

/* Of the trainings of a group. NaN where one lacks the figure. */
static double mean_of(const runs_by_recipe *r, size_t group, const struct figure *f) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (r->groups.group[i] != group) continue;
        sum += value_of(&r->runs[i], f);
        n++;
    }
    return sum / (double)n;
}

/* The standard deviation of a sample, divided by n - 1; NaN for one training. */
static double deviation_of(const runs_by_recipe *r, size_t group, const struct figure *f) {
    const double mean = mean_of(r, group, f);
    double squares = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (r->groups.group[i] != group) continue;
        squares += (value_of(&r->runs[i], f) - mean) * (value_of(&r->runs[i], f) - mean);
        n++;
    }
    return n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
}

static size_t size_of(const runs_by_recipe *r, size_t group) {
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) n += r->groups.group[i] == group;
    return n;
}

/* Says which trainings are there twice: their deviation is 0 by no merit of the recipe. */
static void note_twice(const vit_command *command, const runs_by_recipe *r) {
    for (size_t i = 0; i < r->count; i++)
        for (size_t k = 0; k < i; k++) {
            const vit_log_summary *a = &r->runs[k].summary, *b = &r->runs[i].summary;
            if (!a->recipe || !b->recipe || a->seed != b->seed) continue;
            if (r->groups.group[i] != r->groups.group[k]) continue;
            vit_say(command,
                    "note: %s and %s are one training twice, of one recipe and seed %llu: mean and "
                    "deviation count it twice",
                    r->runs[k].name, r->runs[i].name, (unsigned long long)b->seed);
        }
}

static vit_status group(runs_by_recipe *r, const vit_command *command, vit_error *error) {
    vit_log_summary *summaries = vit_alloc(r->count, sizeof *summaries);
    if (!summaries) return vit_fail_memory(error, "the trainings", r->count * sizeof *summaries);
    for (size_t i = 0; i < r->count; i++) summaries[i] = r->runs[i].summary;
    const vit_status status = vit_group_runs(&r->groups, summaries, r->count, error);
    vit_free(summaries);
    if (status == VIT_OK) note_twice(command, r);
    return status;
}

static void add_percent(vit_string *t, double value) {
    char number[32];
    vit_string_add(t, "  %9s", isnan(value) ? "-" : vit_format_fixed(number, 100 * value, 2));
}

static void add_summary(vit_string *t, const char *name, const runs_by_recipe *r, size_t group,
                        double of(const runs_by_recipe *r, size_t group, const struct figure *f)) {
    vit_string_add(t, "%9s  %9s", "", name);
    for (size_t k = 0; k < FIGURES; k++) add_percent(t, of(r, group, &figures[k]));
    vit_string_add(t, "\n");
}

static void add_run(vit_string *t, const vit_run *run) {
    const vit_log_summary *s = &run->summary;
    vit_string_add(t, "%9llu  %9llu", (unsigned long long)s->step, (unsigned long long)s->steps);
    for (size_t k = 0; k < FIGURES; k++) add_percent(t, value_of(run, &figures[k]));
    vit_string_add(t, "  ");
    vit_string_add_visible(t, run->name, 0);
    vit_string_add(t, ", ");
    vit_string_add_visible(t, s->preset, 0);
    vit_string_add(t, " on ");
    vit_string_add_visible(t, s->data, 0);
    if (s->recipe) vit_string_add(t, ", seed %llu", (unsigned long long)s->seed);
    vit_string_add(t, "\n");
}

/* A group, under what tells it from the others; with mean and deviation if it has several. */
static void add_group(vit_string *t, const runs_by_recipe *r, size_t group) {
    if (r->groups.count > 1) {
        vit_string_add(t, "\n");
        vit_string_add_visible(t, r->groups.titles[group], 0);
        vit_string_add(t, "\n");
    }
    for (size_t i = 0; i < r->count; i++)
        if (r->groups.group[i] == group) add_run(t, &r->runs[i]);
    if (size_of(r, group) < 2) return;
    add_summary(t, "mean", r, group, mean_of);
    add_summary(t, "deviation", r, group, deviation_of);
}

static bool put_text(const vit_command *command, const vit_run *runs, size_t count) {
    runs_by_recipe r = {.runs = runs, .count = count};
    vit_error error;
    vit_string t = {0};
    if (group(&r, command, &error) != VIT_OK) return vit_say_error(command, &error), false;
    vit_string_add(&t, "%9s  %9s", "steps", "of");
    for (size_t k = 0; k < FIGURES; k++) vit_string_add(&t, "  %9s", figures[k].heading);
    vit_string_add(&t, "  %% right\n");
    for (size_t g = 0; g < r.groups.count; g++) add_group(&t, &r, g);
    vit_run_groups_clear(&r.groups);
    return vit_print(command, &t);
}

static void add_json_run(vit_json_out *json, const vit_run *run, size_t group) {
    const vit_log_summary *s = &run->summary;
    vit_json_open(json, NULL, '{');
    vit_json_text(json, "name", run->name);
    vit_json_text(json, "preset", s->preset);
    vit_json_text(json, "data", s->data);
    vit_json_count(json, "group", group);
    if (s->recipe) vit_json_count(json, "seed", s->seed);
    vit_json_count(json, "step", s->step);
    vit_json_count(json, "steps", s->steps);
    for (size_t k = 0; k < FIGURES; k++)
        vit_json_number(json, figures[k].key, value_of(run, &figures[k]));
    vit_json_close(json, '}');
}

/* Mean and deviation of each figure. */
static void add_json_figures(vit_json_out *json, const runs_by_recipe *r, size_t group) {
    for (size_t k = 0; k < FIGURES; k++) {
        vit_json_open(json, figures[k].key, '{');
        vit_json_number(json, "mean", mean_of(r, group, &figures[k]));
        vit_json_number(json, "deviation", deviation_of(r, group, &figures[k]));
        vit_json_close(json, '}');
    }
}

static bool put_json(const vit_command *command, vit_json_out *json, const vit_run *runs,
                     size_t count) {
    runs_by_recipe r = {.runs = runs, .count = count};
    vit_error error;
    if (group(&r, command, &error) != VIT_OK) return vit_say_error(command, &error), false;
    vit_json_open(json, "runs", '[');
    for (size_t i = 0; i < count; i++) add_json_run(json, &runs[i], r.groups.group[i]);
    vit_json_close(json, ']');
    vit_json_open(json, "groups", '[');
    for (size_t g = 0; g < r.groups.count; g++) {
        vit_json_open(json, NULL, '{');
        vit_json_text(json, "differs", r.groups.titles[g]);
        vit_json_count(json, "runs", size_of(&r, g));
        add_json_figures(json, &r, g);
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
    if (r.groups.count == 1) add_json_figures(json, &r, 0);
    vit_run_groups_clear(&r.groups);
    return true;
}

const vit_runs_guest vit_runs_by_recipe = {put_text, put_json};
