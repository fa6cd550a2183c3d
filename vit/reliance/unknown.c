/* Out-of-distribution pictures: four scores, the best of them, and conformal p-values. */
#include "vit/base/error.h"
#include "vit/base/fpmode.h"
#include "vit/base/math.h"
#include "vit/base/order.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/few_shot.h"
#include "vit/reliance/conformal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const vit_ood_names[] = {"softmax", "energy", "knn", "mahalanobis", NULL};
VIT_CHECK_ROWS(vit_ood_names, VIT_OOD_COUNT + 1);
VIT_CHECK_ROWS(vit_ood_names, VIT_OOD_SCORES + 1);

const char *vit_ood_name(vit_ood_score score) {
    return vit_ood_names[score];
}

/* ---- scores ---- */

static double energy_of(const float *logits, size_t classes) {
    double most = -INFINITY, sum = 0;
    for (size_t k = 0; k < classes; k++) most = fmax(most, (double)logits[k]);
    for (size_t k = 0; k < classes; k++) sum += vit_exp((double)logits[k] - most);
    return -(most + vit_log(sum));
}

void vit_ood_scores(double scores[VIT_OOD_COUNT], const float *logits, const float *probabilities,
                    size_t classes) {
    size_t best;
    vit_top_k(probabilities, classes, 1, &best);
    scores[VIT_OOD_SOFTMAX] = 1 - (double)probabilities[best];
    scores[VIT_OOD_ENERGY] = logits ? energy_of(logits, classes) : NAN;
    scores[VIT_OOD_KNN] = scores[VIT_OOD_MAHALANOBIS] = NAN;
}

/* ---- how well scores tell ---- */

/* Of ascending values inside. */
static vit_ood_figures measure_sorted(const double *inside, size_t n, const double *outliers,
                                      size_t m) {
    if (n == 0 || m == 0) return (vit_ood_figures){NAN, NAN};
    const double threshold = inside[(size_t)ceil(.95 * (double)n - 1e-9) - 1];
    double wins = 0, passed = 0;
    for (size_t i = 0; i < m; i++) {
        const size_t below = vit_count_below(inside, n, outliers[i], false);
        const size_t up_to = vit_count_below(inside, n, outliers[i], true);
        wins += (double)below + .5 * (double)(up_to - below);
        passed += outliers[i] <= threshold;
    }
    return (vit_ood_figures){wins / (double)n / (double)m, passed / (double)m};
}

vit_ood_figures vit_ood_measure(const double *inside, size_t n, const double *outliers, size_t m) {
    VIT_ENTRY;
    double *sorted = vit_alloc(vit_max(n, 1), sizeof *sorted);
    if (!sorted) return (vit_ood_figures){NAN, NAN};
    if (n > 0) memcpy(sorted, inside, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, vit_compare_doubles);
    const vit_ood_figures figures = measure_sorted(sorted, n, outliers, m);
    vit_free(sorted);
    return figures;
}

/* ---- pictures of data ---- */

/* Pictures as they are embedded. */
typedef struct gathering {
    const vit_model *model;
    size_t classes, width, count, score_room, feature_room;
    bool known_only;
    double (*scores)[VIT_OOD_COUNT]; /* [count] */
    float *features;                 /* [count][width] */
    float *probabilities;            /* [classes] scratch memory */
    vit_status status;
    vit_error *error;
} gathering;

static void gather_picture(const vit_embedded_picture *picture, void *user) {
    gathering *g = user;
    if (g->status != VIT_OK || (g->known_only && picture->label == SIZE_MAX)) return;
    g->features = vit_make_room(g->features, g->count, &g->feature_room,
                                g->width * sizeof *g->features, "features", g->error);
    if (g->count >= g->feature_room ||
        !VIT_MAKE_ROOM(g->scores, g->count, g->score_room, "scores", g->error)) {
        g->status = VIT_ERROR_MEMORY;
        return;
    }
    memcpy(g->features + g->count * g->width, picture->features, g->width * sizeof *g->features);
    vit_model_probabilities(g->model, picture->logits, g->probabilities);
    vit_ood_scores(g->scores[g->count++], picture->logits, g->probabilities, g->classes);
}

static void free_gathering(gathering *g) {
    vit_free(g->scores);
    vit_free(g->features);
    vit_free(g->probabilities);
}

static vit_status gather(gathering *g, const vit_model *model, const vit_evaluate_options *options,
                         bool known_only, vit_embedded_data *about, vit_error *error) {
    const vit_model_info info = vit_model_describe(model);
    *g = (gathering){.model = model,
                     .classes = info.classes,
                     .width = info.features,
                     .known_only = known_only,
                     .probabilities = vit_alloc(info.classes, sizeof(float)),
                     .error = error};
    if (!g->probabilities) return vit_fail_memory(error, "scores", info.classes * sizeof(float));
    const vit_status status = vit_embed_data(model, options, gather_picture, g, about, error);
    return status == VIT_OK ? g->status : status;
}

/* Distances of gathered pictures. */
typedef struct measuring {
    const vit_typical *typical;
    gathering *pictures;
    double *scratch; /* [threads][room] */
    size_t room;
} measuring;

static void measure_distances(size_t i, int thread, void *context) {
    const measuring *m = context;
    const float *features = m->pictures->features + i * m->pictures->width;
    double *scores = m->pictures->scores[i], *scratch = m->scratch + (size_t)thread * m->room;
    scores[VIT_OOD_KNN] = vit_typical_knn(m->typical, features, scratch);
    scores[VIT_OOD_MAHALANOBIS] = vit_typical_mahalanobis(m->typical, features, scratch);
}

static vit_status measure_all(gathering *g, const vit_typical *typical, int threads,
                              vit_error *error) {
    if (!typical) return VIT_OK;
    if (threads <= 0) threads = vit_threads_default();
    measuring m = {typical, g, NULL, vit_typical_scratch(typical)};
    m.scratch = vit_alloc((size_t)threads, m.room * sizeof *m.scratch);
    if (!m.scratch) return vit_fail_memory(error, "distances", m.room * sizeof *m.scratch);
    vit_parallel(threads, g->count, measure_distances, &m);
    vit_free(m.scratch);
    return VIT_OK;
}

/* ---- the training pictures ---- */

typedef struct training {
    vit_typical_sample sample;
    const gathering *besides; /* pictures that are left out, if they are in the training, too */
    size_t left_out;
} training;

static void gather_training(const vit_embedded_picture *picture, void *user) {
    training *t = user;
    const gathering *g = t->besides;
    const size_t size = g->width * sizeof *g->features;
    for (size_t i = 0; i < g->count; i++) {
        const float *other = g->features + i * g->width;
        if (other[0] != picture->features[0] || memcmp(other, picture->features, size) != 0)
            continue;
        t->left_out++;
        return;
    }
    vit_typical_add(&t->sample, picture->features, picture->class_number);
}

/* besides: its pictures are left out, unless there are none. */
static vit_status learn_typical(vit_calibration *c, const vit_model *model,
                                const vit_evaluate_options *options, const gathering *besides,
                                vit_error *error) {
    vit_evaluate_options choice = *options;
    vit_embedded_data about;
    training t = {.sample = {.width = besides->width, .error = error}, .besides = besides};
    if (besides->count > 0) choice.split = VIT_SPLIT_TRAIN;
    vit_status status = vit_embed_data(model, &choice, gather_training, &t, &about, error);
    if (status == VIT_OK && t.left_out > 0 && t.sample.count < 2)
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "%s: its %zu training pictures are calibration pictures, too, and are "
                          "left out: name the data that the model was trained on",
                          about.data, t.left_out);
    if (status == VIT_OK) status = vit_typical_new(&c->typical, &t.sample, about.data, error);
    vit_typical_sample_free(&t.sample);
    return status;
}

/* ---- the calibration ---- */

vit_status vit_ood_keep(vit_calibration *c, double (*scores)[VIT_OOD_COUNT], size_t count,
                        vit_error *error) {
    vit_typical *typical = c->typical;
    c->typical = NULL;
    vit_ood_clear(c);
    c->typical = typical;
    c->ood_images = count;
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT; score++) {
        if (count == 0 || isnan(scores[0][score])) continue;
        c->ood[score] = vit_alloc(count, sizeof(double));
        if (!c->ood[score]) return vit_fail_memory(error, "scores", count * sizeof(double));
        for (size_t i = 0; i < count; i++) c->ood[score][i] = scores[i][score];
        qsort(c->ood[score], count, sizeof(double), vit_compare_doubles);
    }
    c->chosen = c->ood[VIT_OOD_KNN]      ? VIT_OOD_KNN
                : c->ood[VIT_OOD_ENERGY] ? VIT_OOD_ENERGY
                                         : VIT_OOD_SOFTMAX;
    return VIT_OK;
}

/* The figures of each score, and the one with the largest AUROC. */
static vit_status choose_score(vit_calibration *c, const gathering *outliers, vit_error *error) {
    double *values = vit_alloc(vit_max(outliers->count, 1), sizeof *values);
    if (!values) return vit_fail_memory(error, "scores", outliers->count * sizeof *values);
    double best = -1;
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT; score++) {
        if (!c->ood[score]) continue;
        for (size_t i = 0; i < outliers->count; i++) values[i] = outliers->scores[i][score];
        c->figures[score] = measure_sorted(c->ood[score], c->ood_images, values, outliers->count);
        if (!(c->figures[score].auroc > best)) continue;
        best = c->figures[score].auroc;
        c->chosen = score;
    }
    vit_free(values);
    return VIT_OK;
}

static vit_status compare_outliers(vit_calibration *c, const vit_model *model,
                                   const vit_evaluate_options *options, vit_error *error) {
    gathering g;
    vit_embedded_data about;
    vit_status status = gather(&g, model, options, false, &about, error);
    vit_free(c->outliers);
    c->outliers = NULL;
    if (status == VIT_OK) status = measure_all(&g, c->typical, options->threads, error);
    if (status == VIT_OK) status = choose_score(c, &g, error);
    if (status == VIT_OK) {
        c->outlier_images = g.count;
        c->outliers = vit_strdup(about.data);
        if (!c->outliers) status = vit_fail_memory(error, "a name", sizeof about.data);
    }
    free_gathering(&g);
    return status;
}

void vit_ood_clear(vit_calibration *c) {
    vit_typical_free(c->typical);
    vit_free(c->outliers);
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT; score++) {
        vit_free(c->ood[score]);
        c->ood[score] = NULL;
        c->figures[score] = (vit_ood_figures){NAN, NAN};
    }
    c->typical = NULL;
    c->outliers = NULL;
    c->ood_images = c->outlier_images = 0;
}

/* Of pictures that the head was computed from: the distance to the others, the nearest being the
 * picture itself, and the score of answers without it, which the calibration has already. */
static vit_status compare_seen(vit_calibration *c, const vit_model *model,
                               const vit_evaluate_options *pictures, gathering *g,
                               vit_error *error) {
    const gathering none = {.width = g->width};
    double *softmax = c->ood[VIT_OOD_SOFTMAX];
    const size_t images = c->ood_images;
    c->ood[VIT_OOD_SOFTMAX] = NULL;
    vit_ood_clear(c);
    vit_status status = learn_typical(c, model, pictures, &none, error);
    if (status == VIT_OK) {
        c->typical->neighbours = vit_min(c->typical->neighbours + 1, c->typical->images);
        status = measure_all(g, c->typical, pictures->threads, error);
        if (c->typical->neighbours > 1) c->typical->neighbours--;
    }
    for (size_t i = 0; i < g->count && status == VIT_OK; i++) {
        g->scores[i][VIT_OOD_SOFTMAX] = softmax && i < images ? softmax[i] : NAN;
        g->scores[i][VIT_OOD_ENERGY] = g->scores[i][VIT_OOD_MAHALANOBIS] = NAN;
    }
    if (status == VIT_OK) status = vit_ood_keep(c, g->scores, g->count, error);
    vit_free(softmax);
    return status;
}

/* The calibration pictures once more, beside those of the training. */
static vit_status compare_training(vit_calibration *c, const vit_model *model,
                                   const vit_evaluate_options *pictures,
                                   const vit_evaluate_options *known, vit_error *error) {
    gathering g;
    vit_embedded_data about = {.seen = false};
    vit_status status = gather(&g, model, pictures, true, &about, error);
    if (status == VIT_OK && about.seen) {
        status = compare_seen(c, model, pictures, &g, error);
        free_gathering(&g);
        return status;
    }
    vit_ood_clear(c);
    if (status == VIT_OK) status = learn_typical(c, model, known, &g, error);
    if (status == VIT_OK) status = measure_all(&g, c->typical, pictures->threads, error);
    if (status == VIT_OK) status = vit_ood_keep(c, g.scores, g.count, error);
    free_gathering(&g);
    return status;
}

vit_status vit_calibration_compare(vit_calibration *c, const vit_model *model,
                                   const vit_evaluate_options *pictures,
                                   const vit_evaluate_options *known,
                                   const vit_evaluate_options *outliers, vit_error *error) {
    VIT_ENTRY;
    static const vit_evaluate_options none;
    vit_status status = VIT_OK;
    if (known) status = compare_training(c, model, pictures ? pictures : &none, known, error);
    if (status == VIT_OK && outliers) status = compare_outliers(c, model, outliers, error);
    if (status != VIT_OK) vit_ood_clear(c);
    return status;
}

vit_ood_info vit_calibration_ood(const vit_calibration *c) {
    vit_ood_info info = {.chosen = c->chosen,
                         .images = c->ood_images,
                         .outliers = c->outliers,
                         .outlier_images = c->outlier_images};
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT; score++)
        info.figures[score] =
            c->outliers && c->ood[score] ? c->figures[score] : (vit_ood_figures){NAN, NAN};
    if (c->typical) {
        info.training = c->typical->data;
        info.training_images = c->typical->images;
        info.k = c->typical->neighbours;
    }
    return info;
}

const double *vit_calibration_scores(const vit_calibration *c, size_t *count) {
    *count = c->ood_images;
    return c->ood[c->chosen];
}

/* ---- a rule ---- */

struct vit_unknown_rule {
    const vit_calibration *calibration;
    vit_ood_score score;
    double rate;
};

static vit_status check_rate(const vit_calibration *c, double rate, vit_error *error) {
    char percent[32];
    if (!(rate > 0 && rate < 1))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "the rate of false alarms is above 0 and below 1");
    const size_t needed = vit_conformal_needs(1 - rate);
    if (c->ood_images >= needed) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT,
                    "a rate of %s %% false alarms needs at least %zu calibration pictures, and "
                    "there are %zu; calibrate with more, or ask for a higher rate",
                    vit_format_fixed(percent, 100 * rate, 2), needed, c->ood_images);
}

vit_status vit_unknown_rule_new(vit_unknown_rule **out, const vit_calibration *c,
                                const vit_unknown_options *options, vit_error *error) {
    VIT_ENTRY;
    static const vit_unknown_options none;
    const vit_unknown_options *o = options ? options : &none;
    const vit_ood_score score = o->score.given ? (vit_ood_score)o->score.value : c->chosen;
    *out = NULL;
    vit_status status = check_rate(c, o->rate, error);
    if (status == VIT_OK && (score >= VIT_OOD_COUNT || !c->ood[score]))
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "the calibration does not have the score %s: it compares with training "
                          "pictures, which calibrating needs (--training DATA)",
                          score < VIT_OOD_COUNT ? vit_ood_names[score] : "that was asked for");
    if (status != VIT_OK) return status;
    *out = vit_alloc(1, sizeof **out);
    if (!*out) return vit_fail_memory(error, "a rule", sizeof **out);
    **out = (vit_unknown_rule){c, score, o->rate};
    return VIT_OK;
}

void vit_unknown_rule_free(vit_unknown_rule *rule) {
    vit_free(rule);
}

vit_ood_score vit_unknown_rule_score(const vit_unknown_rule *rule) {
    return rule->score;
}

vit_status vit_unknown_test(const vit_unknown_rule *rule, const vit_model *model,
                            const float *logits, const float *features, vit_unknown *out,
                            vit_error *error) {
    VIT_ENTRY;
    const vit_calibration *c = rule->calibration;
    float *probabilities = vit_alloc(c->classes, sizeof *probabilities);
    double *scratch = vit_alloc(c->typical ? vit_typical_scratch(c->typical) : 1, sizeof *scratch);
    *out = (vit_unknown){0};
    if (!probabilities || !scratch) {
        vit_free(probabilities);
        vit_free(scratch);
        return vit_fail_memory(error, "scores", c->classes * sizeof *probabilities);
    }
    vit_model_probabilities(model, logits, probabilities);
    vit_ood_scores(out->scores, logits, probabilities, c->classes);
    if (c->typical) {
        out->scores[VIT_OOD_KNN] = vit_typical_knn(c->typical, features, scratch);
        out->scores[VIT_OOD_MAHALANOBIS] = vit_typical_mahalanobis(c->typical, features, scratch);
    }
    out->score = out->scores[rule->score];
    const size_t n = c->ood_images;
    const size_t below = vit_count_below(c->ood[rule->score], n, out->scores[rule->score], false);
    out->p_value = (double)(1 + n - below) / (double)(1 + n);
    out->unknown = out->p_value <= rule->rate + 1e-12;
    vit_free(probabilities);
    vit_free(scratch);
    return VIT_OK;
}
