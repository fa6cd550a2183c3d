#include "vit/cli/serve/work/reliance.h"

#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/cli/serve/work/access_log.h"
#include "vit/cli/serve/work/metrics.h"

#include <string.h>

#define ALARM 100

vit_status serve_reliance_open(serve_reliance *r, const vit_command *command,
                               const vit_coverage_choice *choice, const char *name,
                               const char *path, bool needed, const vit_model *model,
                               vit_session *session, vit_error *error) {
    char *calibration = NULL;
    vit_status status = VIT_OK;
    if (!choice || !vit_coverages || !vit_coverage_asked(choice)) return VIT_OK;
    if (path && choice->calibration) calibration = vit_strdup(choice->calibration);
    if (path && !calibration) calibration = vit_calibration_beside(path);
    if (path && !calibration) return vit_fail_memory(error, "a path", strlen(path));
    const bool is_there = calibration && vit_path_look(calibration) != VIT_PATH_NONE;
    vit_free(calibration);
    if (!is_there && !needed) {
        serve_log_say("%s is not calibrated: it is served without sets and p-values", name);
        return VIT_OK;
    }
    if (!path)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s is part of the program and has no calibration: name its file", name);
    status = vit_coverages->open(&r->coverage, command, choice, path, model, session, error);
    return status == VIT_OK && r->coverage.unknown
               ? vit_coverages->drift_open(&r->drift, &r->coverage, error)
               : status;
}

void serve_reliance_close(serve_reliance *r) {
    if (vit_coverages) vit_coverages->free(&r->coverage);
    if (vit_coverages) vit_coverages->drift_free(r->drift);
    pthread_mutex_destroy(&r->lock);
}

/* The value is told when it first passes the alarm, and again when it has begun anew. */
static void add_to_drift(serve_reliance *r, const char *name, double score) {
    pthread_mutex_lock(&r->lock);
    const double value = vit_coverages->drift_add(r->drift, score);
    const bool alarm = value >= ALARM && r->most < ALARM;
    r->most = value < 1 ? value : r->most > value ? r->most : value;
    pthread_mutex_unlock(&r->lock);
    if (alarm)
        serve_log_say("%s: pictures differ from those it was calibrated with: the martingale "
                      "passed %d, which happens in 1 of %d runs while they are alike",
                      name, ALARM, ALARM);
}

vit_status serve_reliance_test(serve_reliance *r, const char *name, const vit_model *model,
                               const float *logits, const float *features, vit_unknown *out,
                               vit_error *error) {
    const vit_status status =
        vit_coverages->test(&r->coverage, model, logits, features, out, error);
    if (status == VIT_OK) add_to_drift(r, name, out->score);
    return status;
}

void serve_reliance_write(serve_reliance *r, const char *name, vit_string *out) {
    char number[32];
    if (!r->drift) return;
    pthread_mutex_lock(&r->lock);
    const double value = vit_coverages->drift_value(r->drift);
    pthread_mutex_unlock(&r->lock);
    vit_string_add(out, "vit_drift_martingale{");
    serve_add_label(out, "model", name);
    vit_string_add(out, "} %s\n", vit_format_double(number, value));
}
