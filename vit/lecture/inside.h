/* What the files of vit/lecture share. */
#ifndef VIT_LECTURE_INSIDE_H
#define VIT_LECTURE_INSIDE_H

#include "vit/lecture/lecture.h"
#include "vit/train/step/adamw.h"

/* Every matrix of a section: of what comes before the blocks, of a block, of what comes after them.
 * D_X is the gradient of the loss with respect to X. */
typedef enum vit_lecture_id {
    /* before the blocks */
    LECTURE_PICTURE,
    LECTURE_E,
    LECTURE_B_E,
    LECTURE_CLASS,
    LECTURE_POSITIONS,
    LECTURE_PATCHES,
    LECTURE_EMBEDDED,
    /* of a block */
    LECTURE_GAMMA_1,
    LECTURE_BETA_1,
    LECTURE_W_Q,
    LECTURE_W_K,
    LECTURE_W_V,
    LECTURE_W_O,
    LECTURE_B_O,
    LECTURE_GAMMA_2,
    LECTURE_BETA_2,
    LECTURE_W_1,
    LECTURE_B_1,
    LECTURE_W_2,
    LECTURE_B_2,
    LECTURE_X,
    LECTURE_Q,
    LECTURE_K,
    LECTURE_V,
    LECTURE_S,
    LECTURE_P,
    LECTURE_HEAD,
    LECTURE_CAT,
    LECTURE_Z_PRIME,
    LECTURE_X_PRIME,
    LECTURE_H,
    LECTURE_G,
    /* before the blocks and of a block: what it hands to the next section */
    LECTURE_Z,
    /* after the blocks */
    LECTURE_W_3,
    LECTURE_B_3,
    LECTURE_W_4,
    LECTURE_B_4,
    LECTURE_Y,
    LECTURE_HIDDEN,
    LECTURE_ACTIVE,
    LECTURE_LOGITS,
    LECTURE_PROBABILITIES,
    LECTURE_LOSS,
    /* gradients after the blocks */
    LECTURE_D_LOGITS,
    LECTURE_D_W_4,
    LECTURE_D_B_4,
    LECTURE_D_ACTIVE,
    LECTURE_D_HIDDEN,
    LECTURE_D_W_3,
    LECTURE_D_B_3,
    LECTURE_D_Y,
    /* of a section that hands Z on */
    LECTURE_D_Z,
    /* of a block */
    LECTURE_D_W_2,
    LECTURE_D_B_2,
    LECTURE_D_G,
    LECTURE_D_H,
    LECTURE_D_W_1,
    LECTURE_D_B_1,
    LECTURE_D_X_PRIME,
    LECTURE_D_GAMMA_2,
    LECTURE_D_BETA_2,
    LECTURE_D_Z_PRIME,
    LECTURE_D_W_O,
    LECTURE_D_B_O,
    LECTURE_D_HEAD,
    LECTURE_D_V,
    LECTURE_D_P,
    LECTURE_D_S,
    LECTURE_D_Q,
    LECTURE_D_K,
    LECTURE_D_W_Q,
    LECTURE_D_W_K,
    LECTURE_D_W_V,
    LECTURE_D_X,
    LECTURE_D_GAMMA_1,
    LECTURE_D_BETA_1,
    /* before the blocks */
    LECTURE_D_POSITIONS,
    LECTURE_D_CLASS,
    LECTURE_D_EMBEDDED,
    LECTURE_D_E,
    LECTURE_D_B_E,
    LECTURE_ID_COUNT,
} vit_lecture_id;

/* Where a section's matrices lie that are more than views: rows of all heads side by side. */
typedef struct vit_lecture_section {
    size_t at[LECTURE_ID_COUNT]; /* numbers of its matrices; LECTURE_NONE: it has no such */
    float *qkv, *d_qkv;          /* [T][3][D] */
    float *cat, *d_cat;          /* [T][D] */
    vit_norm_state stats[2];
} vit_lecture_section;

#define LECTURE_NONE SIZE_MAX

/* A number that was set: it is written again whenever its matrix is computed. */
typedef struct vit_lecture_change {
    size_t index, offset;
    float value;
} vit_lecture_change;

struct vit_lecture {
    vit_network network;
    vit_table table;
    vit_recipe recipe;
    vit_exec exec;
    vit_packed_weights packed;
    vit_gradients gradient_view;
    vit_chunks chunks;
    vit_arena arena;
    /* [table.size] each; loaded: as in the model; before: as they were before the last step */
    float *values, *loaded, *before, *gradients, *m, *v;
    float normalise[256];
    size_t label;
    uint64_t step;
    vit_lecture_section *sections; /* [depth + 2] */
    vit_lecture_matrix *matrices;
    size_t count;
    vit_lecture_change *changes;
    size_t change_count, change_room;
    float *attended, *scratch; /* [T][D]; of attention */
};

/* Takes the memory of all matrices and lists them; a vit_arena_fit function. */
void vit_lecture_carve(vit_arena *arena, void *lecture);

/* Matrix `id` of a section. */
static inline vit_lecture_matrix *vit_lecture_of(const vit_lecture *l, size_t block,
                                                 vit_lecture_id id) {
    return &l->matrices[l->sections[block].at[id]];
}

/* Called when a matrix is computed: writes what was set in it. */
void vit_lecture_computed(vit_lecture *lecture, size_t block, vit_lecture_id id);

/* The passes. */
void vit_lecture_forward(vit_lecture *lecture);
void vit_lecture_backward(vit_lecture *lecture);

#endif
