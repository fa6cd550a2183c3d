#include "vit/cli/serve/work/metrics.h"

#include <pthread.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"

static const char *const stage_names[] = {"decode", "wait", "compute"};
VIT_CHECK_ROWS(stage_names, SERVE_STAGE_COUNT);

enum { MOST_BOUNDS = 16, STATUSES = 600 };

/* Upper bounds of a histogram's buckets; one more bucket is for larger values. */
typedef struct scale {
    size_t count;
    double bounds[MOST_BOUNDS];
} scale;

static const scale in_seconds = {16,
                                 {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                  0.1, 0.25, 0.5, 1, 2.5, 5, 10}};
static const scale in_pictures = {9, {1, 2, 4, 8, 16, 32, 64, 128, 256}};

typedef struct histogram {
    uint64_t buckets[MOST_BOUNDS + 1], count;
    double sum;
} histogram;

typedef struct of_model {
    histogram stages[SERVE_STAGE_COUNT], batches;
    uint64_t pictures, failed;
} of_model;

typedef struct of_route {
    uint64_t statuses[STATUSES];
    histogram seconds;
} of_route;

struct serve_metrics {
    pthread_mutex_t lock;
    const char *const *model_names;
    const char *const *route_names;
    size_t model_count, route_count;
    of_model *models;
    of_route *routes;
    uint64_t refused, reloads[2]; /* reloads: failed, succeeded */
};

vit_status serve_metrics_new(serve_metrics **out, const char *const *models, size_t model_count,
                             const char *const *routes, size_t route_count, vit_error *error) {
    serve_metrics *m = vit_alloc(1, sizeof *m);
    *out = NULL;
    if (!m) return vit_fail_memory(error, "the metrics", sizeof *m);
    m->models = vit_alloc(model_count, sizeof *m->models);
    m->routes = vit_alloc(route_count, sizeof *m->routes);
    m->model_names = models;
    m->route_names = routes;
    m->model_count = model_count;
    m->route_count = route_count;
    pthread_mutex_init(&m->lock, NULL);
    if (!m->models || !m->routes) {
        serve_metrics_free(m);
        return vit_fail_memory(error, "the metrics", route_count * sizeof *m->routes);
    }
    *out = m;
    return VIT_OK;
}

void serve_metrics_free(serve_metrics *m) {
    if (!m) return;
    pthread_mutex_destroy(&m->lock);
    vit_free(m->models);
    vit_free(m->routes);
    vit_free(m);
}

/* ---- counting ---- */

static void observe(histogram *h, const scale *s, double value) {
    size_t place = 0;
    while (place < s->count && value > s->bounds[place]) place++;
    h->buckets[place]++;
    h->count++;
    h->sum += value;
}

void serve_metrics_request(serve_metrics *m, size_t route, unsigned status, double seconds) {
    pthread_mutex_lock(&m->lock);
    m->routes[route].statuses[status < STATUSES ? status : 0]++;
    observe(&m->routes[route].seconds, &in_seconds, seconds);
    pthread_mutex_unlock(&m->lock);
}

void serve_metrics_stage(serve_metrics *m, size_t model, serve_stage stage, double seconds) {
    pthread_mutex_lock(&m->lock);
    observe(&m->models[model].stages[stage], &in_seconds, seconds);
    pthread_mutex_unlock(&m->lock);
}

void serve_metrics_batch(serve_metrics *m, size_t model, size_t pictures) {
    pthread_mutex_lock(&m->lock);
    observe(&m->models[model].batches, &in_pictures, (double)pictures);
    m->models[model].pictures += pictures;
    pthread_mutex_unlock(&m->lock);
}

void serve_metrics_failed(serve_metrics *m, size_t model) {
    pthread_mutex_lock(&m->lock);
    m->models[model].failed++;
    pthread_mutex_unlock(&m->lock);
}

void serve_metrics_reload(serve_metrics *m, bool succeeded) {
    pthread_mutex_lock(&m->lock);
    m->reloads[succeeded]++;
    pthread_mutex_unlock(&m->lock);
}

void serve_metrics_refused(serve_metrics *m) {
    pthread_mutex_lock(&m->lock);
    m->refused++;
    pthread_mutex_unlock(&m->lock);
}

/* ---- the text ---- */

static void head(vit_string *out, const char *name, const char *type, const char *help) {
    vit_string_add(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void serve_add_label(vit_string *out, const char *name, const char *value) {
    vit_string_add(out, "%s=\"", name);
    for (; *value != '\0'; value++) {
        if (*value == '\n')
            vit_string_add(out, "\\n");
        else
            vit_string_add(out, "%s%c", *value == '"' || *value == '\\' ? "\\" : "", *value);
    }
    vit_string_add(out, "\"");
}

/* label: "route" or "model", and its value; stage: NULL, or that of another label. */
static void add_histogram(vit_string *out, const char *name, const char *label, const char *value,
                          const char *stage, const histogram *h, const scale *s) {
    char number[32];
    vit_string labels = {0};
    uint64_t below = 0;
    serve_add_label(&labels, label, value);
    if (stage) vit_string_add(&labels, ",stage=\"%s\"", stage);
    for (size_t i = 0; i <= s->count && !labels.failed; i++) {
        below += h->buckets[i];
        vit_string_add(out, "%s_bucket{%s,le=\"%s\"} %llu\n", name, labels.text,
                       i < s->count ? vit_format_double(number, s->bounds[i]) : "+Inf",
                       (unsigned long long)below);
    }
    if (!labels.failed)
        vit_string_add(out, "%s_sum{%s} %s\n%s_count{%s} %llu\n", name, labels.text,
                       vit_format_double(number, h->sum), name, labels.text,
                       (unsigned long long)h->count);
    vit_string_free(&labels);
}

static void write_routes(const serve_metrics *m, vit_string *out) {
    head(out, "vit_requests_total", "counter", "Requests answered, by route and status.");
    for (size_t r = 0; r < m->route_count; r++)
        for (unsigned s = 0; s < STATUSES; s++)
            if (m->routes[r].statuses[s] > 0)
                vit_string_add(out, "vit_requests_total{route=\"%s\",status=\"%u\"} %llu\n",
                               m->route_names[r], s, (unsigned long long)m->routes[r].statuses[s]);
    head(out, "vit_request_seconds", "histogram",
         "From the first line of a request to its answer, by route.");
    for (size_t r = 0; r < m->route_count; r++)
        if (m->routes[r].seconds.count > 0)
            add_histogram(out, "vit_request_seconds", "route", m->route_names[r], NULL,
                          &m->routes[r].seconds, &in_seconds);
}

static void write_stages(const serve_metrics *m, vit_string *out) {
    head(out, "vit_stage_seconds", "histogram",
         "Decoding a picture, waiting for a turn, computing, by model.");
    for (size_t i = 0; i < m->model_count; i++)
        for (size_t s = 0; s < SERVE_STAGE_COUNT; s++)
            add_histogram(out, "vit_stage_seconds", "model", m->model_names[i], stage_names[s],
                          &m->models[i].stages[s], &in_seconds);
}

static void write_models(const serve_metrics *m, vit_string *out) {
    static const char *const names[] = {"vit_pictures_total", "vit_pictures_failed_total"};
    static const char *const helps[] = {"Pictures computed, by model.",
                                        "Pictures that could not be read, by model."};
    for (size_t k = 0; k < 2; k++) {
        head(out, names[k], "counter", helps[k]);
        for (size_t i = 0; i < m->model_count; i++) {
            vit_string_add(out, "%s{", names[k]);
            serve_add_label(out, "model", m->model_names[i]);
            vit_string_add(
                out, "} %llu\n",
                (unsigned long long)(k == 0 ? m->models[i].pictures : m->models[i].failed));
        }
    }
    head(out, "vit_batch_pictures", "histogram", "Pictures computed together, by model.");
    for (size_t i = 0; i < m->model_count; i++)
        add_histogram(out, "vit_batch_pictures", "model", m->model_names[i], NULL,
                      &m->models[i].batches, &in_pictures);
}

static void write_server(const serve_metrics *m, const serve_gauges *g, vit_string *out) {
    char number[32];
    head(out, "vit_reloads_total", "counter", "Models read again, by result.");
    vit_string_add(out, "vit_reloads_total{result=\"failed\"} %llu\n",
                   (unsigned long long)m->reloads[0]);
    vit_string_add(out, "vit_reloads_total{result=\"succeeded\"} %llu\n",
                   (unsigned long long)m->reloads[1]);
    head(out, "vit_connections_refused_total", "counter",
         "Connections refused, as there were too many.");
    vit_string_add(out, "vit_connections_refused_total %llu\n", (unsigned long long)m->refused);
    head(out, "vit_connections", "gauge", "Connections that are open.");
    vit_string_add(out, "vit_connections %zu\n", g->connections);
    head(out, "vit_queue_pictures", "gauge", "Pictures that wait for their turn.");
    vit_string_add(out, "vit_queue_pictures %zu\n", g->waiting);
    head(out, "vit_uptime_seconds", "gauge", "Since the server began.");
    vit_string_add(out, "vit_uptime_seconds %s\n", vit_format_double(number, g->uptime));
}

void serve_metrics_write(serve_metrics *m, const serve_gauges *gauges, vit_string *out) {
    pthread_mutex_lock(&m->lock);
    write_routes(m, out);
    write_models(m, out);
    write_stages(m, out);
    write_server(m, gauges, out);
    pthread_mutex_unlock(&m->lock);
}
