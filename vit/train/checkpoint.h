/* Checkpoints: DIR/checkpoint.safetensors with the weights, AdamW's moments, the weights' average
 * where there is one, and what they belong to. Everything else of a training is a function of the
 * step, so this is all that resuming needs.
 */
#ifndef VIT_TRAIN_CHECKPOINT_H
#define VIT_TRAIN_CHECKPOINT_H

#include "vit/train/preset.h"
#include "vit/train/trainer.h"

/* What must agree between a checkpoint and the command that resumes from it. */
typedef struct vit_identity {
    const vit_preset *preset; /* config and recipe */
    const char *data;         /* the data set's checksum */
    const char *init;         /* SHA-256 of the model it started from, "" for none */
    uint64_t seed;
    uint64_t schedule; /* steps of the learning rate's schedule */
} vit_identity;

/* Writes atomically; *path (freed by vit_free) is the file, for messages. */
vit_status vit_checkpoint_save(char **path, const char *directory, vit_trainer *trainer,
                               const vit_identity *identity, vit_error *error);

/* Reads the schedule of the checkpoint in a directory; *found false and OK when there is none. */
vit_status vit_checkpoint_schedule(bool *found, uint64_t *schedule, const char *directory,
                                   vit_error *error);

/* Puts the trainer where the checkpoint was. MISMATCH, naming what differs, when it belongs to
 * another training. */
vit_status vit_checkpoint_load(vit_trainer *trainer, const char *directory,
                               const vit_identity *identity, vit_error *error);

#endif
