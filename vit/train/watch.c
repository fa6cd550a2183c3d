/* Whether a training is getting anywhere: steps that cannot be used, a loss that explodes, a
 * network that has learnt nothing. */
#include "vit/base/math.h"
#include "vit/train/run.h"
#include <math.h>
#include <stdio.h>

/* After so many in a row it ends. */
#define MOST_SKIPPED 10
#define MOST_HIGH 20

/* A loss is high from so many times that of the start on, or that of guessing where that is more.
 */
#define HIGH 4

/* A gradient explodes when its norm is so many times the late ones' mean, or 1 where that is more,
 * which is known after some steps. */
#define EXPLODES 1000
#define KNOWN_AFTER 20

#define LATE_STEPS 100 /* that the means are over */

/* A network that has learnt nothing has the loss of guessing, and as many right answers, but for
 * chance: so many standard deviations. */
#define STEPS_TO_TELL 200
#define STEPS_TO_FAIL 500
#define CHANCE .995
#define DEVIATIONS 3

static double guessing(const vit_run *run) {
    const vit_config *c = &run->preset.config;
    return vit_log((double)(vit_config_has_decoder(c) ? c->decoder.vocabulary : c->classes));
}

static double high_loss(const vit_run *run) {
    return HIGH * fmax(run->history.first_loss, guessing(run));
}

/* Fails with `why` and what to try. */
static vit_status ends(vit_run *run, const char *why, vit_error *error) {
    run->diverged = true;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "%s: lower the learning rate (now %g at most), raise \"warmup\"%s", why,
                    run->preset.recipe.lr,
                    run->preset.recipe.precision == VIT_PRECISION_BF16 ? ", or train in f32" : "");
}

double vit_run_norm_limit(const vit_run *run) {
    const vit_history *h = &run->history;
    return h->counted < KNOWN_AFTER ? INFINITY : EXPLODES * fmax(h->recent_norm, 1);
}

static vit_status count_skipped(vit_run *run, double loss, vit_error *error) {
    vit_history *h = &run->history;
    const vit_trainer_state s = vit_trainer_get(run->trainer);
    char why[160], text[320];
    if (!isfinite(loss))
        snprintf(why, sizeof why, "the loss is %s", isnan(loss) ? "NaN" : "infinite");
    else if (!isfinite(s.norm))
        snprintf(why, sizeof why, "the gradients are too large for a number");
    else
        snprintf(why, sizeof why, "the gradients explode, to a norm of %.3g after %.3g", s.norm,
                 h->recent_norm);
    h->skipped++;
    h->skipped_in_row++;
    if (h->skipped_in_row == 1)
        vit_run_note(run, "step %llu is skipped: %s", (unsigned long long)s.step, why);
    if (h->skipped_in_row < MOST_SKIPPED) return VIT_OK;
    snprintf(text, sizeof text, "%d steps in a row, up to %llu, could not be used (%s)",
             MOST_SKIPPED, (unsigned long long)s.step, why);
    return ends(run, text, error);
}

static double mean(double before, double value, size_t count) {
    return before + (value - before) / (double)(count < LATE_STEPS ? count : LATE_STEPS);
}

static vit_status count_used(vit_run *run, double loss, vit_error *error) {
    vit_history *h = &run->history;
    char text[256];
    h->skipped_in_row = 0;
    if (h->counted++ == 0) h->first_loss = loss;
    h->recent_loss = mean(h->recent_loss, loss, h->counted);
    h->recent_norm = mean(h->recent_norm, vit_trainer_get(run->trainer).norm, h->counted);
    const double high = high_loss(run);
    h->high_in_row = loss > high ? h->high_in_row + 1 : 0;
    if (h->high_in_row < MOST_HIGH) return VIT_OK;
    snprintf(text, sizeof text,
             "the loss explodes: it began with %.4g, and in the %d steps up to %llu it was more "
             "than %.4g, at last %.4g",
             h->first_loss, MOST_HIGH, (unsigned long long)vit_trainer_get(run->trainer).step, high,
             loss);
    return ends(run, text, error);
}

vit_status vit_run_watch(vit_run *run, double loss, vit_error *error) {
    return vit_trainer_get(run->trainer).skipped ? count_skipped(run, loss, error)
                                                 : count_used(run, loss, error);
}

vit_status vit_run_check_held_back(vit_run *run, vit_error *error) {
    char text[128];
    if (run->loader.val_count == 0 || isfinite(run->val_loss)) return VIT_OK;
    snprintf(text, sizeof text, "the loss of the held-back pictures became %s after step %llu",
             isnan(run->val_loss) ? "NaN" : "infinite",
             (unsigned long long)vit_trainer_get(run->trainer).step);
    return ends(run, text, error);
}

bool vit_run_is_well(const vit_run *run) {
    return run->history.skipped_in_row == 0 && run->history.high_in_row == 0;
}

/* No better than guessing. */
static bool guesses(const vit_run *run) {
    const double share = 1 / (double)run->preset.config.classes;
    const double spread = sqrt(share * (1 - share) / (double)run->loader.val_count);
    if (!(guessing(run) > 0) || run->history.recent_loss < CHANCE * guessing(run)) return false;
    return run->loader.val_count == 0 || !(run->val_top1 > share + DEVIATIONS * spread);
}

vit_status vit_run_judge(vit_run *run, vit_error *error) {
    const vit_history *h = &run->history;
    char text[256];
    if (h->high_in_row > 0) {
        snprintf(text, sizeof text,
                 "the model is written, but its loss explodes: it began with %.4g, the last step's "
                 "is more than %.4g",
                 h->first_loss, high_loss(run));
        return ends(run, text, error);
    }
    if (h->counted < STEPS_TO_TELL || !guesses(run)) return VIT_OK;
    snprintf(text, sizeof text,
             "the model is written, but it has learnt nothing%s: the loss of its last steps is "
             "%.4g, that of guessing %.4g",
             h->counted < STEPS_TO_FAIL ? " yet" : "", h->recent_loss, guessing(run));
    if (h->counted >= STEPS_TO_FAIL) return ends(run, text, error);
    vit_run_note(run, "%s", text);
    return VIT_OK;
}
