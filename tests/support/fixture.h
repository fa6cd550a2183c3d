/* Reading files of tests/fixtures. */
#ifndef VIT_TESTS_SUPPORT_FIXTURE_H
#define VIT_TESTS_SUPPORT_FIXTURE_H

#include "vit/model/parameters.h"
#include "vit/tensors/tensors.h"

#include <jansson.h>

/* Reads a JSON file; freed by json_decref. The test fails if it cannot be read. */
json_t *read_json(const char *path);

/* Calls with each name in the directory, without its ending, and prints it. The test fails if there
 * is none. */
void fixture_each(const char *directory, void (*call)(const char *name));

/* The tensor GROUP NAME of a file, and its numbers, freed by free; the test fails if it is missing.
 */
const vit_tensor *fixture_tensor(const vit_tensors *file, const char *group, const char *name);
float *fixture_floats(const vit_tensors *file, const char *group, const char *name);

/* values: of the table = those in the file, "param." and the parameter's name. The test fails
 * unless the file has these parameters, of the same shapes, and no others. */
void fixture_read_parameters(const vit_tensors *file, const vit_table *table, float *values);

/* The test fails unless the gradients are those in the file, "grad." and the parameter's name. */
void fixture_check_gradients(const vit_tensors *file, const vit_table *table,
                             const float *gradients);

#endif
