#include "vit/report/advice.h"
#include "vit/base/size.h"
#include "vit/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [VIT_FINDING_STUCK] = "Hardly better than guessing",
    [VIT_FINDING_OVERFITTING] = "Overfitting: it learns its pictures by heart",
    [VIT_FINDING_UNDERFITTING] = "Underfitting: it has not learnt its own pictures",
    [VIT_FINDING_SHORT] = "Still becoming better",
    [VIT_FINDING_FEW] = "Too small a validation set to be sure",
    [VIT_FINDING_FINE] = "Nothing is wrong with it",
};
VIT_CHECK_ROWS(names, VIT_FINDING_COUNT);

const char *vit_finding_name(vit_finding finding) {
    return names[finding];
}

/* The limits of the findings. Shares are of pictures that are answered right. */
#define GUESSING 1.5 /* STUCK: below this many times the share that guessing gets right */
#define AHEAD .25    /* STUCK: less of the way from the largest class's share to all of them */
#define GAP .03      /* OVERFITTING: share of training pictures - share of validation ones */
#define RISE 1.05    /* OVERFITTING: the validation loss over its lowest value */
#define LASTS 3      /* OVERFITTING: epochs in a row that must show it */
#define CALM .5      /* OVERFITTING, during a training: share of the highest learning rate */
#define GOOD .97     /* UNDERFITTING: a lower share of the training pictures */
#define SIGMAS 2     /* a gap of more standard errors than this is one */
#define GAIN .005    /* SHORT: how much the validation share rose in the last quarter */
#define ROUGH .02    /* FEW: standard error of the validation share */

/* What the findings follow from. */
typedef struct figures {
    double val, train; /* shares of held-back and of training pictures; NaN: not measured */
    double error;      /* standard error of val */
    double rise;       /* the validation loss over its lowest value so far */
    uint64_t least;    /* the step of that value */
    double gain;       /* of val over the last quarter of the epochs; NaN: too few epochs */
    bool rises;        /* the last LASTS epochs: the loss has risen, and there is a gap */
    bool gapes;        /* the last LASTS epochs: a wide gap, most of the validation errors */
    bool stalls;       /* val has been no better for two epochs */
    bool is_calm;      /* the learning rate has fallen */
} figures;

static double squared_error(double share, size_t pictures) {
    return share * (1 - share) / (double)pictures;
}

/* Whether train - val is larger than chance makes it, and than `least`. */
static bool has_gap(const vit_facts *facts, const vit_epoch_point *e, double least) {
    const double error = sqrt(squared_error(e->val_top1, facts->val_images) +
                              squared_error(e->train_top1, facts->sample));
    return e->train_top1 - e->val_top1 > fmax(least, SIGMAS * error);
}

/* The lowest loss of the validation pictures; *step: when. */
static double lowest_loss(uint64_t *step, const vit_training_curves *c) {
    double least = INFINITY;
    for (size_t i = 0; i < c->epoch_count; i++)
        if (c->epochs[i].val_loss < least) {
            least = c->epochs[i].val_loss;
            *step = c->epochs[i].step;
        }
    return least;
}

/* One epoch alone shows nothing: a high learning rate throws losses and shares up and down. */
static void note_what_lasts(figures *f, const vit_facts *facts, const vit_training_curves *c,
                            double least) {
    f->rises = f->gapes = c->epoch_count >= LASTS;
    for (size_t i = 0; i < LASTS && i < c->epoch_count; i++) {
        const vit_epoch_point *e = &c->epochs[c->epoch_count - 1 - i];
        const bool is_above = e->val_loss > RISE * least;
        f->rises &= is_above && (isnan(e->train_top1) || has_gap(facts, e, 0));
        f->gapes &= has_gap(facts, e, fmax(GAP, (1 - e->val_top1) / 2));
    }
}

static figures figures_of(const vit_facts *facts, const vit_training_curves *c) {
    const vit_epoch_point *e = c->epochs, *last = &e[c->epoch_count - 1];
    figures f = {.val = last->val_top1, .train = last->train_top1, .gain = NAN, .rise = 1};
    f.error = sqrt(squared_error(f.val, facts->val_images));
    const double least = lowest_loss(&f.least, c);
    double best = -1;
    size_t best_at = 0;
    for (size_t i = 0; i < c->epoch_count; i++)
        if (e[i].val_top1 > best) best = e[best_at = i].val_top1;
    f.stalls = best_at + 2 < c->epoch_count;
    if (least > 0 && isfinite(least)) f.rise = last->val_loss / least;
    if (c->epoch_count >= 4) f.gain = f.val - e[c->epoch_count - 1 - c->epoch_count / 4].val_top1;
    f.is_calm = c->point_count > 0 && c->points[c->point_count - 1].lr <= CALM * facts->lr;
    note_what_lasts(&f, facts, c, least);
    return f;
}

static char *percent(char text[32], double share) {
    char number[32];
    snprintf(text, 32, "%.20s %%", vit_format_fixed(number, 100 * share, 1));
    return text;
}

/* ---- what to try ---- */

static void try(vit_advice *a, bool suits, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a thing to try if it suits. */
static void try(vit_advice *a, bool suits, const char *format, ...) {
    va_list arguments;
    if (!suits || a->try_count == VIT_MOST_TRIES) return;
    va_start(arguments, format);
    vsnprintf(a->tries[a->try_count++], sizeof *a->tries, format, arguments);
    va_end(arguments);
}

typedef struct option {
    bool suits;
    const char *text; /* NULL: the end of a list */
} option;

/* The options that suit, separated by commas. */
static void join(char text[200], const option *o) {
    size_t used = 0;
    for (*text = '\0'; o->text && used < 200; o++)
        if (o->suits)
            used +=
                (size_t)snprintf(text + used, 200 - used, "%s%s", used > 0 ? ", " : "", o->text);
}

static void try_if_stuck(vit_advice *a, const vit_facts *f) {
    const vit_choices *c = &f->choices;
    const bool is_uneven = f->majority * (double)f->classes > GUESSING;
    try(a, is_uneven && c->known && !c->balances, "equal weight for each class: `--balance`");
    try(a, true, "another learning rate, `--lr`: `--find-lr` suggests one");
    try(a, true, "more passes: small networks need some before anything shows: `--epochs`");
    try(a, true, "a look at the labels: are they those of the pictures?");
    try(a, c->preset, "the preset of the data: leave out `--preset`");
}

#define FEW_HUNDRED 1000 /* training pictures for which some weights are better kept */
#define HEAVY .1         /* weight decay above which more is not advised */

static void try_if_overfitting(vit_advice *a, const vit_facts *f) {
    const vit_choices *c = &f->choices;
    char more[200], part[200];
    join(more, (const option[]){{!(c->cutmix > 0), "`--set cutmix=1`"},
                                {!c->rotates && !c->crops, "`--set rotate=10`"},
                                {c->flip_suits && !c->flips, "`--set flip=true`"},
                                {0}});
    join(part, (const option[]){{!(c->drop_path > 0), "`--set drop_path=0.1`"},
                                {c->weight_decay < HEAVY, "`--set weight_decay=0.1`"},
                                {0}});
    try(a, true, "more pictures, if you can get any: nothing helps as much");
    try(a, !c->known,
        "what this training did not have: more augmentation (`--set cutmix=1`, `--set rotate=10`), "
        "weights of a network that has seen many pictures (`--init`), `--set drop_path=0.1`, "
        "`--keep best`");
    try(a, c->known && *more, "more augmentation, which makes new pictures of old ones: %s", more);
    try(a, c->known && !c->from_model,
        "weights of a network that has seen many pictures: `--init`%s",
        f->train_images < FEW_HUNDRED ? ", with `--freeze`" : "");
    try(a, c->from_model && !c->freezes && f->train_images < FEW_HUNDRED,
        "fewer weights to train: `--freeze` keeps those of the first blocks");
    try(a, c->known && !c->from_model, "a smaller network: `--set dim=...`, `--set depth=...`");
    try(a, c->known && *part, "stronger regularisation: %s", part);
    try(a, c->known && !c->keeps_best,
        "the model of the epoch that was best on the validation set: `--keep best`");
}

static void try_if_underfitting(vit_advice *a, const vit_choices *c) {
    char less[200];
    join(less, (const option[]){{c->mixup > 0, "`--set mixup=0`"},
                                {c->cutmix > 0, "`--set cutmix=0`"},
                                {c->drop_path > 0, "`--set drop_path=0`"},
                                {0}});
    try(a, true, "twice the passes: `--epochs`");
    try(a, !c->from_model,
        "a larger network, `--set dim=...` and `--set depth=...`, or a smaller `--set patch=...`, "
        "so that it sees finer");
    try(a, c->freezes, "more weights to train: a smaller `--freeze`, or none");
    try(a, true, "another learning rate, twice and half: `--lr`");
    try(a, *less, "less augmentation: %s", less);
}

static void add(vit_advice *advice, size_t *count, vit_finding finding, const vit_facts *facts,
                const char *why) {
    vit_advice *a = &advice[(*count)++];
    *a = (vit_advice){.finding = finding};
    snprintf(a->why, sizeof a->why, "%s", why);
    switch (finding) {
    case VIT_FINDING_STUCK:
        try_if_stuck(a, facts);
        break;
    case VIT_FINDING_OVERFITTING:
        try_if_overfitting(a, facts);
        break;
    case VIT_FINDING_UNDERFITTING:
        try_if_underfitting(a, &facts->choices);
        break;
    case VIT_FINDING_SHORT:
        try(a, true,
            "twice the passes, from the start, so that the learning rate falls later: `--epochs`, "
            "or `--minutes`");
        break;
    case VIT_FINDING_FEW:
        try(a, !facts->choices.own_val && facts->val_images < facts->train_images / 4,
            "more of them: `--val 0.2` holds back a fifth");
        try(a, true,
            "several seeds: `--seed 1`, `--seed 2`; differences smaller than theirs mean nothing");
        break;
    case VIT_FINDING_FINE:
        try(a, true, "a look at the pictures it gets most wrong: often their labels are");
        try(a, !facts->choices.from_model,
            "a longer training or a larger network for the last tenths of a per cent");
        break;
    case VIT_FINDING_COUNT:
        break;
    }
}

/* ---- the findings ---- */

/* It still becomes better, by more than chance. */
static bool improves(const figures *f) {
    return f->gain > fmax(GAIN, f->error);
}

/* While the learning rate is high, the loss is high for that alone, and falls with it: then nothing
 * is said. Nor is it of a network that is better on pictures it knows but still becomes better on
 * others. */
static bool overfits(const figures *f, bool is_over) {
    if (!is_over && (!f->is_calm || !f->stalls || isnan(f->train))) return false;
    return f->rises || (f->gapes && !improves(f));
}

/* It is not good even on its own pictures, and hardly better on them than on others. */
static bool underfits(const figures *f) {
    return f->train < GOOD && f->train - f->val <= GAP;
}

size_t vit_advise(vit_advice *advice, const vit_facts *facts, const vit_training_curves *c) {
    size_t count = 0;
    char why[400], a[32], b[32], d[32];
    if (c->epoch_count == 0 || isnan(c->epochs[c->epoch_count - 1].val_top1)) return 0;
    const figures f = figures_of(facts, c);
    const double guessing = facts->classes > 1 ? 1 / (double)facts->classes : 0;
    const double most = facts->classes > 1 ? facts->majority : 0;
    const bool is_even = most <= guessing * GUESSING;
    if (f.val < fmin(guessing * GUESSING, (1 + guessing) / 2) ||
        (!is_even && f.val < most + AHEAD * (1 - most))) {
        snprintf(why, sizeof why, "%s of the validation set is answered right; %s gets %s.",
                 percent(a, f.val),
                 is_even ? "guessing" : "answering the most frequent class every time",
                 percent(b, is_even ? guessing : most));
        add(advice, &count, VIT_FINDING_STUCK, facts, why);
    } else if (overfits(&f, facts->is_over)) {
        if (isnan(f.train))
            snprintf(why, sizeof why, "%s of the validation set is answered right.",
                     percent(b, f.val));
        else
            snprintf(why, sizeof why,
                     "%s of the training pictures are answered right, but only %s of the "
                     "validation set.",
                     percent(a, f.train), percent(b, f.val));
        if (f.rises)
            snprintf(why + strlen(why), sizeof why - strlen(why),
                     " The validation loss was lowest after step %llu; now it is %s "
                     "times "
                     "as large.",
                     (unsigned long long)f.least, vit_format_fixed(d, f.rise, 2));
        add(advice, &count, VIT_FINDING_OVERFITTING, facts, why);
    } else if (facts->is_over && underfits(&f)) {
        snprintf(
            why, sizeof why,
            "It is right on only %s of its own training pictures, and on %s of the validation set: "
            "more pictures would not help.",
            percent(a, f.train), percent(b, f.val));
        add(advice, &count, VIT_FINDING_UNDERFITTING, facts, why);
    }
    if (improves(&f) && facts->is_over && !overfits(&f, true)) {
        snprintf(why, sizeof why,
                 "The last quarter of the training made %s more of the validation set right.",
                 percent(a, f.gain));
        add(advice, &count, VIT_FINDING_SHORT, facts, why);
    }
    if (count == 0 && facts->is_over && !(f.error > ROUGH)) {
        snprintf(why, sizeof why, "%s of the validation set is answered right%s%s%s.",
                 percent(a, f.val), isnan(f.train) ? "" : ", and ",
                 isnan(f.train) ? "" : percent(b, f.train),
                 isnan(f.train) ? "" : " of the training pictures");
        add(advice, &count, VIT_FINDING_FINE, facts, why);
    }
    if (f.error > ROUGH) {
        snprintf(why, sizeof why,
                 "The validation set has %zu pictures: its %s is exact to plus or minus %s only.",
                 facts->val_images, percent(a, f.val), percent(b, 2 * f.error));
        add(advice, &count, VIT_FINDING_FEW, facts, why);
    }
    return count;
}
