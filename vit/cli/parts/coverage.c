#include "vit/cli/parts/coverage.h"
#include "vit/base/math.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/evaluate/unknown.h"
#include "vit/cli/models/models.h"
#include <stdio.h>
#include <string.h>

static double share(size_t part, size_t whole) {
    return whole > 0 ? (double)part / (double)whole : 0;
}

vit_status vit_find_calibration(char **path, const vit_coverage_choice *choice, const char *name,
                                vit_error *error) {
    char *model = NULL;
    *path = NULL;
    const vit_status status = choice->calibration ? VIT_OK : vit_find_model(&model, name, error);
    if (status != VIT_OK) return status;
    *path = choice->calibration ? vit_strdup(choice->calibration) : vit_calibration_beside(model);
    vit_free(model);
    return *path ? VIT_OK : vit_fail_memory(error, "the path of a calibration", strlen(name));
}

/* Which threshold was chosen, and what it does to the calibration pictures. */
static void say_thresholds(const vit_command *command, const vit_coverage_choice *choice,
                           const double *thresholds, const vit_abstain_figures *f) {
    char a[32], b[32], c[32], d[32], e[32];
    vit_string where = {0};
    if (choice->by_class)
        vit_string_add(&where, "below a confidence threshold for each class");
    else
        vit_string_add(&where, "below a confidence of %s %%",
                       vit_format_fixed(a, 100 * thresholds[0], 2));
    vit_say(command,
            "abstains %s: so %s %% of the %zu calibration pictures are answered, %s %% of the "
            "answers right, between %s and %s %%",
            where.text ? where.text : "below a threshold",
            vit_format_fixed(b, 100 * share(f->answered, f->images), 2), f->images,
            vit_format_fixed(c, 100 * share(f->right, f->answered), 2),
            vit_format_fixed(d, 100 * f->low, 2), vit_format_fixed(e, 100 * f->high, 2));
    vit_string_free(&where);
}

vit_status vit_load_calibration(vit_calibration **out, const vit_coverage_choice *choice,
                                const char *name, const vit_model *model, vit_session *session,
                                vit_error *error) {
    char *path;
    *out = NULL;
    vit_status status = vit_find_calibration(&path, choice, name, error);
    if (status == VIT_OK && vit_path_look(path) == VIT_PATH_NONE)
        status =
            vit_fail(error, VIT_ERROR_ARGUMENT,
                     "the model is not calibrated, there is no %s; vit-evaluate --model %s "
                     "--calibrate DATA%s makes it from labelled pictures that the training has "
                     "not seen",
                     path, name, choice->unknown > 0 ? " --training ITS_TRAINING_DATA" : "");
    if (status == VIT_OK) status = vit_calibration_load(out, path, model, session, error);
    vit_free(path);
    return status;
}

/* What needs the calibration. */
static vit_status open_calibrated(vit_coverage *out, const vit_command *command,
                                  const vit_coverage_choice *choice, const char *name,
                                  const vit_model *model, vit_session *session, vit_error *error) {
    const vit_set_options options = {.coverage = choice->coverage,
                                     .score = (vit_conformal_score)choice->score,
                                     .by_class = choice->by_class};
    const vit_unknown_options unknown = {.rate = choice->unknown};
    vit_abstain_figures figures;
    vit_status status =
        vit_load_calibration(&out->calibration, choice, name, model, session, error);
    if (status == VIT_OK)
        snprintf(out->calibrated_on, sizeof out->calibrated_on, "%s",
                 vit_calibration_describe(out->calibration).data);
    if (status == VIT_OK && choice->coverage > 0)
        status = vit_set_rule_new(&out->rule, out->calibration, &options, error);
    if (status == VIT_OK && choice->answered_right > 0) {
        status = vit_abstain_thresholds(out->thresholds, &figures, out->calibration,
                                        choice->answered_right, choice->by_class, error);
        if (status == VIT_OK) say_thresholds(command, choice, out->thresholds, &figures);
    }
    if (status == VIT_OK && choice->unknown > 0)
        status = vit_unknown_rule_new(&out->unknown, out->calibration, &unknown, error);
    return status;
}

static vit_status open_coverage(vit_coverage *out, const vit_command *command,
                                const vit_coverage_choice *choice, const char *name,
                                const vit_model *model, vit_session *session, vit_error *error) {
    const size_t classes = vit_model_describe(model).classes;
    const bool abstains = choice->abstain_below.given || choice->answered_right > 0;
    *out = (vit_coverage){.asked = choice->coverage,
                          .thresholds = abstains ? vit_alloc(classes, sizeof(double)) : NULL};
    if (abstains && !out->thresholds)
        return vit_fail_memory(error, "thresholds", classes * sizeof(double));
    for (size_t k = 0; k < classes && choice->abstain_below.given; k++)
        out->thresholds[k] = choice->abstain_below.value;
    if (choice->coverage <= 0 && choice->answered_right <= 0 && choice->unknown <= 0) return VIT_OK;
    return open_calibrated(out, command, choice, name, model, session, error);
}

static void close_coverage(vit_coverage *c) {
    vit_set_rule_free(c->rule);
    vit_unknown_rule_free(c->unknown);
    vit_calibration_free(c->calibration);
    vit_free(c->thresholds);
    *c = (vit_coverage){0};
}

static bool print_calibration(const vit_command *command, const vit_calibration *calibration,
                              const char *path, bool json) {
    const vit_calibration_info info = vit_calibration_describe(calibration);
    const double most = share(info.images, info.images + 1);
    char images[32], percent[32];
    vit_string text = {0};
    vit_json_out out = {0};
    if (json) {
        vit_json_open(&out, NULL, '{');
        vit_json_text(&out, "calibration", path);
        vit_json_text(&out, "data", info.data);
        vit_json_text(&out, "which", info.which);
        vit_json_count(&out, "images", info.images);
        vit_json_count(&out, "classes", info.classes);
        vit_json_count(&out, "fewest_of_a_class", info.fewest);
        vit_json_number(&out, "most_coverage", most);
        vit_ood_json(&out, calibration);
        vit_json_close(&out, '}');
        return vit_print_json(command, &out);
    }
    vit_string_add_visible(&text, path, 0);
    vit_string_add(&text, ": %s pictures of ", vit_format_count(images, info.images));
    vit_string_add_visible(&text, info.data, 0);
    vit_string_add(&text, ", %s; enough for a coverage of up to %s %%\n", info.which,
                   vit_format_fixed(percent, 100 * most, 2));
    vit_ood_text(&text, calibration);
    return vit_print(command, &text);
}

/* ---- how often sets hold the truth ---- */

static void free_counts(vit_set_counts *c) {
    vit_free(c->set);
    vit_free(c->images);
    vit_free(c->covered);
    *c = (vit_set_counts){0};
}

static vit_status new_counts(vit_set_counts *c, const vit_coverage *coverage, size_t classes,
                             vit_error *error) {
    *c = (vit_set_counts){.coverage = coverage,
                          .classes = classes,
                          .set = vit_alloc(classes, sizeof *c->set),
                          .images = vit_alloc(classes, sizeof *c->images),
                          .covered = vit_alloc(classes, sizeof *c->covered)};
    if (c->set && c->images && c->covered) return VIT_OK;
    free_counts(c);
    return vit_fail_memory(error, "sets", classes * sizeof *c->set);
}

static void add_set(vit_set_counts *c, const vit_evaluated *picture) {
    const size_t count = vit_prediction_set(c->coverage->rule, picture->probabilities, c->set);
    c->size += count;
    c->empty += count == 0;
    c->single += count == 1;
    c->wide += count > 1;
    for (size_t i = 0; i < count; i++) c->covered[picture->label] += c->set[i] == picture->label;
}

static void add_picture(vit_set_counts *c, const vit_evaluated *picture) {
    const double *thresholds = c->coverage->thresholds;
    const bool right = picture->answer == picture->label;
    c->total++;
    c->images[picture->label]++;
    c->right_before += right;
    if (c->coverage->rule) add_set(c, picture);
    if (!thresholds || vit_abstains(thresholds, picture->answer, picture->probabilities)) return;
    c->answered++;
    c->right += right;
}

static size_t covered_of(const vit_set_counts *c) {
    size_t covered = 0;
    for (size_t k = 0; k < c->classes; k++) covered += c->covered[k];
    return covered;
}

/* Risk and coverage of the reject option. */
static void add_answered(vit_string *text, const vit_set_counts *c) {
    const size_t wrong = c->total - c->right_before, left = wrong - (c->answered - c->right);
    char a[32], b[32], d[32], e[32];
    double low = 0, high = 1;
    if (c->answered > 0) vit_wilson(&low, &high, c->right, c->answered);
    vit_string_add(text,
                   "\n  answered  %6s %%   %zu of %zu pictures; the model abstains from %zu, "
                   "%zu of which it would get wrong (of %zu wrong in all)\n",
                   vit_format_fixed(a, 100 * share(c->answered, c->total), 2), c->answered,
                   c->total, c->total - c->answered, left, wrong);
    vit_string_add(text,
                   "  right     %6s %%   of the answers; between %s and %s %% (without: %s %%)\n",
                   vit_format_fixed(a, 100 * share(c->right, c->answered), 2),
                   vit_format_fixed(b, 100 * low, 2), vit_format_fixed(d, 100 * high, 2),
                   vit_format_fixed(e, 100 * share(c->right_before, c->total), 2));
}

static void add_sets(vit_string *text, const vit_set_counts *c, const vit_model *model,
                     const vit_coverage_choice *choice) {
    char a[32], b[32], d[32], e[32];
    double low, high;
    vit_wilson(&low, &high, covered_of(c), c->total);
    vit_string_add(text, "\n  prediction sets for a coverage of %s %%, score %s%s\n",
                   vit_format_fixed(a, 100 * choice->coverage, 2),
                   vit_conformal_name((vit_conformal_score)choice->score),
                   choice->by_class ? ", by class" : "");
    vit_string_add(text, "  coverage  %6s %%   of the sets hold the truth; between %s and %s %%\n",
                   vit_format_fixed(a, 100 * share(covered_of(c), c->total), 2),
                   vit_format_fixed(b, 100 * low, 2), vit_format_fixed(d, 100 * high, 2));
    vit_string_add(text,
                   "  mean size %6s     classes; one class: %s %%, several: %s %%, none: %s %%\n",
                   vit_format_fixed(a, share(c->size, c->total), 3),
                   vit_format_fixed(b, 100 * share(c->single, c->total), 2),
                   vit_format_fixed(d, 100 * share(c->wide, c->total), 2),
                   vit_format_fixed(e, 100 * share(c->empty, c->total), 2));
    for (size_t k = 0; k < c->classes; k++) {
        if (c->images[k] == 0) continue;
        vit_string_add(text, "    ");
        vit_string_add_visible(text, vit_model_label(model, k), 12);
        vit_string_add(text, " %7s %% of %zu\n",
                       vit_format_fixed(a, 100 * share(c->covered[k], c->images[k]), 2),
                       c->images[k]);
    }
}

static void put_text(vit_string *text, const vit_set_counts *c, const vit_model *model,
                     const vit_coverage_choice *choice) {
    if (c->total > 0 && c->coverage->thresholds) add_answered(text, c);
    if (c->total > 0 && c->coverage->rule) add_sets(text, c, model, choice);
}

static void write_answered(vit_json_out *json, const vit_set_counts *c) {
    double low = 0, high = 1;
    if (c->answered > 0) vit_wilson(&low, &high, c->right, c->answered);
    vit_json_open(json, "answered", '{');
    vit_json_count(json, "images", c->answered);
    vit_json_number(json, "share", share(c->answered, c->total));
    vit_json_count(json, "correct", c->right);
    vit_json_number(json, "top1", share(c->right, c->answered));
    vit_json_number(json, "low", low);
    vit_json_number(json, "high", high);
    vit_json_close(json, '}');
}

static void write_sets(vit_json_out *json, const vit_set_counts *c, const vit_model *model,
                       const vit_coverage_choice *choice) {
    double low = 0, high = 1;
    if (c->total > 0) vit_wilson(&low, &high, covered_of(c), c->total);
    vit_json_open(json, "coverage", '{');
    vit_json_number(json, "asked", choice->coverage);
    vit_json_text(json, "score", vit_conformal_name((vit_conformal_score)choice->score));
    vit_json_bool(json, "by_class", choice->by_class);
    vit_json_count(json, "images", c->total);
    vit_json_number(json, "measured", share(covered_of(c), c->total));
    vit_json_number(json, "low", low);
    vit_json_number(json, "high", high);
    vit_json_number(json, "mean_size", share(c->size, c->total));
    vit_json_number(json, "single", share(c->single, c->total));
    vit_json_number(json, "empty", share(c->empty, c->total));
    vit_json_open(json, "per_class", '[');
    for (size_t k = 0; k < c->classes; k++) {
        vit_json_open(json, NULL, '{');
        vit_json_text(json, "label", vit_model_label(model, k));
        vit_json_count(json, "images", c->images[k]);
        vit_json_number(json, "measured", share(c->covered[k], c->images[k]));
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
    vit_json_close(json, '}');
}

static void put_json(vit_json_out *json, const vit_set_counts *c, const vit_model *model,
                     const vit_coverage_choice *choice) {
    if (c->coverage->thresholds) write_answered(json, c);
    if (c->coverage->rule) write_sets(json, c, model, choice);
}

/* ---- what programs call ---- */

static size_t set_of(const vit_coverage *c, const float *probabilities, size_t *set) {
    return c->rule ? vit_prediction_set(c->rule, probabilities, set) : 0;
}

static vit_status calibrate(const vit_command *command, const vit_coverage_choice *choice,
                            const vit_model_choice *from, const vit_evaluate_options *options,
                            const vit_evaluate_options *training,
                            const vit_evaluate_options *outliers, bool json, bool *printed,
                            vit_error *error) {
    vit_model *model = NULL;
    vit_calibration *made = NULL;
    char *path = NULL;
    vit_status status = vit_find_calibration(&path, choice, from->name, error);
    if (status == VIT_OK)
        status = vit_load_chosen_model(&model, from, (uint64_t)options->threads, false, error);
    if (status == VIT_OK) status = vit_calibration_new(&made, model, options, error);
    if (status == VIT_OK)
        status = vit_calibration_compare(made, model, options, training, outliers, error);
    if (status == VIT_OK) status = vit_calibration_save(made, path, error);
    *printed = status == VIT_OK && print_calibration(command, made, path, json);
    vit_calibration_free(made);
    vit_model_free(model);
    vit_free(path);
    return status;
}

static int calibrate_trained(const vit_command *command, const char *out,
                             const vit_evaluate_options *pictures, bool are_lessons) {
    static const vit_coverage_choice beside;
    vit_model *model = NULL;
    vit_calibration *made = NULL;
    char *path = NULL;
    vit_error error;
    vit_status status = vit_find_calibration(&path, &beside, out, &error);
    if (status == VIT_OK) status = vit_model_load(&model, out, &error);
    if (status == VIT_OK) status = vit_calibration_new(&made, model, pictures, &error);
    if (status == VIT_OK && are_lessons)
        status = vit_calibration_compare(made, model, pictures, pictures, NULL, &error);
    if (status == VIT_OK) status = vit_calibration_save(made, path, &error);
    if (status == VIT_OK) {
        const vit_calibration_info info = vit_calibration_describe(made);
        char images[32];
        vit_say(command, "calibrated by %s pictures, %s: %s", vit_format_count(images, info.images),
                info.which, path);
    }
    vit_calibration_free(made);
    vit_model_free(model);
    vit_free(path);
    return status == VIT_OK ? VIT_EXIT_OK : vit_say_error(command, &error);
}

static vit_status test(const vit_coverage *c, const vit_model *model, const float *logits,
                       const float *features, vit_unknown *out, vit_error *error) {
    return vit_unknown_test(c->unknown, model, logits, features, out, error);
}

static vit_status open_drift(vit_drift **out, const vit_coverage *c, vit_error *error) {
    size_t count;
    const double *scores = vit_calibration_scores(c->calibration, &count);
    return vit_drift_new(out, scores, count, error);
}

const vit_coverage_guest vit_coverage_reliance = {.open = open_coverage,
                                                  .free = close_coverage,
                                                  .set = set_of,
                                                  .calibrate = calibrate,
                                                  .calibrate_trained = calibrate_trained,
                                                  .test = test,
                                                  .measure_unknown = vit_measure_unknown,
                                                  .drift_open = open_drift,
                                                  .drift_free = vit_drift_free,
                                                  .drift_add = vit_drift_add,
                                                  .drift_value = vit_drift_value,
                                                  .counts_new = new_counts,
                                                  .counts_add = add_picture,
                                                  .counts_free = free_counts,
                                                  .counts_text = put_text,
                                                  .counts_json = put_json};
