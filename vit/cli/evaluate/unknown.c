#include "vit/cli/evaluate/unknown.h"
#include "vit/base/math.h"
#include "vit/base/sys.h"
#include "vit/few_shot.h"
#include <math.h>
#include <string.h>

/* ---- what a calibration has ---- */

static void add_figures(vit_string *text, const vit_ood_figures figures[VIT_OOD_COUNT],
                        vit_ood_score chosen) {
    char auroc[32], fpr95[32];
    vit_string_add(text, "  score          AUROC   FPR95\n");
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT; score++) {
        if (isnan(figures[score].auroc)) continue;
        vit_string_add(text, "  %-12s %6s %% %6s %%%s\n", vit_ood_name(score),
                       vit_format_fixed(auroc, 100 * figures[score].auroc, 2),
                       vit_format_fixed(fpr95, 100 * figures[score].fpr95, 2),
                       score == chosen ? "  chosen" : "");
    }
}

void vit_ood_text(vit_string *text, const vit_calibration *calibration) {
    const vit_ood_info info = vit_calibration_ood(calibration);
    char count[32], percent[32];
    vit_string_add(text, "out-of-distribution pictures: score %s", vit_ood_name(info.chosen));
    if (info.training) {
        vit_string_add(text, ", beside %s training pictures of ",
                       vit_format_count(count, info.training_images));
        vit_string_add_visible(text, info.training, 0);
        vit_string_add(text, ", k = %zu", info.k);
    } else {
        vit_string_add(text, " (--training DATA compares features, too, which finds more)");
    }
    vit_string_add(text, "; enough for a rate of false alarms of %s %% or more\n",
                   vit_format_fixed(percent, 100 / (double)(info.images + 1), 3));
    if (!info.outliers) return;
    vit_string_add(text, "against %s outliers of ", vit_format_count(count, info.outlier_images));
    vit_string_add_visible(text, info.outliers, 0);
    vit_string_add(text, ":\n");
    add_figures(text, info.figures, info.chosen);
}

static void write_figures(vit_json_out *json, const vit_ood_figures figures[VIT_OOD_COUNT]) {
    vit_json_open(json, "scores", '[');
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT; score++) {
        if (isnan(figures[score].auroc)) continue;
        vit_json_open(json, NULL, '{');
        vit_json_text(json, "score", vit_ood_name(score));
        vit_json_number(json, "auroc", figures[score].auroc);
        vit_json_number(json, "fpr95", figures[score].fpr95);
        vit_json_close(json, '}');
    }
    vit_json_close(json, ']');
}

void vit_ood_json(vit_json_out *json, const vit_calibration *calibration) {
    const vit_ood_info info = vit_calibration_ood(calibration);
    vit_json_open(json, "ood", '{');
    vit_json_text(json, "score", vit_ood_name(info.chosen));
    vit_json_count(json, "images", info.images);
    vit_json_text(json, "training", info.training);
    vit_json_count(json, "training_images", info.training_images);
    vit_json_count(json, "neighbours", info.k);
    vit_json_text(json, "outliers", info.outliers);
    vit_json_count(json, "outlier_images", info.outlier_images);
    write_figures(json, info.figures);
    vit_json_close(json, '}');
}

/* ---- measured ---- */

/* The scores of the pictures of one data set. */
typedef struct tested {
    const vit_unknown_rule *rule;
    const vit_model *model;
    vit_embedded_data about;
    double *scores[VIT_OOD_COUNT]; /* [images] */
    size_t rooms[VIT_OOD_COUNT];
    size_t images, unknown;
    vit_status status;
    vit_error *error;
} tested;

static void test_picture(const vit_embedded_picture *picture, void *user) {
    tested *t = user;
    vit_unknown answer;
    if (t->status == VIT_OK)
        t->status = vit_unknown_test(t->rule, t->model, picture->logits, picture->features, &answer,
                                     t->error);
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT && t->status == VIT_OK; score++) {
        if (VIT_MAKE_ROOM(t->scores[score], t->images, t->rooms[score], "scores", t->error))
            t->scores[score][t->images] = answer.scores[score];
        else
            t->status = VIT_ERROR_MEMORY;
    }
    if (t->status != VIT_OK) return;
    t->images++;
    t->unknown += answer.unknown;
}

static vit_status test_data(tested *t, const vit_unknown_rule *rule, const vit_model *model,
                            const vit_evaluate_options *options, vit_error *error) {
    *t = (tested){.rule = rule, .model = model, .error = error};
    if (!options) return VIT_OK;
    const vit_status status = vit_embed_data(model, options, test_picture, t, &t->about, error);
    return status == VIT_OK ? t->status : status;
}

static void free_tested(tested *t) {
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT; score++) vit_free(t->scores[score]);
}

static void add_tested(vit_string *text, const tested *t) {
    char count[32], percent[32], from[32], to[32];
    double low, high;
    vit_wilson(&low, &high, t->unknown, t->images);
    vit_string_add(text, "  ");
    vit_string_add_visible(text, t->about.data, 0);
    vit_string_add(
        text,
        ", %s: %zu of %s pictures are unknown, %s %%, in 19 of 20 cases between %s and %s %%\n",
        t->about.which, t->unknown, vit_format_count(count, t->images),
        vit_format_fixed(percent, 100 * (double)t->unknown / (double)t->images, 2),
        vit_format_fixed(from, 100 * low, 2), vit_format_fixed(to, 100 * high, 2));
}

static void write_tested(vit_json_out *json, const char *key, const tested *t) {
    double low, high;
    vit_wilson(&low, &high, t->unknown, t->images);
    vit_json_open(json, key, '{');
    vit_json_text(json, "data", t->about.data);
    vit_json_text(json, "which", t->about.which);
    vit_json_count(json, "images", t->images);
    vit_json_count(json, "unknown", t->unknown);
    vit_json_number(json, "share", (double)t->unknown / (double)t->images);
    vit_json_number(json, "low", low);
    vit_json_number(json, "high", high);
    vit_json_close(json, '}');
}

static bool print_tested(const vit_command *command, const vit_unknown_call *call,
                         const vit_unknown_rule *rule, const tested *data, const tested *outliers) {
    const vit_ood_score chosen = vit_unknown_rule_score(rule);
    vit_ood_figures figures[VIT_OOD_COUNT];
    vit_string text = {0};
    vit_json_out json = {0};
    char percent[32];
    for (vit_ood_score score = 0; score < VIT_OOD_COUNT; score++) {
        const bool has = outliers->images > 0 && !isnan(data->scores[score][0]);
        figures[score] = has ? vit_ood_measure(data->scores[score], data->images,
                                               outliers->scores[score], outliers->images)
                             : (vit_ood_figures){NAN, NAN};
    }
    if (call->json) {
        vit_json_open(&json, NULL, '{');
        vit_json_text(&json, "model", call->name);
        vit_json_number(&json, "rate", call->choice->unknown);
        vit_json_text(&json, "score", vit_ood_name(chosen));
        write_tested(&json, "data", data);
        if (outliers->images > 0) write_tested(&json, "outliers", outliers);
        if (outliers->images > 0) write_figures(&json, figures);
        vit_json_close(&json, '}');
        return vit_print_json(command, &json);
    }
    vit_string_add_visible(&text, call->name, 0);
    vit_string_add(&text, ", score %s, a rate of false alarms of %s %%\n", vit_ood_name(chosen),
                   vit_format_float(percent, (float)(100 * call->choice->unknown)));
    add_tested(&text, data);
    if (outliers->images > 0) add_tested(&text, outliers);
    if (outliers->images > 0) add_figures(&text, figures, chosen);
    return vit_print(command, &text);
}

int vit_measure_unknown(const vit_command *command, const vit_model *model,
                        const vit_unknown_call *call) {
    const vit_evaluate_options *o = call->data;
    const vit_session_options own = {
        .threads = o->threads, .cpu = o->cpu, .precision = o->precision, .bf16 = o->bf16};
    const vit_unknown_options rate = {.rate = call->choice->unknown};
    vit_session *session = NULL;
    vit_calibration *calibration = NULL;
    vit_unknown_rule *rule = NULL;
    tested data = {0}, outliers = {0};
    vit_error error;
    bool printed = false;
    vit_status status = vit_session_new(&session, model, &own, &error);
    if (status == VIT_OK)
        status =
            vit_load_calibration(&calibration, call->choice, call->name, model, session, &error);
    vit_session_free(session);
    if (status == VIT_OK) status = vit_unknown_rule_new(&rule, calibration, &rate, &error);
    if (status == VIT_OK) status = test_data(&data, rule, model, call->data, &error);
    if (status == VIT_OK) status = test_data(&outliers, rule, model, call->outliers, &error);
    if (status == VIT_OK &&
        strcmp(vit_calibration_describe(calibration).data, data.about.data) == 0)
        vit_say(command,
                "the model was calibrated with %s, too: if these are the same pictures, the share "
                "of false alarms says nothing of others",
                data.about.data);
    if (status == VIT_OK) printed = print_tested(command, call, rule, &data, &outliers);
    free_tested(&data);
    free_tested(&outliers);
    vit_unknown_rule_free(rule);
    vit_calibration_free(calibration);
    if (status != VIT_OK) return vit_say_error(command, &error);
    return printed ? VIT_EXIT_OK : VIT_EXIT_FAILED;
}
