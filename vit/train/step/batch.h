/* Where a training step gets its samples from: pictures with labels, or texts. */
#ifndef VIT_TRAIN_STEP_BATCH_H
#define VIT_TRAIN_STEP_BATCH_H

#include "vit/text/vocabulary.h"
#include "vit/train/recipe/recipe.h"

/* What a batch says of a sample beside its pixels and its label. */
typedef struct vit_sample_key {
    uint32_t epoch, position; /* with the seed, they determine all its random numbers; position: in
                                 the epoch, so that a picture drawn twice is augmented two ways */
    size_t other;             /* label of the picture that is mixed into it, */
    double share;             /* and the share of that label in its target; 0: none is mixed in */
    bool stranger;            /* it belongs to no class: its target is equal for all classes */
    const float *teacher, *other_teacher; /* a teacher's stored logits [classes] for the picture,
                                             and for the one mixed into it; NULL: none */
    vit_ids source, target; /* of networks that write texts: the text to write, and the one to read,
                               unless that is a picture */
    const uint32_t *classes, *other_classes; /* of a picture that may have several: theirs, and */
    size_t class_count, other_class_count;   /* those of the one mixed in; NULL: `label` is one */
    size_t answers; /* tokens of all targets of the batch, END included: the loss is their mean */
} vit_sample_key;

/* A thread's memory for making pictures, so that a step allocates nothing. What the recipe does not
 * need is NULL. */
typedef struct vit_batch_room {
    uint8_t *record;  /* [height][width][channels]: a record that is read from a file */
    uint8_t *changed; /* [2][height][width][channels]: the picture as operators changed it, and
                         scratch */
    float *bend;      /* [2][height][width]: an elastic distortion; then scratch */
    float *before;    /* [height][width][channels]: a picture of another slice, to mix with */
    void *memory;     /* the block of all of these; owned */
} vit_batch_room;

/* For pictures of height x width x channels that are augmented as the recipe says. */
vit_status vit_batch_room_new(vit_batch_room *out, const vit_recipe *recipe, size_t height,
                              size_t width, size_t channels, vit_error *error);
void vit_batch_room_free(vit_batch_room *room);

/* Makes samples first .. first + count - 1 of the batch: images [count][height][width][channels],
 * normalised; labels [count]; keys [count]. Called from several threads at once, each with a room
 * of its own. */
typedef vit_status vit_batch_source(float *images, size_t *labels, vit_sample_key *keys,
                                    size_t first, size_t count, const vit_batch_room *room,
                                    void *context, vit_error *error);

#endif
