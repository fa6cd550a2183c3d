/* Several trainings that differ in their seed alone: the seeds, and names of their files. */
#ifndef VIT_CLI_TRAIN_SEEDS_H
#define VIT_CLI_TRAIN_SEEDS_H

#include "vit/base/error.h"

enum { VIT_MOST_SEEDS = 64 };

typedef struct vit_seeds {
    uint64_t values[VIT_MOST_SEEDS]; /* each once */
    size_t count;
} vit_seeds;

/* Reads "0,1,2": at least two. ARGUMENT for anything else. */
vit_status vit_seeds_parse(vit_seeds *out, const char *text, vit_error *error);

/* *out = the name of a file of that seed: "a/NAME-seed3.jsonl" of "a/NAME.jsonl", or of a
 * directory: "board/seed3". NULL of NULL. Freed by vit_free. Errors: MEMORY. */
vit_status vit_seed_file(char **out, const char *path, uint64_t seed, vit_error *error);
vit_status vit_seed_directory(char **out, const char *path, uint64_t seed, vit_error *error);

#endif
