/* The files that --out names for several pictures, a % being the place of a picture's name. */
#ifndef VIT_CLI_OUT_FILES_H
#define VIT_CLI_OUT_FILES_H

#include "vit/vit.h"

/* The path without its directory. */
const char *vit_file_name(const char *path);

/* The file for a picture, freed by vit_free: `out` with the picture's name, without directory and
 * ending, in place of its last %. NULL: out of memory. */
char *vit_out_file(const char *out, const char *picture);

/* ARGUMENT where two pictures would be written to one file, the second over the first. out NULL:
 * nothing is written. */
vit_status vit_out_check(const char *out, int count, char *const *pictures, vit_error *error);

#endif
