/* A small model with values of its own, for the tests of what writes models. */
#ifndef TESTS_SMALL_MODEL_H
#define TESTS_SMALL_MODEL_H

#include "vit/weights/model_file.h"

/* Of the default config with `sizes` and `changes`, and that preprocessing, all JSON; with three
 * labels; cleared by vit_model_file_clear. */
vit_model_file small_model(const char *sizes, const char *changes, const char *preprocessing,
                           const char *const labels[3], const char *recipe);

#endif
