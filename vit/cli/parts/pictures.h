/* The pictures that a command line names, by operands or by a list of names (--files-from). With
 * --recursive, a directory stands for the pictures in it. */
#ifndef VIT_CLI_PARTS_PICTURES_H
#define VIT_CLI_PARTS_PICTURES_H

#include <stdint.h>

#include "vit/cli/parts/name_list.h"

typedef struct vit_pictures {
    char **operands; /* borrowed */
    size_t operand_count;
    bool has_list, recursive;
    vit_name_list list;
    char **found; /* pictures of the directory that was named last; owned */
    size_t found_count, found_capacity, next_operand, next_found;
    uint64_t left_out; /* of directories: what is not named like a picture, links that lead back */
} vit_pictures;

/* The pictures are the operands, or with files_from the names in that file (zeros: as in
 * vit_name_list_open). */
vit_status vit_pictures_open(vit_pictures *out, char **operands, size_t operand_count,
                             const char *files_from, bool zeros, bool recursive, vit_error *error);

/* *name: the next picture, freed by vit_free; NULL at the end. In a directory, and up to 16 levels
 * below it, files named as pictures are (.png, .jpg, .webp, ...) are taken in the byte order of
 * their names, but no hidden ones. Links to directories are followed unless these hold the link. If
 * a directory gives no pictures, *name is the directory and *problem the reason; else
 * problem->status is VIT_OK. Fails if the list cannot be read, or there is no memory. */
vit_status vit_pictures_next(vit_pictures *pictures, char **name, vit_error *problem,
                             vit_error *error);

/* Whether vit_pictures_next would return at once, without waiting for the writer of the list. */
bool vit_pictures_ready(vit_pictures *pictures);

/* *count: how many there are. Takes them all. */
vit_status vit_pictures_count(vit_pictures *pictures, uint64_t *count, vit_error *error);

void vit_pictures_close(vit_pictures *pictures);

/* *picture = the one in standard input, "-", with its name and bytes, which are freed by vit_free.
 * files_from: the list of names, which cannot be in standard input as well, or NULL. *problem says
 * why it cannot be read. */
vit_status vit_picture_of_input(vit_picture *picture, const char *files_from, vit_error *problem);

#endif
