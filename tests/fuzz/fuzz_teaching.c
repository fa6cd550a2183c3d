/* What few-shot learning keeps: lessons, and heads beside a backbone; the first byte chooses. What
 * is read learns again, or answers, with finite numbers.
 *
 * Seeds: vit-train --init tests/fixtures/published/timm_backbone --head ridge --lessons FILE, and
 * --backbone reference, with a byte before them.
 */
#include "tests/fuzz/seal.h"
#include "vit/base/sys.h"
#include "vit/few_shot.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MODELS "tests/fixtures/published"

static const char *put(const uint8_t *data, size_t size) {
    static char path[64];
    if (path[0] == 0) snprintf(path, sizeof path, "/tmp/fuzz-teaching-%ld", (long)getpid());
    uint8_t *sealed = seal_tensors(data, size);
    put_input(path, sealed, size);
    free(sealed);
    return path;
}

static void learn(const vit_model *backbone, const char *path) {
    const vit_few_shot_options options = {.keep_lessons = true, .no_curve = true, .threads = 1};
    vit_few_shot *t;
    vit_few_shot_result learnt;
    vit_error error;
    if (vit_few_shot_new(&t, backbone, &options, &error) != VIT_OK) abort();
    if (vit_few_shot_load_lessons(t, path, &error) == VIT_OK) {
        for (size_t i = 0; i < vit_few_shot_count(t); i++)
            if (vit_few_shot_at(t, i).label >= vit_few_shot_classes(t)) abort();
        if (vit_few_shot_learn(t, &learnt, &error) == VIT_OK &&
            !(learnt.accuracy >= 0 && learnt.accuracy <= 1))
            abort();
    }
    vit_few_shot_free(t);
}

static void answer(const char *path) {
    static const uint8_t pixels[32 * 32 * 3] = {1, 2, 3};
    const vit_session_options options = {.threads = 1};
    vit_model *model;
    vit_session *session;
    vit_error error;
    if (vit_model_load(&model, path, &error) != VIT_OK) return;
    const size_t classes = vit_model_describe(model).classes;
    float *logits = vit_alloc(classes, sizeof *logits);
    if (!logits || vit_session_new(&session, model, &options, &error) != VIT_OK) abort();
    if (vit_classify_pixels(session, pixels, 32, 32, 3, 96, logits, &error) == VIT_OK)
        for (size_t i = 0; i < classes; i++)
            if (!isfinite(logits[i])) abort();
    vit_session_free(session);
    vit_model_free(model);
    vit_free(logits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static vit_model *backbone;
    vit_error error;
    if (size == 0) return 0;
    if (!backbone) {
        setenv("VIT_MODELS", MODELS, 1);
        if (vit_model_load(&backbone, MODELS "/timm_backbone", &error) != VIT_OK) abort();
    }
    const char *path = put(data + 1, size - 1);
    if (data[0] % 2 == 0)
        learn(backbone, path);
    else
        answer(path);
    unlink(path);
    return 0;
}
