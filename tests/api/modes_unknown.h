/* For test_modes.c alone: out-of-distribution pictures and defects of vit/reliance.h. */
#ifndef VIT_TESTS_API_MODES_UNKNOWN_H
#define VIT_TESTS_API_MODES_UNKNOWN_H

#include "tests/api/modes_reliance.h"

static const vit_unknown_options half_unknown = {.rate = .5};

static void add_embedded(const vit_embedded_picture *picture, void *user) {
    (void)user;
    add_number((double)picture->label);
    add(picture->logits, vit_model_describe(model).classes * sizeof(float));
    add(picture->features, vit_model_describe(model).features * sizeof(float));
}

static void try_vit_embed_data(void) {
    vit_embedded_data data;
    vit_status status;
    TRY(status = vit_embed_data(model, &calibration_pictures, add_embedded, NULL, &data, &error));
    works(status);
    add_text(data.which);
}

static void try_vit_ood_name(void) {
    const char *text;
    TRY(text = vit_ood_name(VIT_OOD_KNN));
    add_text(text);
}

static void try_vit_ood_measure(void) {
    const double inside[] = {1, 2, 3, 4, 5, 6, 7, 9, 9}, outliers[] = {3, 9, 10. / 3, 20};
    vit_ood_figures figures;
    TRY(figures = vit_ood_measure(inside, 9, outliers, 4));
    add_number(figures.auroc);
    add_number(figures.fpr95);
}

static vit_calibration *compared(void) {
    vit_calibration *c = calibration();
    works(vit_calibration_compare(c, model, &calibration_pictures, &calibration_pictures, NULL,
                                  &error));
    return c;
}

static void try_vit_calibration_compare(void) {
    vit_calibration *c = calibration();
    vit_status status;
    TRY(status = vit_calibration_compare(c, model, &calibration_pictures, &calibration_pictures,
                                         &calibration_pictures, &error));
    works(status);
    works(vit_calibration_save(c, "written", &error));
    add_file("written");
    unlink("written");
    vit_calibration_free(c);
}

static void try_vit_calibration_ood(void) {
    vit_calibration *c = compared();
    vit_ood_info info;
    TRY(info = vit_calibration_ood(c));
    add_number((double)info.k);
    vit_calibration_free(c);
}

static void try_vit_unknown_rule_new(void) {
    vit_calibration *c = calibration();
    vit_unknown_rule *rule;
    vit_status status;
    TRY(status = vit_unknown_rule_new(&rule, c, &half_unknown, &error));
    works(status);
    vit_unknown_rule_free(rule);
    vit_calibration_free(c);
}

static void try_vit_unknown_rule_free(void) {
    vit_calibration *c = calibration();
    vit_unknown_rule *rule;
    works(vit_unknown_rule_new(&rule, c, &half_unknown, &error));
    TRY(vit_unknown_rule_free(rule));
    vit_calibration_free(c);
}

static void try_vit_unknown_rule_score(void) {
    vit_calibration *c = calibration();
    vit_unknown_rule *rule;
    vit_ood_score score;
    works(vit_unknown_rule_new(&rule, c, &half_unknown, &error));
    TRY(score = vit_unknown_rule_score(rule));
    add_number((double)score);
    vit_unknown_rule_free(rule);
    vit_calibration_free(c);
}

static void try_vit_unknown_test(void) {
    vit_calibration *c = compared();
    const vit_model_info info = vit_model_describe(model);
    float *values = vit_alloc(info.classes + info.features, sizeof *values);
    vit_unknown_rule *rule;
    vit_unknown answer;
    vit_status status;
    for (size_t i = 0; i < info.classes + info.features; i++) values[i] = (float)(i % 7) / 3;
    works(vit_unknown_rule_new(&rule, c, &half_unknown, &error));
    TRY(status = vit_unknown_test(rule, model, values, values + info.classes, &answer, &error));
    works(status);
    add(answer.scores, sizeof answer.scores);
    add_number(answer.p_value);
    vit_free(values);
    vit_unknown_rule_free(rule);
    vit_calibration_free(c);
}

static void try_vit_evaluate_left_out(void) {
    vit_left_out out = {0};
    const vit_evaluate_options none = {0};
    vit_status status;
    TRY(status = vit_evaluate_left_out(model, &none, 0, &out, &error));
    add_number((double)status);
}

static void try_vit_calibration_scores(void) {
    vit_calibration *c = calibration();
    size_t count;
    const double *scores;
    TRY(scores = vit_calibration_scores(c, &count));
    add(scores, count * sizeof *scores);
    vit_calibration_free(c);
}

/* ---- drift ---- */

static vit_drift *drift(void) {
    const double scores[] = {.1, .2, .2, .4, .9};
    vit_drift *d;
    works(vit_drift_new(&d, scores, 5, &error));
    return d;
}

static void try_vit_drift_new(void) {
    const double scores[] = {3, 1, 2};
    vit_drift *d;
    vit_status status;
    TRY(status = vit_drift_new(&d, scores, 3, &error));
    works(status);
    vit_drift_free(d);
}

static void try_vit_drift_free(void) {
    vit_drift *d = drift();
    TRY(vit_drift_free(d));
}

static void try_vit_drift_add(void) {
    vit_drift *d = drift();
    double value;
    TRY(value = vit_drift_add(d, .95));
    add_number(value);
    vit_drift_free(d);
}

static void try_vit_drift_value(void) {
    vit_drift *d = drift();
    double value;
    vit_drift_add(d, .2);
    TRY(value = vit_drift_value(d));
    add_number(value);
    vit_drift_free(d);
}

/* ---- defects ---- */

static uint8_t drawn[3][28 * 28];

static vit_picture drawn_picture(uint32_t i) {
    vit_draw_digit(drawn[i], 1, i);
    return (vit_picture){.name = "drawn",
                         .pixels = drawn[i],
                         .width = 28,
                         .height = 28,
                         .channels = 1,
                         .stride = 28};
}

static vit_bank *bank(void) {
    const vit_picture good[] = {drawn_picture(0), drawn_picture(1)};
    vit_bank *b;
    works(vit_bank_new(&b, model, session, good, 2, NULL, NULL, &error));
    return b;
}

static void try_vit_bank_new(void) {
    const vit_picture good[] = {drawn_picture(0), drawn_picture(1)};
    const vit_bank_options options = {.coreset = .7, .threads = 2, .name = "drawn"};
    vit_bank *b;
    vit_status status;
    TRY(status = vit_bank_new(&b, model, session, good, 2, &options, NULL, &error));
    works(status);
    works(vit_bank_save(b, "written", &error));
    add_file("written");
    unlink("written");
    vit_bank_free(b);
}

static void try_vit_bank_free(void) {
    vit_bank *b = bank();
    TRY(vit_bank_free(b));
}

static void try_vit_bank_save(void) {
    vit_bank *b = bank();
    vit_status status;
    TRY(status = vit_bank_save(b, "written", &error));
    works(status);
    add_file("written");
    unlink("written");
    vit_bank_free(b);
}

static void try_vit_bank_load(void) {
    vit_bank *b = bank(), *read;
    vit_status status;
    works(vit_bank_save(b, "written", &error));
    TRY(status = vit_bank_load(&read, "written", &error));
    works(status);
    add_number(vit_bank_describe(read).scores[1]);
    unlink("written");
    vit_bank_free(read);
    vit_bank_free(b);
}

static void try_vit_bank_check(void) {
    vit_bank *b = bank();
    vit_status status;
    TRY(status = vit_bank_check(b, model, session, &error));
    works(status);
    vit_bank_free(b);
}

static void try_vit_bank_describe(void) {
    vit_bank *b = bank();
    vit_bank_info info;
    TRY(info = vit_bank_describe(b));
    add_number((double)info.patches);
    vit_bank_free(b);
}

static void try_vit_bank_threshold(void) {
    vit_bank *b = bank();
    double threshold;
    vit_status status;
    TRY(status = vit_bank_threshold(b, .4, &threshold, &error));
    works(status);
    add_number(threshold);
    vit_bank_free(b);
}

static void try_vit_bank_test(void) {
    vit_bank *b = bank();
    const vit_picture other = drawn_picture(2);
    const vit_bank_info info = vit_bank_describe(b);
    float *map = vit_alloc(info.rows * info.columns, sizeof *map);
    vit_anomaly anomaly;
    vit_answer answer;
    vit_status status;
    TRY(status = vit_bank_test(b, model, session, &other, 1, NULL, &anomaly, map, &answer, &error));
    works(status);
    add_number(anomaly.score);
    add_number(anomaly.p_value);
    add(map, info.rows * info.columns * sizeof *map);
    vit_free(map);
    vit_bank_free(b);
}

#endif
