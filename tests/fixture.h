/* Files of tests/fixtures that several tests read. */
#ifndef VIT_TESTS_FIXTURE_H
#define VIT_TESTS_FIXTURE_H

#include <jansson.h>

/* A file of JSON; freed by json_decref. The test fails, saying why, where it cannot be read. */
json_t *read_json(const char *path);

#endif
