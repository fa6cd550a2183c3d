/* Trains a network on digits that the library draws, measures it, and classifies one more digit.
 *
 *     cc train.c $(pkg-config --cflags --libs libvit) -o train
 *     ./train 300
 */
#include <stdio.h>
#include <stdlib.h>
#include <vit/vit.h>

/* Called again and again during the training, which ends if it returns false. */
static bool show(const vit_event *event, void *user) {
    (void)user;
    if (event->kind == VIT_EVENT_START)
        printf("%zu parameters, %zu pictures\n", event->parameters, event->train_images);
    if (event->kind == VIT_EVENT_STEP)
        printf("step %3d of %d   loss %.3f   %.0f images/s\n", (int)event->step, (int)event->steps,
               event->loss, event->images_per_second);
    fflush(stdout);
    return true;
}

/* Prints the accuracy on the 2,000 test pictures. */
static vit_status measure(const vit_model *model, vit_error *error) {
    vit_evaluate_options options = {.data = "digits"};
    vit_evaluation result;
    vit_status status = vit_evaluate(model, &options, &result, error);
    if (status == VIT_OK)
        printf("right on %zu of %zu test pictures: %.1f %%\n", result.correct, result.images,
               100 * result.top1);
    vit_evaluation_clear(&result);
    return status;
}

/* Draws a digit that is in neither the training nor the test pictures, and classifies it. */
static vit_status read_digit(const vit_model *model, vit_error *error) {
    uint8_t pixels[28 * 28];
    float logits[10];
    size_t best;
    vit_session *session;
    uint8_t label = vit_draw_digit(pixels, 3, 0);
    vit_status status = vit_session_new(&session, model, NULL, error);
    if (status == VIT_OK) status = vit_classify_prepared(session, pixels, 1, logits, error);
    if (status == VIT_OK) {
        vit_top_k(logits, 10, 1, &best);
        printf("drew a %d, read as %s\n", label, vit_model_label(model, best));
    }
    vit_session_free(session);
    return status;
}

int main(int argc, char **argv) {
    vit_train_options options = {.data = "digits", .callback = show};
    options.steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 300;
    if (options.steps == 0) return fprintf(stderr, "usage: train [STEPS]\n"), 2;
    vit_model *model;
    vit_error error;
    vit_status status = vit_train(&model, &options, &error);
    if (status == VIT_OK) status = measure(model, &error);
    if (status == VIT_OK) status = read_digit(model, &error);
    if (status != VIT_OK) fprintf(stderr, "train: %s\n", error.message);
    vit_model_free(model);
    return status == VIT_OK ? 0 : 1;
}
