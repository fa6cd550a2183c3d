/* Model directories of tests/fixtures/published, spoiled: a file that is nearly right must be
 * refused with a sentence that names what is wrong. */
#ifndef VIT_TESTS_SUPPORT_SPOILED_H
#define VIT_TESTS_SUPPORT_SPOILED_H

#include "vit/formats/json.h"
#include "vit/tensors/tensors.h"

#define PUBLISHED "tests/fixtures/published"

/* The directory that tests are started in; to be called there, before any of these. */
extern char project[4096];
void find_project(void);

/* A model directory to spoil: tensors and config of a fixture, in the current directory. */
typedef struct spoiled {
    vit_tensors *file;
    vit_tensor tensors[200];
    size_t count;
    json_t *config;
    float *values; /* of tensors that do not lie in their file as they are */
} spoiled;

spoiled take(const char *name);
vit_tensor *tensor_of(spoiled *s, const char *name);
void drop(spoiled *s, const char *name);

/* Writes what is left, and frees *s. */
void put_spoiled(spoiled *s);

/* Writes what is left and loads it: that must fail, saying a and b. Frees *s. */
void refuse(spoiled *s, vit_status status, const char *a, const char *b);

#endif
