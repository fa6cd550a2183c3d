/* Names of files, one a line, or each ended by a zero byte, read as they arrive. */
#ifndef VIT_CLI_NAME_LIST_H
#define VIT_CLI_NAME_LIST_H

#include "vit/base/error.h"

enum { VIT_NAME_MAX = 4096 };

typedef struct vit_name_list {
    int file;          /* descriptor */
    const char *path;  /* "standard input" for "-" */
    char end_mark;     /* of a name: '\n', or 0 */
    size_t line;       /* number of the last line read */
    bool ended;        /* nothing follows the buffer */
    size_t start, end; /* of what was read and is not yet given, in buffer */
    char buffer[2 * VIT_NAME_MAX];
    char name[VIT_NAME_MAX + 1];
} vit_name_list;

/* A file of names; "-" is standard input. zeros: each ends with a zero byte, and may hold any other
 * (find -print0). `path` must outlive the list. */
vit_status vit_name_list_open(vit_name_list *list, const char *path, bool zeros, vit_error *error);

/* The next name, until the next call; NULL at the end. Empty lines are skipped, and of lines one
 * '\r' at the end of a line is no part of the name. */
vit_status vit_name_list_next(vit_name_list *list, const char **name, vit_error *error);

/* Whether vit_name_list_next would answer without waiting for whoever writes the list. */
bool vit_name_list_ready(vit_name_list *list);

void vit_name_list_close(vit_name_list *list);

#endif
