/* How good is a model? Its accuracy on the test pictures of data, as vit-evaluate has it.
 *
 *     cc evaluate.c $(pkg-config --cflags --libs libvit) -o evaluate
 *     ./evaluate mnist.safetensors mnist
 */
#include <stdio.h>
#include <vit/vit.h>

int main(int argc, char **argv) {
    vit_model *model;
    vit_evaluation e;
    vit_error error;
    if (argc != 3) return fprintf(stderr, "usage: evaluate MODEL DATA\n"), 2;
    const vit_evaluate_options options = {.data = argv[2]};
    if (vit_model_load(&model, argv[1], &error) != VIT_OK ||
        vit_evaluate(model, &options, &e, &error) != VIT_OK)
        return fprintf(stderr, "evaluate: %s\n", error.message), 1;
    printf("right: %zu of %zu pictures, %.2f %%\n", e.correct, e.images, 100 * e.top1);
    vit_evaluation_clear(&e);
    vit_model_free(model);
    return 0;
}
