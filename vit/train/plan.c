/* How many steps a training has. */
#include "vit/base/sys.h"
#include "vit/train/measure/score.h"
#include "vit/train/run.h"
#include <math.h>

/* What a rate is measured over: so many seconds, or less if that were more than this share of the
 * time there is. */
#define PROBE_SECONDS 1.0
#define PROBE_SHARE 0.04

/* Of the time that is left: what is planned for, and by how many seconds a run that falls behind
 * may overrun (the contract: half a minute). */
#define RESERVE 0.96
#define OVERRUN_SECONDS 12.0

static uint64_t at_least_one(double steps) {
    return steps < 1 ? 1 : (uint64_t)steps;
}

double vit_run_epochs(const vit_run *run, uint64_t steps) {
    return (double)steps * (double)run->preset.recipe.batch / (double)run->loader.train_count;
}

static uint64_t steps_of_epochs(const vit_run *run, double epochs) {
    const double pictures = epochs * (double)run->loader.train_count;
    return at_least_one(floor(pictures / (double)run->preset.recipe.batch + .5));
}

static vit_status probe(vit_run *run, uint64_t step, vit_error *error) {
    double loss;
    vit_loader_prepare(&run->loader, step);
    return vit_trainer_step(run->trainer, &loss, 0, vit_loader_source, &run->loader, error);
}

/* Seconds of a training step, on a trainer that is reset afterwards. */
static vit_status measure_step(vit_run *run, double *seconds, double probing, vit_error *error) {
    uint64_t step = 0;
    vit_status status = VIT_OK;
    for (; step < 2 && status == VIT_OK; step++) status = probe(run, step, error);
    const double start = vit_clock();
    while (status == VIT_OK && vit_clock() - start < probing) status = probe(run, step++, error);
    *seconds = (vit_clock() - start) / (double)(step - 2);
    return status;
}

/* Seconds to answer one picture. */
static vit_status measure_answer(vit_run *run, double *seconds, vit_error *error) {
    const size_t count = run->data.train.count < 500 ? run->data.train.count : 500;
    const double start = vit_clock();
    vit_score score = {0};
    const vit_status status =
        vit_score_records(&score, run->inference, &run->preset.config, &run->data, &run->data.train,
                          NULL, count, run->loader.table, count, error);
    *seconds = (vit_clock() - start) / (double)count;
    return status;
}

/* The probe's steps have learning rate 0 and are forgotten: what is trained is the same as with
 * --steps. */
static vit_status plan_minutes(vit_run *run, uint64_t resumed, vit_error *error) {
    const double whole = run->options->minutes * 60, share = whole * PROBE_SHARE;
    double step, answer;
    vit_status status =
        measure_step(run, &step, share < PROBE_SECONDS ? share : PROBE_SECONDS, error);
    if (status == VIT_OK) status = measure_answer(run, &answer, error);
    if (status != VIT_OK) return status;
    vit_trainer_reset(run->trainer, run->options->seed);
    const double test = answer * (double)run->data.test.count;
    const double left = run->started + whole - vit_clock() - test;
    const double answered = (double)(run->loader.val_count + vit_course_sample(run));
    const double held_back = answer * answered * vit_run_epochs(run, 1);
    run->schedule = resumed ? resumed : at_least_one(RESERVE * left / (step + held_back));
    run->steps = run->schedule;
    run->deadline = run->started + whole + OVERRUN_SECONDS - test;
    return VIT_OK;
}

vit_status vit_run_plan(vit_run *run, uint64_t resumed, vit_error *error) {
    const vit_train_options *o = run->options;
    run->deadline = INFINITY;
    if (o->minutes > 0) return plan_minutes(run, resumed, error);
    if (o->steps > 0) {
        run->schedule = o->schedule_steps > 0 ? o->schedule_steps : o->steps;
        run->steps = o->steps < run->schedule ? o->steps : run->schedule;
    } else {
        const double epochs = o->epochs > 0 ? o->epochs : run->preset.recipe.epochs;
        run->steps = run->schedule =
            resumed && o->epochs == 0 ? resumed : steps_of_epochs(run, epochs);
    }
    return VIT_OK;
}
