/* Where the pictures of a table lie: beside it, and in the folders there, two deep. */
#ifndef VIT_DATASETS_TABLES_PLACES_H
#define VIT_DATASETS_TABLES_PLACES_H

#include "datasets/folders/tree.h"

/* A folder; folders[0] is the table's. */
typedef struct vit_place_folder {
    char *path;
    vit_tree_kind kind; /* the part that it, or a folder around it, is called after; KINDS: none */
    char **names;       /* what is in it, one block; NULL: not listed yet */
    size_t count;
} vit_place_folder;

typedef struct vit_place_name {
    const char *name;
    size_t folder;
} vit_place_name;

typedef struct vit_places {
    vit_place_folder *folders;
    size_t count, capacity;
    vit_place_name *names; /* of all files but the table's neighbours, sorted; NULL: not made yet */
    size_t name_count;
} vit_places;

/* Whether a name ends as one of a picture. */
bool vit_places_has_ending(const char *name);

/* Begins with the directory of a table. vit_places_free in any case. */
vit_status vit_places_open(vit_places *p, const char *directory, vit_error *error);
void vit_places_free(vit_places *p);

/* *path = the picture that a table calls `file`, also without .jpg, .png, ...; freed by vit_free;
 * NULL: there is none. *name: where in it the path from its folder on begins. Beside the table
 * comes first, then folders of the part that `kind` is, then those of no part; FORMAT, with both
 * paths, if the name is in two of them. Other errors: IO, MEMORY. */
vit_status vit_places_find(char **path, size_t *name, vit_places *p, const char *file,
                           vit_tree_kind kind, vit_error *error);

#endif
