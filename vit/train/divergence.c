/* Whether a training still learns: steps whose gradients cannot be used, a loss that explodes, a
 * network that has learnt nothing. */
#include "vit/base/math.h"
#include "vit/train/run.h"
#include <math.h>
#include <stdio.h>

/* A training ends after this many steps in a row that were skipped, or whose loss was high. */
#define MOST_SKIPPED 10
#define MOST_HIGH 20

/* A loss is high above HIGH times the first step's loss, or times that of guessing, whichever is
 * larger. */
#define HIGH 4

/* A gradient explodes when its norm is above EXPLODES times max(1, the mean norm of recent steps).
 * The mean counts once KNOWN_AFTER steps are in it. */
#define EXPLODES 1000
#define KNOWN_AFTER 20
#define RECENT_STEPS 100 /* of the running means */

/* A network has learnt nothing if its loss is not below CHANCE times that of guessing, and its
 * accuracy on validation pictures not more than DEVIATIONS standard deviations above chance. A note
 * says so from STEPS_TO_TELL steps on; from STEPS_TO_FAIL on the training fails. */
#define STEPS_TO_TELL 200
#define STEPS_TO_FAIL 500
#define CHANCE .995
#define DEVIATIONS 3

/* The cross-entropy of equal probabilities for all answers. */
static double guessing(const vit_run *run) {
    const vit_config *c = &run->preset.config;
    if (run->preset.recipe.multi_label) return vit_log(2); /* each class is there or not */
    return vit_log((double)(vit_config_has_decoder(c) ? c->decoder.vocabulary : c->classes));
}

static double high_loss(const vit_run *run) {
    return HIGH * fmax(run->history.first_loss, guessing(run));
}

/* Fails for the reason `why`, with what to try. */
static vit_status diverge(vit_run *run, const char *why, vit_error *error) {
    run->diverged = true;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "%s: lower the learning rate (now %g at most), raise \"warmup\"%s", why,
                    run->preset.recipe.lr,
                    vit_precisions[run->preset.recipe.precision].converts ? ", or train in f32"
                                                                          : "");
}

double vit_run_norm_limit(const vit_run *run) {
    const vit_history *h = &run->history;
    return h->counted < KNOWN_AFTER ? INFINITY : EXPLODES * fmax(h->recent_norm, 1);
}

static vit_status take_skipped(vit_run *run, double loss, vit_error *error) {
    vit_history *h = &run->history;
    const unsigned long long step = (unsigned long long)vit_run_step(run);
    const double norm = vit_trainer_last(run->trainer).norm;
    char why[160], text[320];
    if (!isfinite(loss))
        snprintf(why, sizeof why, "the loss is %s", isnan(loss) ? "NaN" : "infinite");
    else if (!isfinite(norm))
        snprintf(why, sizeof why, "the gradients are too large for a number");
    else
        snprintf(why, sizeof why, "the gradients explode, to a norm of %.3g after %.3g", norm,
                 h->recent_norm);
    h->skipped++;
    h->skipped_in_row++;
    if (h->skipped_in_row == 1) vit_run_note(run, "step %llu is skipped: %s", step, why);
    if (h->skipped_in_row < MOST_SKIPPED) return VIT_OK;
    snprintf(text, sizeof text, "%d steps in a row, up to %llu, could not be used (%s)",
             MOST_SKIPPED, step, why);
    return diverge(run, text, error);
}

/* The mean of `count` values, the last of which is `value`; later ones weigh more from
 * RECENT_STEPS values on. */
static double mean(double before, double value, size_t count) {
    return before + (value - before) / (double)(count < RECENT_STEPS ? count : RECENT_STEPS);
}

static vit_status take_used(vit_run *run, double loss, vit_error *error) {
    vit_history *h = &run->history;
    char text[256];
    h->skipped_in_row = 0;
    if (h->counted++ == 0) h->first_loss = loss;
    h->recent_loss = mean(h->recent_loss, loss, h->counted);
    h->recent_norm = mean(h->recent_norm, vit_trainer_last(run->trainer).norm, h->counted);
    const double high = high_loss(run);
    h->high_in_row = loss > high ? h->high_in_row + 1 : 0;
    if (h->high_in_row < MOST_HIGH) return VIT_OK;
    snprintf(text, sizeof text,
             "the loss explodes: it began with %.4g, and in the %d steps up to %llu it was more "
             "than %.4g, at last %.4g",
             h->first_loss, MOST_HIGH, (unsigned long long)vit_run_step(run), high, loss);
    return diverge(run, text, error);
}

vit_status vit_run_check_step(vit_run *run, double loss, vit_error *error) {
    return vit_trainer_last(run->trainer).skipped ? take_skipped(run, loss, error)
                                                  : take_used(run, loss, error);
}

vit_status vit_run_check_validation(vit_run *run, vit_error *error) {
    char text[128];
    if (run->loader.val_count == 0 || isfinite(run->validation.loss)) return VIT_OK;
    snprintf(text, sizeof text, "the validation loss became %s after step %llu",
             isnan(run->validation.loss) ? "NaN" : "infinite",
             (unsigned long long)vit_run_step(run));
    return diverge(run, text, error);
}

bool vit_run_is_healthy(const vit_run *run) {
    return run->history.skipped_in_row == 0 && run->history.high_in_row == 0;
}

/* Whether loss and validation accuracy are no better than those of guessing. */
static bool is_guessing(const vit_run *run) {
    if (run->preset.recipe.multi_label) return run->history.recent_loss >= CHANCE * guessing(run);
    const double share = 1 / (double)run->preset.config.classes;
    const double spread = sqrt(share * (1 - share) / (double)run->loader.val_count);
    if (!(guessing(run) > 0) || run->history.recent_loss < CHANCE * guessing(run)) return false;
    return run->loader.val_count == 0 || !(run->validation.top1 > share + DEVIATIONS * spread);
}

vit_status vit_run_check_learnt(vit_run *run, vit_error *error) {
    const vit_history *h = &run->history;
    char text[256];
    if (h->high_in_row > 0) {
        snprintf(text, sizeof text,
                 "the model is written, but its loss explodes: it began with %.4g, the last step's "
                 "is more than %.4g",
                 h->first_loss, high_loss(run));
        return diverge(run, text, error);
    }
    if (h->counted < STEPS_TO_TELL || !is_guessing(run)) return VIT_OK;
    snprintf(text, sizeof text,
             "the model is written, but it has learnt nothing%s: the loss of its last steps is "
             "%.4g, that of guessing %.4g",
             h->counted < STEPS_TO_FAIL ? " yet" : "", h->recent_loss, guessing(run));
    if (h->counted >= STEPS_TO_FAIL) return diverge(run, text, error);
    vit_run_note(run, "%s", text);
    return VIT_OK;
}
