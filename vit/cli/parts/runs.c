#include "vit/cli/parts/runs.h"

#include <math.h>

/* What is compared: its name in JSON, its heading, and where it stands. */
static const struct figure {
    const char *key, *heading;
    size_t offset;
} figures[] = {
    {"best_val_top1", "held back", offsetof(vit_log_summary, best_top1)},
    {"last_val_top1", "at last", offsetof(vit_log_summary, last_top1)},
    {"test_top1", "test", offsetof(vit_log_summary, test_top1)},
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

static double value_of(const vit_run *run, const struct figure *f) {
    return *(const double *)((const char *)&run->summary + f->offset);
}

/* NaN where a training lacks the figure. */
static double mean_of(const vit_run *runs, size_t n, const struct figure *f) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += value_of(&runs[i], f);
    return sum / (double)n;
}

/* The standard deviation of a sample, divided by n - 1; NaN for one training. */
static double deviation_of(const vit_run *runs, size_t n, const struct figure *f) {
    const double mean = mean_of(runs, n, f);
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (value_of(&runs[i], f) - mean) * (value_of(&runs[i], f) - mean);
    return n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
}

static void add_percent(vit_string *t, double value) {
    char number[32];
    vit_string_add(t, "  %9s", isnan(value) ? "-" : vit_format_fixed(number, 100 * value, 2));
}

static void add_summary(vit_string *t, const char *name, const vit_run *runs, size_t n,
                        double of(const vit_run *runs, size_t n, const struct figure *f)) {
    vit_string_add(t, "%9s  %9s", "", name);
    for (size_t k = 0; k < FIGURES; k++) add_percent(t, of(runs, n, &figures[k]));
    vit_string_add(t, "\n");
}

bool vit_runs_text(const vit_command *command, const vit_run *runs, size_t count) {
    vit_string t = {0};
    vit_string_add(&t, "%9s  %9s", "steps", "of");
    for (size_t k = 0; k < FIGURES; k++) vit_string_add(&t, "  %9s", figures[k].heading);
    vit_string_add(&t, "  %% right\n");
    for (size_t i = 0; i < count; i++) {
        const vit_log_summary *s = &runs[i].summary;
        vit_string_add(&t, "%9llu  %9llu", (unsigned long long)s->step,
                       (unsigned long long)s->steps);
        for (size_t k = 0; k < FIGURES; k++) add_percent(&t, value_of(&runs[i], &figures[k]));
        vit_string_add(&t, "  ");
        vit_string_add_visible(&t, runs[i].name, 0);
        vit_string_add(&t, ", ");
        vit_string_add_visible(&t, s->preset, 0);
        vit_string_add(&t, " on ");
        vit_string_add_visible(&t, s->data, 0);
        vit_string_add(&t, "\n");
    }
    add_summary(&t, "mean", runs, count, mean_of);
    add_summary(&t, "deviation", runs, count, deviation_of);
    return vit_print(command, &t);
}

void vit_runs_json(vit_json_out *json, const vit_run *runs, size_t count) {
    vit_json_open(json, "runs", '[');
    for (size_t i = 0; i < count; i++) {
        const vit_log_summary *s = &runs[i].summary;
        vit_json_open(json, NULL, '{');
        vit_json_text(json, "name", runs[i].name);
        vit_json_text(json, "preset", s->preset);
        vit_json_text(json, "data", s->data);
        vit_json_count(json, "step", s->step);
        vit_json_count(json, "steps", s->steps);
        for (size_t k = 0; k < FIGURES; k++)
            vit_json_number(json, figures[k].key, value_of(&runs[i], &figures[k]));
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
    for (size_t k = 0; k < FIGURES; k++) {
        vit_json_open(json, figures[k].key, '{');
        vit_json_number(json, "mean", mean_of(runs, count, &figures[k]));
        vit_json_number(json, "deviation", deviation_of(runs, count, &figures[k]));
        vit_json_close(json, '}');
    }
}
