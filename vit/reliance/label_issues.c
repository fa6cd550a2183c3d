/* Pictures whose label is likely wrong, by confident learning (Northcutt, Jiang, Chuang: Confident
 * Learning). Sums are taken in the order of NumPy and ties as a stable sort leaves them, so that
 * the result is that of cleanlab.filter.find_label_issues. */
#include "vit/base/error.h"
#include "vit/base/fpmode.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/reliance.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* cleanlab's constants: what counts as equal, and the lowest threshold of a class. */
#define NEARLY 1e-6
#define LOWEST_THRESHOLD 2e-6
#define NO_PICTURE 2 /* the threshold of a class without a picture: no probability reaches it */

/* A value to sort, and what it is of. */
typedef struct ranked {
    double value;
    size_t index;
} ranked;

typedef struct finder {
    const float *p;       /* [n][K] */
    const size_t *labels; /* [n] */
    size_t n, K;
    size_t *first,
        *members;       /* [K + 1], [n]: pictures by class; class k has first[k]..first[k + 1] */
    double *thresholds; /* [K] */
    double *joint;      /* [K likely][K given] how many pictures */
    double *values;     /* [max(n, K)] scratch memory, like: */
    ranked *order;      /* [max(n, K)] */
    bool *issue;        /* [n] */
} finder;

static double probability(const finder *f, size_t picture, size_t class) {
    return (double)f->p[picture * f->K + class];
}

/* The likeliest class; `more` is added to the probability of the given one. */
static size_t likeliest(const finder *f, size_t picture, double more) {
    size_t best = 0;
    double most = -1;
    for (size_t k = 0; k < f->K; k++) {
        const double p = probability(f, picture, k) + (k == f->labels[picture] ? more : 0);
        if (p > most) best = k;
        if (p > most) most = p;
    }
    return best;
}

/* The smallest first; of equal ones the smaller index. */
static int by_value(const void *left, const void *right) {
    const ranked *a = left, *b = right;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* NumPy's sum: blocks of up to 128 in eight lanes, added pairwise. */
static double sum_of(const double *x, size_t n) {
    double lane[8], sum = 0;
    size_t i = 0;
    if (n > 128) {
        const size_t half = n / 2 - n / 2 % 8;
        return sum_of(x, half) + sum_of(x + half, n - half);
    }
    if (n >= 8) {
        memcpy(lane, x, sizeof lane);
        for (i = 8; i < n - n % 8; i++) lane[i % 8] += x[i];
        sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
              ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    }
    for (; i < n; i++) sum += x[i];
    return sum;
}

/* ---- the confident joint ---- */

static void group_by_label(finder *f) {
    for (size_t i = 0; i < f->n; i++) f->first[f->labels[i] + 1]++;
    for (size_t k = 0; k < f->K; k++) f->first[k + 1] += f->first[k];
    for (size_t i = f->n; i-- > 0;) f->members[--f->first[f->labels[i] + 1]] = i;
    /* each beginning now stands one place too far */
    memmove(f->first, f->first + 1, f->K * sizeof *f->first);
    f->first[f->K] = f->n;
}

static size_t count_of(const finder *f, size_t class) {
    return f->first[class + 1] - f->first[class];
}

/* Of each class the mean probability that its own pictures give it. */
static void find_thresholds(finder *f) {
    for (size_t k = 0; k < f->K; k++) {
        const size_t count = count_of(f, k);
        for (size_t i = 0; i < count; i++)
            f->values[i] = probability(f, f->members[f->first[k] + i], k);
        const double mean = count > 0 ? sum_of(f->values, count) / (double)count : NO_PICTURE;
        f->thresholds[k] = fmax(mean, LOWEST_THRESHOLD);
    }
}

/* Pictures by the class that the model is confident of and by their label. One that is confident of
 * none is not counted, one of several counts for the likeliest class. */
static void count_confident(finder *f) {
    for (size_t i = 0; i < f->n; i++) {
        size_t confident = 0, class = 0;
        for (size_t k = f->K; k-- > 0;) {
            if (probability(f, i, k) < f->thresholds[k] - NEARLY) continue;
            confident++;
            class = k;
        }
        if (confident > 1) class = likeliest(f, i, 0);
        if (confident > 0) f->joint[class * f->K + f->labels[i]]++;
    }
    for (size_t k = 0; k < f->K; k++) f->joint[k * f->K + k] = fmax(f->joint[k * f->K + k], 1);
}

/* Scales the joint so that each label has as many pictures as were given. */
static void scale_joint(finder *f) {
    const size_t K = f->K;
    for (size_t k = 0; k < K; k++) {
        double sum = 0;
        for (size_t j = 0; j < K; j++) sum += f->joint[j * K + k];
        for (size_t j = 0; j < K; j++)
            f->joint[j * K + k] = f->joint[j * K + k] / sum * (double)count_of(f, k);
    }
    const double sum = sum_of(f->joint, K * K);
    for (size_t i = 0; i < K * K; i++) f->joint[i] = f->joint[i] / sum * (double)f->n;
}

/* Rounds the counts of a label to whole ones and keeps their sum: what was rounded furthest is
 * rounded the other way. */
static void round_label(finder *f, size_t label) {
    const size_t K = f->K;
    double rounded = 0;
    for (size_t j = 0; j < K; j++) {
        const double count = f->joint[j * K + label], whole = rint(count);
        f->values[j] = count;
        f->order[j] = (ranked){count - whole, j};
        f->joint[j * K + label] = whole;
        rounded += whole;
    }
    const double missing = rint(sum_of(f->values, K)) - rounded;
    const size_t changes = vit_min((size_t)fabs(missing), K);
    qsort(f->order, K, sizeof *f->order, by_value);
    for (size_t i = 0; i < changes; i++) {
        const size_t j = f->order[missing > 0 ? K - 1 - i : i].index;
        f->joint[j * K + label] += missing > 0 ? 1 : -1;
    }
}

/* Keeps a picture for the label itself, and takes it evenly from the other counts. */
static void keep_one(finder *f, size_t label) {
    const size_t K = f->K;
    const double own = f->joint[label * K + label], missing = fmax(1 - own, 0);
    double others = 0;
    for (size_t j = 0; j < K; j++) others += f->joint[j * K + label] != 0;
    const double each = missing / fmax(others - 1, 1);
    for (size_t j = 0; j < K; j++)
        f->joint[j * K + label] = floor(fmax(f->joint[j * K + label] - each, 0));
    f->joint[label * K + label] = fmax(own, 1);
}

/* ---- the pictures ---- */

/* Of the pictures of a label the `count` that are most of another class than of their own. */
static void mark_most(finder *f, size_t label, size_t class, size_t count) {
    const size_t *members = f->members + f->first[label], size = count_of(f, label);
    for (size_t i = 0; i < size; i++)
        f->order[i] = (ranked){
            probability(f, members[i], label) - probability(f, members[i], class), members[i]};
    qsort(f->order, size, sizeof *f->order, by_value);
    for (size_t i = 0; i < vit_min(count, size); i++) f->issue[f->order[i].index] = true;
}

static void mark_issues(finder *f) {
    group_by_label(f);
    find_thresholds(f);
    count_confident(f);
    scale_joint(f);
    for (size_t k = 0; k < f->K; k++) round_label(f, k);
    for (size_t k = 0; k < f->K; k++) keep_one(f, k);
    for (size_t k = 0; k < f->K; k++)
        for (size_t j = 0; j < f->K && count_of(f, k) > 1; j++)
            if (j != k && f->joint[j * f->K + k] > 0)
                mark_most(f, k, j, (size_t)f->joint[j * f->K + k]);
    for (size_t i = 0; i < f->n; i++)
        f->issue[i] = f->issue[i] && likeliest(f, i, NEARLY) != f->labels[i];
}

static vit_label_issue describe(const finder *f, size_t picture) {
    const size_t label = f->labels[picture];
    double other = 0;
    for (size_t k = 0; k < f->K; k++)
        if (k != label) other = fmax(other, probability(f, picture, k));
    return (vit_label_issue){.picture = picture,
                             .label = label,
                             .likely = likeliest(f, picture, 0),
                             .self_confidence = probability(f, picture, label),
                             .normalized_margin = (probability(f, picture, label) - other + 1) / 2};
}

/* The lowest self-confidence first. */
static vit_status list_issues(vit_label_issue **issues, size_t *count, finder *f,
                              vit_error *error) {
    size_t found = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->issue[i]) f->order[found++] = (ranked){probability(f, i, f->labels[i]), i};
    qsort(f->order, found, sizeof *f->order, by_value);
    *issues = vit_alloc(vit_max(found, 1), sizeof **issues);
    if (!*issues) return vit_fail_memory(error, "label issues", found * sizeof **issues);
    for (size_t i = 0; i < found; i++) (*issues)[i] = describe(f, f->order[i].index);
    *count = found;
    return VIT_OK;
}

static vit_status check_labels(const size_t *labels, size_t images, size_t classes,
                               vit_error *error) {
    if (classes < 2 || images == 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "label issues of %zu pictures and %zu classes, expected a picture or more "
                        "and two classes or more",
                        images, classes);
    for (size_t i = 0; i < images; i++)
        if (labels[i] >= classes)
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "picture %zu has label %zu, expected one below %zu", i, labels[i],
                            classes);
    return VIT_OK;
}

vit_status vit_label_issues_find(vit_label_issue **issues, size_t *count,
                                 const float *probabilities, const size_t *labels, size_t images,
                                 size_t classes, vit_error *error) {
    VIT_ENTRY;
    *issues = NULL;
    *count = 0;
    vit_status status = check_labels(labels, images, classes, error);
    if (status != VIT_OK) return status;
    const size_t most = vit_max(images, classes);
    finder f = {.p = probabilities,
                .labels = labels,
                .n = images,
                .K = classes,
                .first = vit_alloc(classes + 1, sizeof *f.first),
                .members = vit_alloc(images, sizeof *f.members),
                .thresholds = vit_alloc(classes, sizeof *f.thresholds),
                .joint = vit_alloc(classes, classes * sizeof *f.joint),
                .values = vit_alloc(most, sizeof *f.values),
                .order = vit_alloc(most, sizeof *f.order),
                .issue = vit_alloc(images, sizeof *f.issue)};
    if (f.first && f.members && f.thresholds && f.joint && f.values && f.order && f.issue) {
        mark_issues(&f);
        status = list_issues(issues, count, &f, error);
    } else {
        status = vit_fail_memory(error, "label issues", classes * classes * sizeof *f.joint);
    }
    vit_free(f.first);
    vit_free(f.members);
    vit_free(f.thresholds);
    vit_free(f.joint);
    vit_free(f.values);
    vit_free(f.order);
    vit_free(f.issue);
    return status;
}

void vit_label_issues_free(vit_label_issue *issues) {
    vit_free(issues);
}
