/* Counters of what the server does, written as text for Prometheus (format 0.0.4).
 *
 * Functions may be called from any thread. */
#ifndef VIT_CLI_SERVE_WORK_METRICS_H
#define VIT_CLI_SERVE_WORK_METRICS_H

#include "vit/base/text.h"

typedef enum serve_stage {
    SERVE_STAGE_DECODE,  /* a picture: from bytes to prepared pixels */
    SERVE_STAGE_WAIT,    /* a request: in the queue */
    SERVE_STAGE_COMPUTE, /* a request: the computation that its pictures were part of */
    SERVE_STAGE_COUNT,
} serve_stage;

typedef struct serve_metrics serve_metrics;

/* `models` and `routes` below are indices into these names, which must outlive the metrics. Freed
 * by serve_metrics_free. */
vit_status serve_metrics_new(serve_metrics **out, const char *const *models, size_t model_count,
                             const char *const *routes, size_t route_count, vit_error *error);
void serve_metrics_free(serve_metrics *metrics);

/* Count: a request that was answered; a stage of one; pictures that were computed together; a
 * picture that could not be read; a model that was read again; a connection that was refused. */
void serve_metrics_request(serve_metrics *metrics, size_t route, unsigned status, double seconds);
void serve_metrics_stage(serve_metrics *metrics, size_t model, serve_stage stage, double seconds);
void serve_metrics_batch(serve_metrics *metrics, size_t model, size_t pictures);
void serve_metrics_failed(serve_metrics *metrics, size_t model);
void serve_metrics_reload(serve_metrics *metrics, bool succeeded);
void serve_metrics_refused(serve_metrics *metrics);

/* Values that are not counted here but known elsewhere, as of now. */
typedef struct serve_gauges {
    size_t connections, waiting; /* open connections; pictures in the queue */
    double uptime;               /* seconds */
} serve_gauges;

/* Appends a label, in whose value a backslash, a quote and a line end are escaped. */
void serve_add_label(vit_string *out, const char *name, const char *value);

/* Appends the text. */
void serve_metrics_write(serve_metrics *metrics, const serve_gauges *gauges, vit_string *out);

#endif
