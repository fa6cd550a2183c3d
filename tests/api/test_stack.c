/* The stack that vit/vit.h asks of a thread that calls is enough: for a picture, a training, and
 * for a file that is nested as deep as JSON may be. */
#include "tests/support/few_digits.h"
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/maps.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STACK (256 << 10)
#define DEPTH 2040 /* jansson reads 2048 */

static char root[PATH_MAX / 2];
static vit_error error;

/* Runs it on a thread with that stack. */
static void run_small(void *(*body)(void *)) {
    pthread_attr_t attributes;
    pthread_t thread;
    void *status;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, body, &error), 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    pthread_attr_destroy(&attributes);
    if (status) fail_msg("%s", error.message);
}

static void *answer(void *context) {
    char path[PATH_MAX];
    float logits[10];
    vit_model *model = NULL;
    vit_session *session = NULL;
    vit_buffer html = {0};
    static uint8_t digit[28 * 28];
    snprintf(path, sizeof path, "%s/models/mnist.safetensors", root);
    vit_status status = vit_model_load(&model, path, context);
    snprintf(path, sizeof path, "%s/tests/fixtures/image_exif_6.jpg", root);
    if (status == VIT_OK) status = vit_session_new(&session, model, NULL, context);
    if (status == VIT_OK) status = vit_classify_file(session, path, logits, context);
    if (status == VIT_OK) status = vit_explain_page(session, digit, NULL, &html, context);
    vit_buffer_clear(&html);
    vit_session_free(session);
    vit_model_free(model);
    return status == VIT_OK ? NULL : context;
}

static void *train(void *context) {
    const char *const set[] = {"dim=16", "depth=1", "heads=2", "mlp=16"};
    const vit_train_options options = {.arrays = few_digits(),
                                       .set = set,
                                       .set_count = 4,
                                       .steps = 1,
                                       .out = "m.safetensors",
                                       .checkpoint = "c",
                                       .report = "r.html",
                                       .tensorboard = "t"};
    return vit_train(NULL, &options, context) == VIT_OK ? NULL : context;
}

static void *open_deep(void *context) {
    vit_model *model;
    const vit_model_options options = {.config = "deep.json"};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/tests/fixtures/published/hf_4", root);
    const vit_status status = vit_model_load_with(&model, path, &options, context);
    return status == VIT_ERROR_UNSUPPORTED || status == VIT_ERROR_FORMAT ? NULL : context;
}

static void test_small_stack(void **state) {
    char deep[2 * DEPTH + 16] = "{\"a\": ";
    const size_t at = strlen(deep);
    memset(deep + at, '[', DEPTH);
    memset(deep + at + DEPTH, ']', DEPTH);
    deep[at + 2 * DEPTH] = '}';
    put_file("deep.json", deep);
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* whose frames are larger */
#endif
    run_small(answer);
    run_small(train);
    run_small(open_deep);
}

int main(void) {
    const struct CMUnitTest tests[] = {IN_DIRECTORY(test_small_stack)};
    if (!getcwd(root, sizeof root)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
