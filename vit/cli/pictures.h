/* The pictures that a command line names: its operands, or a list of names; where that is asked
 * for, a directory stands for the pictures in it. */
#ifndef VIT_CLI_PICTURES_H
#define VIT_CLI_PICTURES_H

#include <stdint.h>

#include "vit/cli/name_list.h"

typedef struct vit_pictures {
    char **operands; /* borrowed */
    size_t operand_count;
    bool has_list, recursive;
    vit_name_list list;
    char **found; /* of the directory named last, owned */
    size_t found_count, found_capacity, next_operand, next_found;
    uint64_t left_out; /* files and links in directories that are not taken for pictures */
} vit_pictures;

/* files_from NULL: the operands. zeros: as vit_name_list_open has it. */
vit_status vit_pictures_open(vit_pictures *out, char **operands, size_t operand_count,
                             const char *files_from, bool zeros, bool recursive, vit_error *error);

/* The next picture; *name is NULL at the end, else freed by vit_free. A directory that gives no
 * pictures is named with the reason in *problem, whose status is VIT_OK otherwise. In a directory
 * and those inside it, up to 16 deep, files named .png, .jpg and .jpeg are taken, in the order of
 * their names' bytes; hidden ones, and links to directories, are not. Fails where the list cannot
 * be read, or memory runs out. */
vit_status vit_pictures_next(vit_pictures *pictures, char **name, vit_error *problem,
                             vit_error *error);

/* Whether vit_pictures_next would answer without waiting for whoever writes the list. */
bool vit_pictures_ready(vit_pictures *pictures);

void vit_pictures_close(vit_pictures *pictures);

#endif
