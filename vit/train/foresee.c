/* What accuracy to expect of a training, and with which preset there would be more in its time. */
#include "vit/base/text.h"
#include "vit/train/recipe/expect.h"
#include "vit/train/run.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Another preset is taken for so much more. */
#define WORTH_IT .001

/* Whether what is trained is a preset as it is: only that was measured. */
static bool is_plain(const vit_train_options *o) {
    const bool is_file = o->preset && strpbrk(o->preset, "./");
    return !is_file && o->set_count == 0 && o->batch == 0 && o->accumulate <= 1 && !(o->lr > 0) &&
           o->freeze == 0 && !(o->layer_decay > 0) && !o->init && !o->teacher && !o->arrays &&
           o->height == 0 && o->schedule_steps <= o->steps;
}

void vit_run_foresee(const vit_run *run) {
    char percent[32], steps[64];
    if (!is_plain(run->options)) return;
    const vit_expectation e = vit_expect(vit_measured_trainings, run->data.checksum,
                                         run->preset.name, (double)run->schedule);
    if (isnan(e.top1)) return;
    if (e.first < e.last)
        snprintf(steps, sizeof steps, "%.0f and %.0f", e.first, e.last);
    else
        snprintf(steps, sizeof steps, "%.0f", e.first);
    vit_run_note(run, "expected: about %s %% of the test pictures right (measured with %s steps)",
                 vit_format_fixed(percent, 100 * e.top1, 1), steps);
}

const char *vit_run_better(const vit_run *run) {
    const vit_train_options *o = run->options;
    const char *best = NULL, *sha256 = run->data.checksum;
    const vit_expectation own =
        vit_expect(vit_measured_trainings, sha256, run->preset.name, (double)run->schedule);
    double most = own.top1 + WORTH_IT;
    if (!(o->minutes > 0) || o->preset || o->checkpoint || !is_plain(o) || isnan(most)) return NULL;
    for (const vit_measured *m = vit_measured_trainings; m->data_sha256; m++) {
        const double cost = vit_expect(vit_measured_trainings, sha256, m->preset, 1).step_seconds;
        const double steps = (double)run->schedule * own.step_seconds / cost;
        const vit_expectation e = vit_expect(vit_measured_trainings, sha256, m->preset, steps);
        if (!(cost > 0) || !(e.top1 > most)) continue;
        best = m->preset;
        most = e.top1;
    }
    return best;
}
