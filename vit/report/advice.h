/* What the figures of a training mean, and what to try next. */
#ifndef VIT_REPORT_ADVICE_H
#define VIT_REPORT_ADVICE_H

#include "vit/report/curves.h"

typedef enum vit_finding {
    VIT_FINDING_STUCK,        /* hardly better than guessing */
    VIT_FINDING_OVERFITTING,  /* much better on the pictures it trains on than on others */
    VIT_FINDING_UNDERFITTING, /* not good even on the pictures it trains on */
    VIT_FINDING_SHORT,        /* accuracy was still rising when it ended */
    VIT_FINDING_FEW,          /* too few validation pictures to be sure */
    VIT_FINDING_FINE,         /* none of these */
    VIT_FINDING_COUNT,
} vit_finding;

#define VIT_MOST_TRIES 6

typedef struct vit_advice {
    vit_finding finding;
    char why[400];                   /* the figures behind it, a sentence or two */
    char tries[VIT_MOST_TRIES][280]; /* what to do */
    size_t try_count;
} vit_advice;

/* How the training was done: what it did already is not advised. */
typedef struct vit_choices {
    bool known;                 /* false: nothing of what follows is, as in a log */
    bool from_model;            /* --init: its network is fixed, its weights are not random */
    bool freezes;               /* some blocks keep their weights */
    bool preset;                /* --preset was given */
    bool keeps_best;            /* --keep best */
    bool balances;              /* --balance */
    bool own_val;               /* the validation pictures are a part of the data */
    bool flip_suits;            /* mirrored pictures are of the same class: no letters, no digits */
    bool flips, rotates, crops; /* augmentation; crops: torchvision's RandomResizedCrop */
    double mixup, cutmix, drop_path, weight_decay; /* as in the recipe */
} vit_choices;

typedef struct vit_facts {
    vit_choices choices;
    size_t classes, train_images, val_images;
    double majority; /* share of the largest class among those held back; 0: not known */
    size_t sample;   /* training pictures that were answered without augmentation */
    uint64_t steps;  /* of the schedule */
    double epochs;   /* the same in epochs */
    double lr;       /* the highest learning rate */
    bool is_over;    /* the training has ended; before, findings that may change are left out */
} vit_facts;

/* The finding as a heading: "Overfitting: it learns its pictures by heart". */
const char *vit_finding_name(vit_finding finding);

/* Fills advice: [VIT_FINDING_COUNT] and returns how many there are: 0 where nothing was measured
 * yet. */
size_t vit_advise(vit_advice *advice, const vit_facts *facts, const vit_training_curves *curves);

#endif
