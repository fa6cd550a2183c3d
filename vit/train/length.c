/* How many steps a training has, what accuracy to expect of them, and which preset would reach more
 * in the same time. */
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/train/measure/score.h"
#include "vit/train/recipe/expect.h"
#include "vit/train/run.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Steps are timed for this many seconds, and at most for this share of the given minutes. */
#define PROBE_SECONDS 1.0
#define PROBE_SHARE 0.04

/* The share of the remaining time that is planned for, and how many seconds a run that falls behind
 * may take beyond its minutes (vit/vit.h promises at most half a minute). */
#define PLANNED_SHARE 0.96
#define OVERRUN_SECONDS 12.0

static uint64_t at_least_one(double steps) {
    return steps < 1 ? 1 : (uint64_t)steps;
}

double vit_run_epochs(const vit_run *run, uint64_t steps) {
    return (double)steps * (double)run->preset.recipe.batch / (double)run->loader.train_count;
}

static vit_status probe(vit_run *run, uint64_t step, vit_error *error) {
    double loss;
    vit_loader_prepare(&run->loader, step);
    return vit_trainer_step(run->trainer, &loss, 0, vit_loader_source, &run->loader, error);
}

/* *seconds: what a training step takes, measured for `probing` seconds at learning rate 0, after
 * two steps to warm up. The caller resets the trainer. */
static vit_status measure_step(vit_run *run, double *seconds, double probing, vit_error *error) {
    uint64_t step = 0;
    vit_status status = VIT_OK;
    bool is_over = false;
    for (; step < 2 && status == VIT_OK; step++) status = probe(run, step, error);
    const double start = vit_clock();
    while (status == VIT_OK && !is_over) {
        const bool is_late = vit_run_writes(run) && vit_clock() - start >= probing;
        vit_trainer_say(run->trainer, is_late ? 1U << VIT_WORD_LATE : 0);
        status = probe(run, step++, error);
        is_over = vit_trainer_heard(run->trainer) >> VIT_WORD_LATE & 1;
    }
    *seconds = (vit_clock() - start) / (double)(step - 2);
    return status;
}

/* *seconds: what it takes to classify one picture. */
static vit_status measure_answer(vit_run *run, double *seconds, vit_error *error) {
    const size_t count = vit_min(run->data.train.count, 500);
    const double start = vit_clock();
    vit_score score = {.cluster = run->options->cluster};
    const vit_status status =
        vit_score_records(&score, run->inference, &run->preset.config, &run->data, &run->data.train,
                          NULL, count, run->loader.table, count, error);
    *seconds = (vit_clock() - start) / (double)count;
    return status;
}

/* The measured steps are undone: the training is the same as with --steps and the number of steps
 * that comes out here. */
static vit_status plan_minutes(vit_run *run, uint64_t resumed, vit_error *error) {
    const double whole = run->options->minutes * 60, share = whole * PROBE_SHARE;
    double step, answer;
    vit_status status =
        measure_step(run, &step, share < PROBE_SECONDS ? share : PROBE_SECONDS, error);
    if (status == VIT_OK) status = measure_answer(run, &answer, error);
    if (status != VIT_OK) return status;
    vit_trainer_reset(run->trainer, run->options->seed);
    const double test = answer * (double)run->data.test.count;
    const double left = run->pace.started + whole - vit_clock() - test;
    const double answered = (double)(run->loader.val_count + vit_monitor_sample(run));
    const double held_back = answer * answered * vit_run_epochs(run, 1);
    run->plan.schedule =
        resumed ? resumed : at_least_one(PLANNED_SHARE * left / (step + held_back));
    run->plan.deadline = run->pace.started + whole + OVERRUN_SECONDS - test;
    status = vit_cluster_broadcast(run->options->cluster, &run->plan.schedule,
                                   sizeof run->plan.schedule, error);
    run->plan.steps = run->plan.schedule;
    return status;
}

vit_status vit_run_plan(vit_run *run, uint64_t resumed, vit_error *error) {
    const vit_train_options *o = run->options;
    run->plan.deadline = INFINITY;
    if (o->minutes > 0) return plan_minutes(run, resumed, error);
    if (o->steps > 0) {
        run->plan.schedule = o->schedule_steps > 0 ? o->schedule_steps : o->steps;
        run->plan.steps = o->steps < run->plan.schedule ? o->steps : run->plan.schedule;
    } else {
        const double epochs = o->epochs > 0 ? o->epochs : run->preset.recipe.epochs;
        const double pictures = epochs * (double)run->loader.train_count;
        const double steps = floor(pictures / (double)run->preset.recipe.batch + .5);
        run->plan.schedule = resumed && o->epochs == 0 ? resumed : at_least_one(steps);
        run->plan.steps = run->plan.schedule;
    }
    return VIT_OK;
}

/* ---- what the data choose ---- */

#define LEAST_PASSES 3 /* over the training pictures; with fewer, little is learnt */

/* How many times as long a step takes with the network `other`; NaN if there is no such one. */
static double times(const vit_run *run, const vit_config *other) {
    if (vit_config_check(other, NULL) != VIT_OK) return NAN;
    return (double)vit_config_multiply_adds(other) /
           (double)vit_config_multiply_adds(&run->preset.config);
}

static void add_cost(vit_string *t, const char *option, size_t value, double cost) {
    char number[32];
    if (!(cost > 0)) return;
    vit_string_add(t, t->length > 0 ? ", %s with %s%zu" : "%s times as long with %s%zu",
                   vit_format_fixed(number, cost, cost < 1 ? 2 : 1), option, value);
}

/* The config for pictures of half the side; false: the data would choose another patch for them. */
static bool halve(vit_config *small, const vit_run *run) {
    vit_preset preset = run->preset;
    vit_dataset data = run->data;
    data.height /= 2;
    data.width /= 2;
    preset.config.patch = 0;
    vit_preset_size(&preset, &data);
    small->height = data.height;
    small->width = data.width;
    return preset.config.patch == small->patch && data.height == data.width;
}

void vit_run_note_network(const vit_run *run) {
    const vit_config *c = &run->preset.config;
    vit_config fine = *c, small = *c, wide = *c, deep = *c;
    vit_string costs = {0};
    if (!run->preset.is_sized_by_data) return;
    fine.patch = c->patch / 2;
    wide.dim *= 2;
    deep.depth *= 2;
    if (halve(&small, run)) add_cost(&costs, "--size ", small.height, times(run, &small));
    add_cost(&costs, "--set patch=", fine.patch, times(run, &fine));
    add_cost(&costs, "--set dim=", wide.dim, times(run, &wide));
    add_cost(&costs, "--set depth=", deep.depth, times(run, &deep));
    if (!costs.failed)
        vit_run_note(run,
                     "the data choose pictures of %zu x %zu, patch %zu, dim %zu, depth %zu; a step "
                     "takes %s",
                     c->height, c->width, c->patch, c->dim, c->depth, costs.text);
    vit_string_free(&costs);
    const double passes = vit_run_epochs(run, run->plan.schedule);
    if (!(run->options->minutes > 0) || passes >= LEAST_PASSES) return;
    char number[32];
    vit_run_note(run,
                 "only %s passes over the pictures fit into the time, too few to learn much: take "
                 "more minutes, smaller pictures (--size)%s",
                 vit_format_fixed(number, passes, 1),
                 c->channels == 3 ? ", or start from a trained model (--init cifar10)" : "");
}

/* ---- what to expect ---- */

/* A gain in accuracy for which another preset is taken. */
#define WORTH_IT .001

static bool same_text(char *a, char *b) {
    const bool same = a && b && strcmp(a, b) == 0;
    vit_free(a);
    vit_free(b);
    return same;
}

/* Whether a preset is trained as it is, only for another time: only such trainings were measured.
 * It is if network and recipe have the bytes of those that the preset gives for these data. */
static bool is_unchanged(const vit_run *run) {
    const vit_preset *own = &run->preset;
    vit_preset plain;
    if (run->options->init || run->options->teacher || run->plan.schedule > run->plan.steps)
        return false;
    if (vit_preset_choose(&plain, own->name, run->data.preset, NULL, 0, NULL) != VIT_OK ||
        vit_preset_fit(&plain, &run->data, NULL) != VIT_OK)
        return false;
    vit_run_hold_back(&plain.recipe, run);
    plain.recipe.epochs = own->recipe.epochs;
    return same_text(vit_config_write(&plain.config), vit_config_write(&own->config)) &&
           same_text(vit_recipe_write(&plain.recipe), vit_recipe_write(&own->recipe));
}

void vit_run_note_expected(const vit_run *run) {
    char percent[32], steps[64];
    if (!is_unchanged(run)) return;
    const vit_expectation e = vit_expect(vit_measured_trainings, run->data.checksum,
                                         run->preset.name, (double)run->plan.schedule);
    if (isnan(e.top1)) return;
    if (e.first < e.last)
        snprintf(steps, sizeof steps, "%.0f and %.0f", e.first, e.last);
    else
        snprintf(steps, sizeof steps, "%.0f", e.first);
    vit_run_note(run, "expected: about %s %% of the test pictures right (measured with %s steps)",
                 vit_format_fixed(percent, 100 * e.top1, 1), steps);
}

const char *vit_run_better_preset(const vit_run *run) {
    const vit_train_options *o = run->options;
    const char *best = NULL, *sha256 = run->data.checksum;
    const vit_expectation own =
        vit_expect(vit_measured_trainings, sha256, run->preset.name, (double)run->plan.schedule);
    double most = own.at_least + WORTH_IT;
    if (!(o->minutes > 0) || o->preset || o->checkpoint || !is_unchanged(run) || isnan(most))
        return NULL;
    for (const vit_measured *m = vit_measured_trainings; m->data_sha256; m++) {
        const double cost = vit_expect(vit_measured_trainings, sha256, m->preset, 1).step_seconds;
        const double steps = (double)run->plan.schedule * own.step_seconds / cost;
        const vit_expectation e = vit_expect(vit_measured_trainings, sha256, m->preset, steps);
        if (!(cost > 0) || !(e.at_least > most)) continue;
        best = m->preset;
        most = e.at_least;
    }
    return best;
}
