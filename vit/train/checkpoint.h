/* Checkpoints: DIR/checkpoint-STEP.safetensors, STEP as 12 digits, with the weights, AdamW's
 * moments, the weights' moving average if there is one, the history, and the identity of the
 * training. Everything else of a training is a function of the step, so this is all that resuming
 * needs.
 *
 * Each contains a SHA-256 of all its bytes. A new one is written as DIR/checkpoint.new, read back,
 * verified, and only then renamed; after that older ones are removed, except the last two and the
 * one with the best validation accuracy. DIR/lock keeps a second training out.
 */
#ifndef VIT_TRAIN_CHECKPOINT_H
#define VIT_TRAIN_CHECKPOINT_H

#include "vit/base/sys.h"
#include "vit/tensors/tensors.h"
#include "vit/text/match.h"
#include "vit/train/recipe/preset.h"
#include "vit/train/step/trainer.h"
#include "vit/weights/file/model_file.h"

#define VIT_CHECKPOINT_NEW "checkpoint.new" /* name of the one that is being written */

/* What must agree between a checkpoint and the command that resumes from it. */
typedef struct vit_identity {
    const vit_preset *preset; /* config and recipe */
    const char *data;         /* the data set's checksum */
    const char *init;         /* SHA-256 of the model it started from, "" for none */
    const char *teacher;      /* SHA-256 of the teacher's file, "" for none */
    vit_classes classes;      /* of the data; texts have none */
    uint64_t seed;
    uint64_t schedule;           /* steps of the learning rate's schedule */
    const vit_model_file *model; /* preprocessing, labels and recipe that are written as well, so
                                    that the checkpoint is also a model; NULL: none. Neither its
                                    weights are read nor is it compared */
} vit_identity;

/* What a training remembers besides its arrays. All 0 at the start. */
typedef struct vit_history {
    size_t best_step; /* the step with the best validation accuracy so far; 0: none measured */
    double best_top1, best_loss;
    size_t extended_at, extended_from; /* the step at which the schedule was last extended, and how
                                          many steps it had before; 0: never */
    size_t stale;                      /* epochs since best_step */
    size_t skipped, skipped_in_row;    /* steps whose gradients could not be used */
    size_t high_in_row;                /* last steps whose loss is many times the first one's */
    size_t counted;                    /* steps whose gradients were used */
    double first_loss;                 /* of the first of these */
    double recent_loss;                /* running mean of their losses */
    double recent_norm;                /* running mean of their gradient norms */
    double loss_sum;                   /* losses since the end of the last epoch, */
    size_t loss_steps;                 /* and their number */
} vit_history;

typedef struct vit_checkpoint_entry {
    uint64_t step;
    bool stale; /* another training's, or damaged: removed after a new one has been verified */
} vit_checkpoint_entry;

/* A directory of checkpoints, locked by this process. */
typedef struct vit_checkpoints {
    char *directory; /* NULL: none */
    int lock;
    vit_checkpoint_entry *entries; /* ascending steps */
    size_t count, capacity;
    bool has_old; /* a checkpoint.safetensors, without checksum, of an earlier version */
} vit_checkpoints;

/* Makes the directory, locks it and lists its checkpoints. IO if another training has locked it, or
 * if it cannot be read or written. */
vit_status vit_checkpoints_open(vit_checkpoints *out, const char *directory, vit_error *error);
void vit_checkpoints_close(vit_checkpoints *c); /* a zeroed one may be closed */

/* A checkpoint that is open and has been verified. */
typedef struct vit_checkpoint {
    vit_bytes bytes;
    vit_tensors *file;
    char *path;
    uint64_t step, schedule;
} vit_checkpoint;

/* Called for each file that fails verification, with the reason, which names the file. */
typedef void vit_checkpoint_skipped(const char *why, void *context);

/* Opens the newest checkpoint of step `most` or less that verifies; OK with out->file NULL if the
 * directory holds none. FORMAT if none of those that it holds verifies, IO if one cannot be read.
 */
vit_status vit_checkpoints_newest(vit_checkpoint *out, vit_checkpoints *c, uint64_t most,
                                  vit_checkpoint_skipped *skipped, void *context, vit_error *error);
/* Opens the checkpoint of that step. If it fails, *missing says whether that is because there is no
 * such file or it does not verify; else it could not be read. */
vit_status vit_checkpoints_at(vit_checkpoint *out, const vit_checkpoints *c, uint64_t step,
                              bool *missing, vit_error *error);
void vit_checkpoint_close(vit_checkpoint *checkpoint); /* a zeroed one may be closed */

/* *out = in which order its training rounded sums of bfloat16. */
vit_status vit_checkpoint_bf16(vit_bf16 *out, const vit_checkpoint *checkpoint, vit_error *error);

/* MISMATCH, naming what differs, if it belongs to another training. The order in which sums of
 * bfloat16 are rounded may differ: it depends on the processor. */
vit_status vit_checkpoint_compare(const vit_checkpoint *checkpoint, const vit_identity *identity,
                                  vit_error *error);

/* Loads weights, moments, average, step and history. FORMAT for tensors that are missing, of
 * another shape or not finite, and for negative second moments. */
vit_status vit_checkpoint_load(vit_trainer *trainer, vit_history *history,
                               const vit_checkpoint *checkpoint, vit_error *error);

/* Loads into values [table->size] what the model is made of: the weights, or their average. */
vit_status vit_checkpoint_weights(float *values, const vit_table *table,
                                  const vit_checkpoint *checkpoint, bool average, vit_error *error);

/* Marks all checkpoints as stale: they are removed after the first new one. */
void vit_checkpoints_replace(vit_checkpoints *c);

/* Writes a checkpoint, verifies it and removes older ones; *path (freed by vit_free) is its file.
 * ARGUMENT for weights or moments that are not finite. */
vit_status vit_checkpoints_save(char **path, vit_checkpoints *c, vit_trainer *trainer,
                                const vit_identity *identity, const vit_history *history,
                                vit_error *error);

/* Bytes of a checkpoint file, at most, to check for space on the disk. */
size_t vit_checkpoint_size(vit_trainer *trainer);

#endif
