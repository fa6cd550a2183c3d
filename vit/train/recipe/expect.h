/* What accuracy to expect of a training, from those that were measured (scripts/measure-presets).
 */
#ifndef VIT_TRAIN_RECIPE_EXPECT_H
#define VIT_TRAIN_RECIPE_EXPECT_H

#include <stddef.h>

/* One training by a preset of models/presets/, nothing of it changed but its length. */
typedef struct vit_measured {
    const char *data_sha256, *preset; /* vit_dataset's checksum; the preset's name */
    double steps, seconds;            /* seconds of processors, of the whole command */
    double top1;                      /* right of the test pictures, 0..1 */
} vit_measured;

/* ---- made from models/measured.jsonl by the Makefile ---- */

extern const vit_measured vit_measured_trainings[]; /* ended by a NULL data_sha256 */

typedef struct vit_expectation {
    double top1;         /* NAN: nothing is known of so many steps */
    double first, last;  /* the numbers of steps it was measured at, between which these lie */
    double step_seconds; /* of processors, a step of the longest training there */
} vit_expectation;

/* Of rows ended as above, those of these data and this preset: linear in the logarithm of the
 * steps between the two nearest; up to a quarter beyond the ends as at the end. */
vit_expectation vit_expect(const vit_measured *rows, const char *data_sha256, const char *preset,
                           double steps);

#endif
