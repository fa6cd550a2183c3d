/* The training pictures that a picture is compared with: --neighbours. */
#ifndef VIT_CLI_CLASSIFY_NEIGHBOURS_H
#define VIT_CLI_CLASSIFY_NEIGHBOURS_H

#include "vit/cli/parts/program.h"
#include "vit/few_shot.h"

/* What the guest that keeps features does; of the list `guests`. */
typedef struct vit_neighbour_guest {
    /* The features of the pictures of `data`. */
    vit_status (*open)(vit_few_shot **out, const vit_command *command, vit_model *model,
                       const char *data, const vit_session_options *how, vit_error *error);
    /* neighbours: [*count] = the most similar, the first one most; fewer if there are fewer. */
    vit_status (*find)(vit_few_shot *among, const float *features,
                       vit_few_shot_neighbour *neighbours, size_t *count, vit_error *error);
    vit_few_shot_picture (*at)(const vit_few_shot *among, size_t index);
    const char *(*name)(const vit_few_shot *among, size_t class);
    void (*free)(vit_few_shot *among);
} vit_neighbour_guest;

extern const vit_neighbour_guest *const vit_neighbours; /* NULL: there is none */

#endif
