/* How to train: the part "train" of a preset. */
#ifndef VIT_TRAIN_RECIPE_RECIPE_H
#define VIT_TRAIN_RECIPE_RECIPE_H

#include "vit/base/error.h"
#include "vit/train/augment/augment.h"
#include "vit/train/augment/operators.h"

/* How the learning rate falls after the warm-up. */
typedef enum vit_schedule {
    VIT_SCHEDULE_COSINE,    /* as a half cosine to 0 (Loshchilov, Hutter: SGDR, eq. 5 without
                               restarts) */
    VIT_SCHEDULE_LINEAR,    /* straight to 0 */
    VIT_SCHEDULE_WSD,       /* it stays, and falls straight to 0 over the last fifth of the steps */
    VIT_SCHEDULE_ONE_CYCLE, /* PyTorch's OneCycleLR: from lr / 25 to lr, where the warm-up ends,
                               then to lr / 250,000 in the last step, both as half cosines */
    VIT_SCHEDULE_COUNT,
} vit_schedule;

typedef enum vit_optimizer {
    VIT_OPTIMIZER_ADAMW,
    VIT_OPTIMIZER_MUON, /* vit/train/step/muon.h */
    VIT_OPTIMIZER_COUNT,
} vit_optimizer;

typedef struct vit_recipe {
    size_t batch;
    double epochs;
    double lr;           /* the largest learning rate */
    double warmup;       /* share of the steps in which it rises, 0..1 */
    double weight_decay; /* of weights of linear layers alone */
    double beta1, beta2, eps;
    double clip;                         /* largest norm of the gradient; 0: not clipped */
    double label_smoothing;              /* 0..1 */
    double distill, distill_temperature; /* with a teacher: share of its answers in the loss, and
                                            the temperature of both sides, vit_distillation */
    double drop_path; /* rate of the last block's branches, vit/train/step/drop_path.h; 0: none */
    double ema;       /* decay of the weights' moving average; 0: none is kept */
    size_t shift;     /* the augmentation, vit/train/augment/augment.h */
    bool flip;
    double rotate, scale, shear;
    vit_edges edges;
    vit_policy policy; /* before all other augmentation */
    bool flip_alternates;
    double jitter; /* vit_jitter_apply, after the policy */
    double elastic, crop, erase;
    bool balance;   /* a picture's loss counts n / (classes n_c) times, of n training pictures n_c
                       of its class: each class then weighs the same */
    size_t repeats; /* of every picture, side by side in a batch, each augmented in its own way;
                       a pass then takes so many times fewer pictures */
    double mixup,
        cutmix;       /* the picture is mixed with another, vit/train/augment/mix.h; 0: it is not */
    double mix_share; /* of the pictures are */
    double mix_until; /* share of the steps after which none is */
    double strangers; /* of digits: this share of the pictures are drawings that are none, each
                         in place of one, whose target is the same for all classes */
    vit_schedule schedule;
    vit_optimizer optimizer;
    double val; /* training pictures that are held back: their number, or below 1 their share.
                   Negative: not said, as in older model files, which held back a tenth, at most
                   5,000 */
    vit_precision precision; /* of the matrix products */
    size_t freeze;           /* so many of the first blocks, and what comes before them, keep their
                                weights: no gradient, no decay; 0: all are trained */
    double layer_decay;      /* X of layer-wise decay (Bao et al.: BEiT, section 3.2): the learning
                                rate times X^(depth - i) in block i (from 0), X^(depth + 1) before
                                the blocks, 1 after them. 1: the same for all */
} vit_recipe;

vit_recipe vit_recipe_default(void);

/* ARGUMENT, naming the value, unless all are in range. */
vit_status vit_recipe_check(const vit_recipe *recipe, vit_error *error);

/* How many of `count` training pictures it holds back. */
size_t vit_recipe_val(const vit_recipe *recipe, size_t count);

/* ARGUMENT where it freezes more blocks than a network of that depth has. */
vit_status vit_recipe_fits(const vit_recipe *recipe, size_t depth, vit_error *error);

/* JSON object <-> recipe, keys as the members: {"batch": 128, "epochs": 10, "lr": 0.002, ...}. What
 * is left out keeps the value in *recipe; unknown keys are refused with the nearest known one;
 * `name` stands for where the text came from. Written are the keys of the first recipes, all others
 * only where their value is not the default; vit_recipe_write returns a string freed
 * by vit_free, NULL when there is no memory. */
vit_status vit_recipe_read(vit_recipe *recipe, const char *json, const char *name,
                           vit_error *error);
char *vit_recipe_write(const vit_recipe *recipe);

/* The keys that vit_recipe_read knows, at most `most` of them; returns how many. */
size_t vit_recipe_keys(const char **keys, size_t most);

/* The learning rate of step `step` (from 0) of `steps`: rises linearly over the first `warmup`
 * steps, lr (step + 1) / warmup, then falls as a half cosine to 0. */
double vit_learning_rate(double lr, uint64_t warmup, uint64_t step, uint64_t steps);

/* The same by the recipe's schedule. */
double vit_recipe_learning_rate(const vit_recipe *recipe, uint64_t step, uint64_t steps);

/* Whole warm-up steps of a schedule: at least 1 unless the share is 0. */
uint64_t vit_warmup_steps(const vit_recipe *recipe, uint64_t steps);

#endif
