/* What a training's figures say, and what to try next: over- and underfitting by their names. */
#ifndef VIT_REPORT_ADVICE_H
#define VIT_REPORT_ADVICE_H

#include "vit/report/curves.h"

typedef enum vit_finding {
    VIT_FINDING_STUCK,       /* hardly better than guessing */
    VIT_FINDING_OVERFITTING, /* much better on the pictures it trains on than on others */
    VIT_FINDING_UNDERFITTING,
    VIT_FINDING_SHORT, /* it was still becoming better when it ended */
    VIT_FINDING_FEW,   /* too few held-back pictures to tell */
    VIT_FINDING_FINE,
    VIT_FINDING_COUNT,
} vit_finding;

#define VIT_MOST_TRIES 5

typedef struct vit_advice {
    vit_finding finding;
    char why[400];                     /* the figures, a sentence or two */
    const char *tries[VIT_MOST_TRIES]; /* what to do, concrete; constants; NULL at the end */
} vit_advice;

typedef struct vit_facts {
    size_t classes, train_images, val_images;
    size_t sample;  /* training pictures that were answered as they are */
    uint64_t steps; /* of the schedule */
    double epochs;  /* the same in passes */
    double lr;      /* the highest */
    bool is_over;   /* the training is; else what would be wrong to say before is not said */
} vit_facts;

/* "Overfitting", ... */
const char *vit_finding_name(vit_finding finding);

/* Fills advice[0..VIT_FINDING_COUNT) and returns how many there are: none where nothing was
 * measured yet. */
size_t vit_advise(vit_advice *advice, const vit_facts *facts, const vit_curves *curves);

#endif
