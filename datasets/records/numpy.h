/* Arrays of NumPy as a data set. */
#ifndef VIT_DATASETS_RECORDS_NUMPY_H
#define VIT_DATASETS_RECORDS_NUMPY_H

#include "datasets/reader.h"

/* Fills *out, which is zeroed, with the arrays of an .npz in memory, whose bytes are needed during
 * the call only. */
vit_status vit_numpy_parse(vit_dataset *out, const uint8_t *bytes, size_t size, const char *name,
                           const vit_dataset_options *options, vit_error *error);

#endif
