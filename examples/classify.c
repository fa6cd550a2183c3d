/* Classifies a picture twice: from its file, and from the bytes of the file in memory.
 *
 *     cc classify.c $(pkg-config --cflags --libs libvit) -o classify
 *     ./classify mnist.safetensors digit.png
 */
#include <stdio.h>
#include <stdlib.h>
#include <vit/vit.h>

static uint8_t bytes[16 << 20]; /* the file of one picture, at most */

static void answer(const char *from, const vit_model *model, const float *logits, float *chances) {
    size_t best, classes = vit_model_describe(model).classes;
    vit_top_k(logits, classes, 1, &best);
    vit_model_probabilities(model, logits, chances);
    printf("%s: %s, %.1f %%\n", from, vit_model_label(model, best), 100 * (double)chances[best]);
}

int main(int argc, char **argv) {
    vit_model *model = NULL;
    vit_session *session = NULL;
    vit_error error = {0};
    float *logits = NULL;
    if (argc != 3) return fprintf(stderr, "usage: classify MODEL PICTURE\n"), 2;

    if (vit_model_load(&model, argv[1], &error) != VIT_OK) goto done;
    if (vit_session_new(&session, model, NULL, &error) != VIT_OK) goto done;
    size_t classes = vit_model_describe(model).classes;
    if ((logits = calloc(2 * classes, sizeof *logits)) == NULL) return perror("classify"), 1;

    if (vit_classify_file(session, argv[2], logits, &error) != VIT_OK) goto done;
    answer("from the file", model, logits, logits + classes);

    FILE *file = fopen(argv[2], "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file) fclose(file);
    if (vit_classify_memory(session, bytes, size, argv[2], logits, &error) != VIT_OK) goto done;
    answer("from memory", model, logits, logits + classes);

done: /* what was not created is NULL, which every vit_..._free accepts */
    if (error.status != VIT_OK) fprintf(stderr, "classify: %s\n", error.message);
    free(logits);
    vit_session_free(session);
    vit_model_free(model);
    return error.status == VIT_OK ? 0 : 1;
}
