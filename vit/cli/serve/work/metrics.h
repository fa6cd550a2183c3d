/* Counters of what the server does, and their text for Prometheus (format 0.0.4).
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

/* Names of models and routes are those of places 0, 1, ...; they must outlive the metrics. */
vit_status serve_metrics_new(serve_metrics **out, const char *const *models, size_t model_count,
                             const char *const *routes, size_t route_count, vit_error *error);
void serve_metrics_free(serve_metrics *metrics);

void serve_metrics_request(serve_metrics *metrics, size_t route, unsigned status, double seconds);
void serve_metrics_stage(serve_metrics *metrics, size_t model, serve_stage stage, double seconds);
void serve_metrics_batch(serve_metrics *metrics, size_t model, size_t pictures);
void serve_metrics_failed(serve_metrics *metrics, size_t model); /* a picture could not be read */
void serve_metrics_reload(serve_metrics *metrics, bool succeeded);
void serve_metrics_refused(serve_metrics *metrics); /* a connection, for want of room */

/* What is known elsewhere, at this moment. */
typedef struct serve_gauges {
    size_t connections, waiting;
    double uptime;
} serve_gauges;

void serve_metrics_write(serve_metrics *metrics, const serve_gauges *gauges, vit_text *out);

#endif
