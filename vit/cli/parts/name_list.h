/* A list of file names, one a line or each ended by a zero byte, read as it arrives. */
#ifndef VIT_CLI_PARTS_NAME_LIST_H
#define VIT_CLI_PARTS_NAME_LIST_H

#include "vit/base/error.h"

enum { VIT_NAME_MAX = 4096 };

typedef struct vit_name_list {
    int file;          /* descriptor */
    const char *path;  /* "standard input" for "-" */
    char end_mark;     /* what ends a name: '\n', or 0 */
    size_t line;       /* number of the last line read */
    bool ended;        /* the file has been read to its end */
    size_t start, end; /* of the part of the buffer that was not returned yet */
    char buffer[2 * VIT_NAME_MAX];
    char name[VIT_NAME_MAX + 1];
} vit_name_list;

/* Opens a file of names; "-" is standard input. zeros: names end with a zero byte, as find -print0
 * writes them. `path` must outlive the list. */
vit_status vit_name_list_open(vit_name_list *list, const char *path, bool zeros, vit_error *error);

/* *name: the next name, valid until the next call; NULL at the end. Empty lines are skipped; a '\r'
 * at the end of a line is not part of the name. FORMAT for a name that is too long. */
vit_status vit_name_list_next(vit_name_list *list, const char **name, vit_error *error);

/* Whether vit_name_list_next would return at once, without waiting for the writer of the list. */
bool vit_name_list_ready(vit_name_list *list);

void vit_name_list_close(vit_name_list *list);

#endif
