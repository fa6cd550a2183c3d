/* Teaches two kinds of pictures to the network of a model, says how well, and answers another one:
 *     ./teach cifar10.safetensors new.jpg cat1.jpg cat2.jpg cat3.jpg -- dog1.jpg dog2.jpg dog3.jpg
 */
#include <stdio.h>
#include <string.h>
#include <vit/few_shot.h>

enum { MOST = 100 };

int main(int argc, char **argv) {
    vit_model *model = NULL;
    vit_few_shot *teaching = NULL;
    vit_picture pictures[2][MOST] = {{{0}}};
    size_t counts[2] = {0}, kind = 0;
    vit_error error = {0};
    vit_few_shot_result learnt;
    float chances[2];
    for (int i = 3; i < argc && kind < 2 && counts[kind] < MOST; i++) {
        if (strcmp(argv[i], "--") == 0)
            kind++;
        else
            pictures[kind][counts[kind]++].name = argv[i];
    }
    if (kind != 1) return fprintf(stderr, "usage: teach MODEL NEW ONE... -- OTHER...\n"), 2;
    if (vit_model_load(&model, argv[1], &error) != VIT_OK) goto done;
    if (vit_few_shot_new(&teaching, model, NULL, &error) != VIT_OK) goto done;
    if (vit_few_shot_add(teaching, "one", pictures[0], counts[0], NULL, &error) != VIT_OK ||
        vit_few_shot_add(teaching, "other", pictures[1], counts[1], NULL, &error) != VIT_OK ||
        vit_few_shot_learn(teaching, &learnt, &error) != VIT_OK ||
        vit_few_shot_answer(teaching, &(vit_picture){.name = argv[2]}, chances, NULL, 0, NULL,
                            &error) != VIT_OK)
        goto done;
    printf("%.0f %% right without themselves; %s: one %.1f %%, other %.1f %%\n",
           100 * learnt.accuracy, argv[2], 100 * (double)chances[0], 100 * (double)chances[1]);
done:
    if (error.status != VIT_OK) fprintf(stderr, "teach: %s\n", error.message);
    vit_few_shot_free(teaching);
    vit_model_free(model);
    return error.status == VIT_OK ? 0 : 1;
}
