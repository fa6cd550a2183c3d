/* Prediction sets, the reject option, out-of-distribution pictures and drift of a served model,
 * from its calibration. */
#ifndef VIT_CLI_SERVE_WORK_RELIANCE_H
#define VIT_CLI_SERVE_WORK_RELIANCE_H

#include <pthread.h>

#include "vit/cli/parts/coverage.h"

typedef struct serve_reliance {
    vit_coverage coverage; /* zeros: the model is served without */
    vit_drift *drift;      /* with --unknown; used under lock, like the next */
    double most;           /* of the martingale's value */
    pthread_mutex_t lock;
} serve_reliance;

/* What the options mean for the model of this name at `path`; the lock is made before. Without a
 * calibration it is an error if `needed`, else a line in the log. */
vit_status serve_reliance_open(serve_reliance *out, const vit_command *command,
                               const vit_coverage_choice *choice, const char *name,
                               const char *path, bool needed, const vit_model *model,
                               vit_session *session, vit_error *error);
void serve_reliance_close(serve_reliance *reliance);

/* Whether a picture is unknown, which counts for drift: a line in the log when that is found. */
vit_status serve_reliance_test(serve_reliance *reliance, const char *name, const vit_model *model,
                               const float *logits, const float *features, vit_unknown *out,
                               vit_error *error);

/* Adds the gauge's line, if there is a drift. */
void serve_reliance_write(serve_reliance *reliance, const char *name, vit_string *out);

#endif
