/* The names of files that programs write. */
#ifndef VIT_CLI_PARTS_OUT_FILES_H
#define VIT_CLI_PARTS_OUT_FILES_H

#include "vit/vit.h"

/* The file that --out OUT means for a picture: the last % of OUT stands for the picture's file name
 * without its ending. Freed by vit_free; NULL: no memory. */
char *vit_out_file(const char *out, const char *picture);

/* ARGUMENT if two of the pictures would be written to the same file. out NULL: no file is. */
vit_status vit_out_check(const char *out, int count, char *const *pictures, vit_error *error);

/* The path of a model file in a new directory, "PROGRAM-...", of $TMPDIR or /tmp, which nobody else
 * may write into; and removes both. */
enum { VIT_OWN_PATH = 4096 };
vit_status vit_own_file(char path[VIT_OWN_PATH], const char *program, vit_error *error);
void vit_own_file_remove(char path[VIT_OWN_PATH]);

#endif
