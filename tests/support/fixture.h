/* Reading files of tests/fixtures. */
#ifndef VIT_TESTS_SUPPORT_FIXTURE_H
#define VIT_TESTS_SUPPORT_FIXTURE_H

#include <jansson.h>

/* Reads a JSON file; freed by json_decref. The test fails if it cannot be read. */
json_t *read_json(const char *path);

#endif
