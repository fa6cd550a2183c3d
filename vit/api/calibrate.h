/* The pictures of a calibration (vit/model/run/migrate.h). */
#ifndef VIT_API_CALIBRATE_H
#define VIT_API_CALIBRATE_H

#include "vit/vit.h"
#include "vit/weights/file/model_file.h"

/* Migrates outliers of *m, whose weights are floats that are not packed, as the options `calibrate`
 * and `calibrate_pictures` say, with a note for what was done. Errors: UNSUPPORTED for a network of
 * texts, or whose norms cannot take a scale; ARGUMENT for weights in 8 bits; those of
 * vit_dataset_open and of reading a picture. */
vit_status vit_migrate_outliers(vit_model_file *m, const vit_convert_options *options,
                                vit_error *error);

#endif
