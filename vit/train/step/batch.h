/* Where a training step gets its pictures from. */
#ifndef VIT_TRAIN_STEP_BATCH_H
#define VIT_TRAIN_STEP_BATCH_H

#include "vit/text/vocabulary.h"
#include "vit/train/recipe/recipe.h"

/* What a picture's random numbers depend on, besides the seed: drawn three times, it is augmented
 * three ways. */
typedef struct vit_sample_key {
    uint32_t epoch, position; /* position: in the epoch */
    size_t other;             /* label of a picture mixed into it, and the share of that label in */
    double share;             /* its target; 0: there is none */
    bool stranger;            /* it is of no class: the target is the same for all */
    const float *teacher, *other_teacher; /* a teacher's stored logits, [classes]: of the picture,
                                             and of the one mixed into it; or NULL */
    /* Of a sample that is answered with a text: that, and what it is where it is no picture. */
    vit_ids source, target;
    size_t answers; /* tokens of all the batch's targets, each with END: the loss is their mean */
} vit_sample_key;

/* A thread's memory for making its pictures, so that a step allocates nothing. What the recipe does
 * not need is NULL. */
typedef struct vit_batch_room {
    uint8_t *record; /* [height][width][channels] of a record that is not in memory */
    uint8_t
        *changed;  /* [2][height][width][channels]: a policy's or jitter's picture, and scratch */
    float *bend;   /* [2][height][width]: an elastic distortion; then scratch */
    float *before; /* [height][width][channels]: a picture of another slice, to mix with */
    void *memory;  /* all of it, in one block */
} vit_batch_room;

/* For pictures of height x width x channels that are trained by the recipe. */
vit_status vit_batch_room_new(vit_batch_room *out, const vit_recipe *recipe, size_t height,
                              size_t width, size_t channels, vit_error *error);
void vit_batch_room_free(vit_batch_room *room);

/* Puts pictures first .. first + count - 1 of the batch into images: [count][height][width]
 * [channels], normalised; labels: [count], keys: [count]. Called from several threads at once, each
 * with a room of its own. */
typedef vit_status vit_batch_source(float *images, size_t *labels, vit_sample_key *keys,
                                    size_t first, size_t count, const vit_batch_room *room,
                                    void *context, vit_error *error);

#endif
