/* Prediction sets and the reject option in programs: where a model's calibration is, sets in
 * answers, when the model abstains, and how often sets hold the truth and answers are right. */
#ifndef VIT_CLI_PARTS_COVERAGE_H
#define VIT_CLI_PARTS_COVERAGE_H

#include "vit/cli/parts/program.h"
#include "vit/reliance.h"

/* What the options below say; part of a program's settings. */
typedef struct vit_coverage_choice {
    double coverage; /* 0: no sets */
    const char *calibration;
    int score; /* vit_conformal_score */
    bool by_class;
    vit_optional abstain_below;
    double answered_right; /* 0: not asked for */
    double unknown;        /* rate of false alarms; 0: not asked for */
} vit_coverage_choice;

extern const char *const vit_set_scores[]; /* "lac", "aps", "raps", NULL */

/* sets, calibrations, unknown: vit_option.also of --coverage and its like, --calibration and
 * --unknown. */
#define VIT_COVERAGE_OPTIONS(settings, member, sets, calibrations, unknowns)             \
    {VIT_OPTION(NUMBER, "coverage", member.coverage, "P"),                               \
     .help = "the set of classes that holds the truth with this\n"                       \
             "probability, such as 0.95 (docs/reliance.md); needs\n"                     \
             "a calibration, which vit-evaluate --calibrate makes",                      \
     .max = 1, .also = (sets)},                                                          \
        {VIT_OPTION(TEXT, "calibration", member.calibration, "FILE"),                    \
         .help = "the model's calibration (default:\nMODEL.calibration, beside it)",     \
         .also = (calibrations)},                                                        \
        {VIT_OPTION(CHOICE, "set-score", member.score, "S"),                             \
         .help = "lac: the smallest sets; aps or raps: sizes that\n"                     \
                 "follow how difficult a picture is\n"                                   \
                 "(default: lac)",                                                       \
         .choices = vit_set_scores, .also = (sets)},                                     \
        {VIT_OPTION(NUMBER, "abstain-below", member.abstain_below, "X"),                 \
         .optional = true,                                                               \
         .help = "the model abstains where the probability of its\nanswer is below X",   \
         .from_min = true,                                                               \
         .max = 1,                                                                       \
         .also = (sets)},                                                                \
        {VIT_OPTION(NUMBER, "answered-right", member.answered_right, "P"),               \
         .help = "it abstains as little as is needed for the share\n"                    \
                 "P of its answers to be right; needs a calibration",                    \
         .max = 1, .also = (sets)},                                                      \
        {VIT_FLAG("by-class", member.by_class),                                          \
         .help = "--coverage and --answered-right for each class,\nnot only on average", \
         .also = (sets)},                                                                \
    {                                                                                    \
        VIT_OPTION(NUMBER, "unknown", member.unknown, "ALPHA"),                          \
            .help = "out-of-distribution pictures count as unknown, with\n"              \
                    "this rate of false alarms, such as 0.01; needs a\n"                 \
                    "calibration",                                                       \
            .max = 1, .also = (unknowns)                                                 \
    }

/* Whether one of them asks for something; sets and abstaining, of --coverage and its like, alone.
 */
bool vit_coverage_asked(const vit_coverage_choice *choice);
bool vit_sets_asked(const vit_coverage_choice *choice);

/* Where the calibration of the model with this path is, unless it is named; freed by vit_free.
 * NULL: MEMORY. */
char *vit_calibration_beside(const char *model);

/* A sentence if the options contradict each other, or NULL. */
const char *vit_coverage_contradiction(const vit_coverage_choice *choice);

/* Whether the model abstains from this answer. thresholds: [classes], or NULL: it never does;
 * probabilities: [classes]. */
static inline bool vit_abstains(const double *thresholds, size_t answer,
                                const float *probabilities) {
    return thresholds && (double)probabilities[answer] < thresholds[answer];
}

/* What the options mean for a model. */
typedef struct vit_coverage {
    vit_set_rule *rule;           /* for --coverage; or NULL */
    double asked;                 /* that coverage */
    vit_calibration *calibration; /* for --unknown; or NULL */
    vit_unknown_rule *unknown;
    double *thresholds;      /* [classes] of --abstain-below or --answered-right; or NULL */
    char calibrated_on[256]; /* the name of the calibration's data; "": none was needed */
} vit_coverage;

/* The sets of labelled pictures, counted, and the answers. */
typedef struct vit_set_counts {
    const vit_coverage *coverage;
    size_t classes;
    size_t *set;                /* [classes] scratch memory; the three arrays are owned */
    size_t *images, *covered;   /* [classes] of the true class: pictures, and sets that hold it */
    size_t total, size;         /* pictures, classes in all sets */
    size_t empty, single, wide; /* sets of no class, of one, of several */
    size_t answered, right, right_before; /* with thresholds: pictures answered, those right; those
                                             that would be right without */
} vit_set_counts;

/* vit-evaluate --data DATA --unknown ALPHA [--outliers DATA] */
typedef struct vit_unknown_call {
    const vit_coverage_choice *choice;
    const char *name; /* of the model */
    const vit_evaluate_options *data;
    const vit_evaluate_options *outliers; /* or NULL */
    bool json;
} vit_unknown_call;

/* What the guest that knows calibrations does; of the list `guests`. */
typedef struct vit_coverage_guest {
    /* Of the choice; session: of the model. The calibration is the choice's file, or the one beside
     * the model that `name` stands for: MODEL.calibration of a file MODEL.safetensors,
     * model.calibration in a directory. With --answered-right it says on standard error which
     * threshold that is, and what it does to the calibration pictures. Freed by `free`. */
    vit_status (*open)(vit_coverage *out, const vit_command *command,
                       const vit_coverage_choice *choice, const char *name, const vit_model *model,
                       vit_session *session, vit_error *error);
    void (*free)(vit_coverage *coverage);
    /* set: [classes] = the classes of the set, the likeliest first; returns how many. */
    size_t (*set)(const vit_coverage *coverage, const float *probabilities, size_t *set);
    /* Calibrates the model with the pictures of the options, and says which they are and which
     * coverages they suffice for; training, outliers: as for vit_calibration_compare, or NULL;
     * *printed: that could be written. */
    vit_status (*calibrate)(const vit_command *command, const vit_coverage_choice *choice,
                            const vit_model_choice *from, const vit_evaluate_options *options,
                            const vit_evaluate_options *training,
                            const vit_evaluate_options *outliers, bool json, bool *printed,
                            vit_error *error);
    /* Calibrates the model that a training has written at `out` by these pictures, into the file
     * beside it, and says so. are_lessons: those that a few-shot head was computed from, with
     * which --unknown compares, too. Returns the exit status. */
    int (*calibrate_trained)(const vit_command *command, const char *out,
                             const vit_evaluate_options *pictures, bool are_lessons);
    /* Whether a picture is unknown, where coverage->unknown is set. */
    vit_status (*test)(const vit_coverage *coverage, const vit_model *model, const float *logits,
                       const float *features, vit_unknown *out, vit_error *error);
    /* Measures and prints how many are. Returns the exit status. */
    int (*measure_unknown)(const vit_command *command, const vit_model *model,
                           const vit_unknown_call *call);
    /* Of a server, where coverage->unknown is set: the martingale, and its value after a score. */
    vit_status (*drift_open)(vit_drift **out, const vit_coverage *coverage, vit_error *error);
    void (*drift_free)(vit_drift *drift);
    double (*drift_add)(vit_drift *drift, double score);
    double (*drift_value)(const vit_drift *drift);
    vit_status (*counts_new)(vit_set_counts *counts, const vit_coverage *coverage, size_t classes,
                             vit_error *error);
    void (*counts_add)(vit_set_counts *counts, const vit_evaluated *picture);
    void (*counts_free)(vit_set_counts *counts);
    /* What they say, as a paragraph, or as the member "coverage" of a JSON object. */
    void (*counts_text)(vit_string *text, const vit_set_counts *counts, const vit_model *model,
                        const vit_coverage_choice *choice);
    void (*counts_json)(vit_json_out *json, const vit_set_counts *counts, const vit_model *model,
                        const vit_coverage_choice *choice);
} vit_coverage_guest;

/* Within the guest: *path = the file of a calibration, freed by vit_free; and one that is read for
 * a model, freed by vit_calibration_free. */
vit_status vit_find_calibration(char **path, const vit_coverage_choice *choice, const char *name,
                                vit_error *error);
vit_status vit_load_calibration(vit_calibration **out, const vit_coverage_choice *choice,
                                const char *name, const vit_model *model, vit_session *session,
                                vit_error *error);

extern const vit_coverage_guest *const vit_coverages; /* NULL: there is none */

#endif
