/* Names of files, one a line, read as they arrive. */
#ifndef VIT_CLI_NAME_LIST_H
#define VIT_CLI_NAME_LIST_H

#include <stdio.h>

#include "vit/base/error.h"

enum { VIT_NAME_MAX = 4096 };

typedef struct vit_name_list {
    FILE *stream;
    const char *path; /* "standard input" for "-" */
    size_t line;      /* number of the last line read */
    char name[VIT_NAME_MAX + 1];
} vit_name_list;

vit_status vit_name_list_open(vit_name_list *list, const char *path, vit_error *error);

/* The next name, until the next call; NULL at the end. Empty lines are skipped, and one '\r' at
 * the end of a line is no part of the name. */
vit_status vit_name_list_next(vit_name_list *list, const char **name, vit_error *error);

void vit_name_list_close(vit_name_list *list);

#endif
