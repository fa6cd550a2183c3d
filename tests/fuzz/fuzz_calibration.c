/* A model's calibration: any text where its data, classes and scores stand, under right checksums.
 * What is read makes sets of the model's classes, and thresholds.
 *
 * Seeds: what stands in a calibration between "answers_sha256" and "sha256".
 */
#include "tests/fuzz/seal.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/reliance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static vit_model *model;
static vit_session *session;
static char path[64], begin[256]; /* of the file, up to the model's checksum */

/* The model, and how its calibrations begin. */
static void open_model(void) {
    const vit_evaluate_options options = {.data = "digits", .threads = 1};
    const vit_session_options alone = {.threads = 1};
    vit_calibration *c;
    vit_bytes file;
    vit_error error;
    snprintf(path, sizeof path, "/tmp/fuzz-calibration-%ld", (long)getpid());
    if (vit_model_load(&model, "models/mnist.safetensors", &error) != VIT_OK ||
        vit_session_new(&session, model, &alone, &error) != VIT_OK ||
        vit_calibration_new(&c, model, &options, &error) != VIT_OK ||
        vit_calibration_save(c, path, &error) != VIT_OK ||
        vit_read_file(&file, path, 1 << 24, &error) != VIT_OK)
        abort();
    const char *end = strstr((const char *)file.data, "\"data\"");
    if (!end) abort();
    snprintf(begin, sizeof begin, "%.*s", (int)(end - (const char *)file.data), file.data);
    vit_free(file.data);
    vit_calibration_free(c);
}

static void make_sets(const vit_calibration *c) {
    const float probabilities[10] = {0.5f, 0.3f, 0.2f};
    double thresholds[10];
    size_t set[10];
    for (int score = 0; score < VIT_CONFORMAL_COUNT; score++) {
        const vit_set_options options = {0.9, (vit_conformal_score)score, score % 2 == 0};
        vit_set_rule *rule;
        vit_error error;
        if (vit_set_rule_new(&rule, c, &options, &error) != VIT_OK) continue;
        const size_t count = vit_prediction_set(rule, probabilities, set);
        for (size_t i = 0; i < count; i++)
            if (count > 10 || set[i] >= 10) abort();
        vit_set_rule_free(rule);
    }
    vit_abstain_figures figures;
    vit_error error;
    for (int by_class = 0; by_class < 2; by_class++)
        if (vit_abstain_thresholds(thresholds, &figures, c, 0.9, by_class, &error) == VIT_OK)
            for (size_t i = 0; i < 10; i++)
                if (isnan(thresholds[i])) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_string text = {0};
    vit_calibration *c;
    vit_error error;
    char hex[65];
    if (!model) open_model();
    vit_string_add(&text, "%s", begin);
    vit_string_add_bytes(&text, (const char *)data, size);
    if (text.failed) abort();
    vit_sha256_of(hex, text.text, text.length);
    vit_string_add(&text, ", \"sha256\": \"%s\"}\n", hex);
    if (text.failed) abort();
    put_input(path, text.text, text.length);
    if (vit_calibration_load(&c, path, model, session, &error) == VIT_OK) {
        make_sets(c);
        vit_calibration_free(c);
    }
    vit_string_free(&text);
    unlink(path);
    return 0;
}
