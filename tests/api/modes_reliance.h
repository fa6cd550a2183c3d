/* For test_modes.c alone: the functions of vit/reliance.h. */
#ifndef VIT_TESTS_API_MODES_RELIANCE_H
#define VIT_TESTS_API_MODES_RELIANCE_H

#include "tests/api/modes.h"
#include "vit/reliance.h"

static const vit_evaluate_options calibration_pictures = {.arrays = &few, .data = "drawn"};
static const vit_set_options half = {.coverage = .5, .score = VIT_CONFORMAL_RAPS};

static vit_calibration *calibration(void) {
    vit_calibration *c;
    works(vit_calibration_new(&c, model, &calibration_pictures, &error));
    return c;
}

static void try_vit_conformal_name(void) {
    const char *text;
    TRY(text = vit_conformal_name(VIT_CONFORMAL_APS));
    add_text(text);
}

static void try_vit_calibration_new(void) {
    vit_calibration *c;
    vit_status status;
    TRY(status = vit_calibration_new(&c, model, &calibration_pictures, &error));
    works(status);
    works(vit_calibration_save(c, "written", &error));
    add_file("written");
    unlink("written");
    vit_calibration_free(c);
}

static void try_vit_calibration_free(void) {
    vit_calibration *c = calibration();
    TRY(vit_calibration_free(c));
}

static void try_vit_calibration_save(void) {
    vit_calibration *c = calibration();
    vit_status status;
    TRY(status = vit_calibration_save(c, "written", &error));
    works(status);
    add_file("written");
    unlink("written");
    vit_calibration_free(c);
}

static void try_vit_calibration_load(void) {
    vit_calibration *c = calibration(), *read;
    vit_status status;
    works(vit_calibration_save(c, "written", &error));
    TRY(status = vit_calibration_load(&read, "written", model, session, &error));
    works(status);
    add_number((double)vit_calibration_describe(read).images);
    unlink("written");
    vit_calibration_free(read);
    vit_calibration_free(c);
}

static void try_vit_calibration_describe(void) {
    vit_calibration *c = calibration();
    vit_calibration_info info;
    TRY(info = vit_calibration_describe(c));
    add_number((double)info.fewest);
    vit_calibration_free(c);
}

static void try_vit_set_rule_new(void) {
    vit_calibration *c = calibration();
    vit_set_rule *rule;
    vit_status status;
    TRY(status = vit_set_rule_new(&rule, c, &half, &error));
    works(status);
    vit_set_rule_free(rule);
    vit_calibration_free(c);
}

static void try_vit_set_rule_free(void) {
    vit_calibration *c = calibration();
    vit_set_rule *rule;
    works(vit_set_rule_new(&rule, c, &half, &error));
    TRY(vit_set_rule_free(rule));
    vit_calibration_free(c);
}

static void try_vit_prediction_set(void) {
    vit_calibration *c = calibration();
    vit_set_rule *rule;
    float probabilities[CLASSES];
    size_t set[CLASSES], count;
    for (size_t k = 0; k < CLASSES; k++) probabilities[k] = (float)(k + 1) / 55;
    works(vit_set_rule_new(&rule, c, &half, &error));
    TRY(count = vit_prediction_set(rule, probabilities, set));
    add(set, count * sizeof *set);
    vit_set_rule_free(rule);
    vit_calibration_free(c);
}

static void try_vit_abstain_thresholds(void) {
    vit_calibration *c = calibration();
    vit_abstain_figures figures;
    double thresholds[CLASSES];
    vit_status status;
    TRY(status = vit_abstain_thresholds(thresholds, &figures, c, .1, false, &error));
    works(status);
    add(thresholds, sizeof thresholds);
    add_number(figures.low);
    vit_calibration_free(c);
}

static void try_vit_label_issues_find(void) {
    float answered[20 * 2];
    size_t given_labels[20], count;
    vit_label_issue *issues;
    vit_status status;
    for (size_t i = 0; i < 20; i++) {
        given_labels[i] = i < 10 ? 0 : 1;
        answered[2 * i] = (i < 9 || i == 19 ? 19.f : 1.f) / (20 + (float)i / 7);
        answered[2 * i + 1] = 1 - answered[2 * i];
    }
    TRY(status = vit_label_issues_find(&issues, &count, answered, given_labels, 20, 2, &error));
    works(status);
    add_number((double)count);
    for (size_t i = 0; i < count; i++) add_number(issues[i].normalized_margin);
    vit_label_issues_free(issues);
}

static void try_vit_label_issues_free(void) {
    const float answered[] = {.9f, .1f, .1f, .9f};
    const size_t given_labels[] = {0, 1};
    vit_label_issue *issues;
    size_t count;
    works(vit_label_issues_find(&issues, &count, answered, given_labels, 2, 2, &error));
    TRY(vit_label_issues_free(issues));
}

static void try_vit_few_shot_left_out(void) {
    float probabilities[2];
    vit_status status;
    TRY(status = vit_few_shot_left_out(teaching, 3, probabilities, &error));
    works(status);
    add(probabilities, sizeof probabilities);
}

#endif
