/* A small model, for tests of what writes models. */
#ifndef VIT_TESTS_SUPPORT_SMALL_MODEL_H
#define VIT_TESTS_SUPPORT_SMALL_MODEL_H

#include "vit/weights/file/model_file.h"

/* A model with random weights, and these labels or, NULL, none. Its config is the default one with
 * `sizes` and `changes`, which are JSON as is `preprocessing`. Freed by vit_model_file_clear. */
vit_model_file small_model(const char *sizes, const char *changes, const char *preprocessing,
                           const char *const labels[3], const char *recipe);

#endif
