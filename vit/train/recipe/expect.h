/* The accuracy to expect of a training, from trainings that were measured
 * (scripts/measure-presets).
 */
#ifndef VIT_TRAIN_RECIPE_EXPECT_H
#define VIT_TRAIN_RECIPE_EXPECT_H

#include <stddef.h>

/* One training with a preset of models/presets/ of which only the length was changed. */
typedef struct vit_measured {
    const char *data_sha256, *preset; /* vit_dataset.checksum; the preset's name */
    double steps, seconds;            /* seconds: processor time of the whole command */
    double top1;                      /* accuracy on the test pictures, 0..1 */
} vit_measured;

/* ---- made from models/measured.jsonl by the Makefile ---- */

extern const vit_measured vit_measured_trainings[]; /* ended by a NULL data_sha256 */

typedef struct vit_expectation {
    double top1;         /* NAN: nothing is known for this number of steps */
    double at_least;     /* top1; of more steps than were measured, that of the most; or NAN */
    double first, last;  /* steps of the two measured trainings that it lies between */
    double step_seconds; /* processor time of a step, in the longest training of this preset */
} vit_expectation;

/* Interpolates between the two nearest of the `rows` (ended as above) of these data and this
 * preset, linearly in the logarithm of the steps. Up to a quarter beyond the shortest or longest
 * training, its accuracy is expected; of many more steps at least as much. */
vit_expectation vit_expect(const vit_measured *rows, const char *data_sha256, const char *preset,
                           double steps);

#endif
