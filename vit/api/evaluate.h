/* Which pictures of data a model answers: shared by vit_evaluate and vit_embed_data. */
#ifndef VIT_API_EVALUATE_H
#define VIT_API_EVALUATE_H

#include "vit/api/internal.h"
#include "vit/train/step/loader.h"

/* What the model's recipe, if it has one, tells about its training. */
typedef struct vit_training {
    uint64_t seed;
    double val;      /* the recipe's "val": how many pictures were held back */
    char *checksums; /* of its data, a space before each; "": not known. Freed by vit_free */
    char taught[65]; /* of the pictures that a few-shot head was taught; "": none is */
} vit_training;
vit_status vit_model_training(vit_training *out, const vit_model *model, vit_error *error);

/* Opens the part of the data that the options name, checked. Pictures that are not prepared yet,
 * those of a folder, go through the model's own preprocessing. */
vit_status vit_evaluate_open(vit_dataset *out, const vit_model *model,
                             const vit_evaluate_options *options, const char *trained_on,
                             vit_error *error);

/* The records that are answered. */
typedef struct vit_chosen {
    const vit_records *records;
    const uint32_t *numbers; /* [count] of the records; NULL: all */
    uint32_t *known;         /* the block of `numbers` if they were chosen by class; owned */
    size_t count;
    const char *which; /* in words */
    bool seen;         /* the model learnt from them */
} vit_chosen;

/* Held-back pictures are the set's val part, or those that the model's own training held back,
 * which the loader, freed by vit_loader_free, then lists. */
vit_status vit_choose_records(vit_chosen *out, vit_loader *loader, const vit_training *training,
                              const vit_dataset *data, vit_split split, vit_error *error);

#endif
