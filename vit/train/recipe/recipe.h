/* A recipe says how to train a network: the part "train" of a preset. */
#ifndef VIT_TRAIN_RECIPE_RECIPE_H
#define VIT_TRAIN_RECIPE_RECIPE_H

#include "vit/base/error.h"
#include "vit/train/augment/augment.h"
#include "vit/train/augment/operators.h"

/* How the learning rate falls after the warm-up. */
typedef enum vit_schedule {
    VIT_SCHEDULE_COSINE,    /* as a half cosine to 0 (Loshchilov, Hutter: SGDR, eq. 5 without
                               restarts) */
    VIT_SCHEDULE_LINEAR,    /* linearly to 0 */
    VIT_SCHEDULE_WSD,       /* warm-up, stable, decay: constant, then linearly to 0 over the last
                               fifth of the steps */
    VIT_SCHEDULE_ONE_CYCLE, /* PyTorch's OneCycleLR: from lr / 25 to lr at the end of the warm-up,
                               then to lr / 250,000 in the last step, both as half cosines */
    VIT_SCHEDULE_COUNT,
} vit_schedule;

typedef enum vit_optimizer {
    VIT_OPTIMIZER_ADAMW,
    VIT_OPTIMIZER_MUON, /* vit/train/step/muon.h */
    VIT_OPTIMIZER_COUNT,
} vit_optimizer;

#define VIT_RECIPE_LANES 1024 /* at most */

typedef struct vit_recipe {
    size_t batch;
    double epochs;
    double lr;           /* the largest learning rate */
    double warmup;       /* share of the steps in which the learning rate rises, 0..1 */
    double weight_decay; /* of weight matrices only, not of biases, norms and positions */
    double beta1, beta2, eps;
    double clip;                         /* largest norm of the gradient; 0: not clipped */
    double label_smoothing;              /* 0..1 */
    double distill, distill_temperature; /* with a teacher: share of its answers in the loss, and
                                            the temperature of both softmaxes, vit_distillation */
    double
        drop_path; /* rate in the last block, vit_drop_path in vit/train/step/trainer.h; 0: off */
    double ema;    /* decay of the weights' moving average; 0: none is kept */
    vit_augmentation augment;
    vit_policy policy;    /* applied before all other augmentation */
    bool flip_alternates; /* with flip: a picture is mirrored in every second epoch */
    double jitter;        /* amount of vit_jitter_apply, after the policy */
    bool balance;     /* the loss of a picture counts n / (classes n_c) times, n training pictures,
                         n_c of its class, so that all classes weigh the same */
    bool multi_label; /* a picture has any number of classes: sigmoid and binary cross-entropy, not
                         softmax; the data must be read for it (vit_dataset_options) */
    size_t repeats;   /* each picture comes this many times in a row in a batch, augmented anew each
                         time; an epoch then sees fewer pictures, by the same factor */
    double mixup;     /* alpha of MixUp, vit/train/augment/mix.h; 0: off */
    double cutmix;    /* alpha of CutMix */
    double mix_share; /* share of the pictures that are mixed */
    double mix_until; /* share of the steps after which no picture is mixed */
    double outlier_exposure; /* for digits: share of the pictures that are replaced by drawings of
                         no digit, whose target is equal for all classes */
    vit_schedule schedule;
    vit_optimizer optimizer;
    double val;              /* validation pictures: their number, or below 1 their share. Negative:
                                not said, as in older model files: a tenth, at most 5,000 */
    vit_precision precision; /* of the matrix products */
    vit_bf16 bf16;           /* "arithmetic", of those in bfloat16. Only TILES is written: a recipe
                                in bf16 that says nothing is one of PAIRS */
    size_t lanes; /* copies of the gradient that a batch is divided among, a power of two, and
                     so the most ranks that can train together: vit/train/step/lanes.h. 0: by
                     the network's size */
    bool bf16_gradients; /* sums of the lanes' gradients are rounded to bfloat16 after each lane, so
                            that half as many bytes go from rank to rank */
    size_t freeze;       /* number of first blocks that keep their weights, with all before them */
    double layer_decay;  /* X of layer-wise decay (Bao et al.: BEiT, section 3.2): the learning
                            rate is multiplied by X^(depth - i) in block i (from 0), by
                            X^(depth + 1) before the blocks. 1: off */
} vit_recipe;

vit_recipe vit_recipe_default(void);

/* ARGUMENT, naming the value, if one is out of range. */
vit_status vit_recipe_check(const vit_recipe *recipe, vit_error *error);

/* The arithmetic of bfloat16 of a training that was made by the recipe. */
vit_bf16 vit_recipe_bf16(const vit_recipe *recipe);

/* How many of `count` training pictures are held back. */
size_t vit_recipe_val(const vit_recipe *recipe, size_t count);

/* ARGUMENT if it freezes more blocks than a network of that depth has. */
vit_status vit_recipe_fits(const vit_recipe *recipe, size_t depth, vit_error *error);

/* Reads a JSON object whose keys are named as the members: {"batch": 128, "epochs": 10, "lr":
 * 0.002,
 * ...}. What it leaves out keeps its value in *recipe; FORMAT for an unknown key, with the nearest
 * known one. name: where the text comes from, for messages. */
vit_status vit_recipe_read(vit_recipe *recipe, const char *json, const char *name,
                           vit_error *error);

/* The recipe as such an object, freed by vit_free; NULL: no memory. Keys that were added after the
 * first model files are left out if they have their default value. */
char *vit_recipe_write(const vit_recipe *recipe);

/* keys: the names of the keys, at most `most`; returns their number. */
size_t vit_recipe_keys(const char **keys, size_t most);

/* The learning rate of step `step` (from 0) of `steps`, by the cosine schedule: it rises linearly
 * over the first `warmup` steps, lr (step + 1) / warmup, then falls as a half cosine to 0. */
double vit_learning_rate(double lr, uint64_t warmup, uint64_t step, uint64_t steps);

/* The learning rate of that step by the recipe's schedule. */
double vit_recipe_learning_rate(const vit_recipe *recipe, uint64_t step, uint64_t steps);

/* The number of warm-up steps of a schedule: at least 1 unless the share is 0. */
uint64_t vit_warmup_steps(const vit_recipe *recipe, uint64_t steps);

#endif
