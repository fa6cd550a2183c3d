/* Checkpoints: DIR/checkpoint-STEP.safetensors, STEP of 12 digits, with the weights, AdamW's
 * moments, the weights' average where there is one, the history, and what they belong to.
 * Everything else of a training is a function of the step, so this is all that resuming needs.
 *
 * Each has a SHA-256 of all its bytes. A new one is written as DIR/checkpoint.new, read back and
 * verified, and only then gets its name; only then older ones go: the last two and the one of the
 * best held-back answers stay. DIR/lock keeps a second training out.
 */
#ifndef VIT_TRAIN_CHECKPOINT_H
#define VIT_TRAIN_CHECKPOINT_H

#include "vit/base/sys.h"
#include "vit/tensors/tensors.h"
#include "vit/train/recipe/preset.h"
#include "vit/train/step/trainer.h"
#include "vit/weights/model_file.h"

#define VIT_CHECKPOINT_NEW "checkpoint.new" /* one that is being written */

/* What must agree between a checkpoint and the command that resumes from it. */
typedef struct vit_identity {
    const vit_preset *preset; /* config and recipe */
    const char *data;         /* the data set's checksum */
    const char *init;         /* SHA-256 of the model it started from, "" for none */
    const char *teacher;      /* SHA-256 of the teacher's file, "" for none */
    uint64_t seed;
    uint64_t schedule;           /* steps of the learning rate's schedule */
    const vit_model_file *model; /* what a checkpoint says beside its weights, to be a model, too;
                                    its values are not read. NULL: nothing. Not compared */
} vit_identity;

/* What a training remembers beside its arrays. All 0 at the start. */
typedef struct vit_history {
    size_t best_step; /* with the best held-back answers so far; 0: none measured */
    double best_top1, best_loss;
    size_t extended_at, extended_from; /* the step at which the schedule became longer, last, and
                                          its steps before; 0: never */
    size_t stale;                      /* epochs since then */
    size_t skipped, skipped_in_row;    /* steps whose gradients could not be used */
    size_t high_in_row;                /* steps whose loss is many times that of the start */
    size_t counted;                    /* steps that were used, of which follow */
    double first_loss;                 /* the first one's, */
    double recent_loss;                /* and means of late ones: the loss, */
    double recent_norm;                /* the norm of the gradient */
    double loss_sum;                   /* of the steps since the last epoch's end */
    size_t loss_steps;
} vit_history;

typedef struct vit_checkpoint_entry {
    uint64_t step;
    bool stale; /* another training's, or damaged: goes when a new one has been verified */
} vit_checkpoint_entry;

/* A directory of checkpoints that this process has locked. */
typedef struct vit_checkpoints {
    char *directory; /* NULL: none */
    int lock;
    vit_checkpoint_entry *entries; /* ascending steps */
    size_t count, capacity;
    bool has_old; /* a checkpoint.safetensors, without checksum, of an earlier version */
} vit_checkpoints;

/* Makes the directory, locks it and looks what it holds. IO where another training has it, and
 * where it cannot be looked into or written. */
vit_status vit_checkpoints_open(vit_checkpoints *out, const char *directory, vit_error *error);
void vit_checkpoints_close(vit_checkpoints *c); /* takes one that is zeroed */

/* A checkpoint that has been verified. */
typedef struct vit_checkpoint {
    vit_bytes bytes;
    vit_tensors *file;
    char *path;
    uint64_t step, schedule;
} vit_checkpoint;

/* Told of each file that does not verify: why, naming it. */
typedef void vit_checkpoint_skipped(const char *why, void *context);

/* The newest that verifies, of step `most` at most; out->file NULL and OK where the directory holds
 * none. FORMAT where none of those that it holds verifies, IO where one cannot be looked at. */
vit_status vit_checkpoints_newest(vit_checkpoint *out, vit_checkpoints *c, uint64_t most,
                                  vit_checkpoint_skipped *skipped, void *context, vit_error *error);
/* The one of that step; *missing where there is none of that name, or none that verifies. */
vit_status vit_checkpoints_at(vit_checkpoint *out, const vit_checkpoints *c, uint64_t step,
                              bool *missing, vit_error *error);
void vit_checkpoint_close(vit_checkpoint *checkpoint); /* takes one that is zeroed */

/* MISMATCH, naming what differs, when it belongs to another training. */
vit_status vit_checkpoint_compare(const vit_checkpoint *checkpoint, const vit_identity *identity,
                                  vit_error *error);

/* Puts the trainer where the checkpoint was. FORMAT for a step beyond the schedule, and for moments
 * that cannot be. */
vit_status vit_checkpoint_load(vit_trainer *trainer, vit_history *history,
                               const vit_checkpoint *checkpoint, vit_error *error);

/* Its weights alone, or their average: what the model is made of; values: [table->size]. */
vit_status vit_checkpoint_weights(float *values, const vit_table *table,
                                  const vit_checkpoint *checkpoint, bool average, vit_error *error);

/* Marks all as another training's. */
void vit_checkpoints_replace(vit_checkpoints *c);

/* Writes one, verifies it and removes the older ones; *path (freed by vit_free) is the file, for
 * messages. ARGUMENT for weights or moments that are not finite. */
vit_status vit_checkpoints_save(char **path, vit_checkpoints *c, vit_trainer *trainer,
                                const vit_identity *identity, const vit_history *history,
                                vit_error *error);

/* Bytes that one takes, for finding out whether there is room. */
size_t vit_checkpoint_size(vit_trainer *trainer);

#endif
