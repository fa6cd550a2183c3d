/* Where files lie on the server's machine is told to nobody. */
#ifndef VIT_CLI_SERVE_WORK_HIDDEN_H
#define VIT_CLI_SERVE_WORK_HIDDEN_H

#include <string.h>

#include "vit/base/sys.h"

/* Takes the directories of `path` out of a message. */
static inline void serve_hide_directories(vit_error *error, const char *path) {
    const size_t length = (size_t)(vit_path_last(path) - path);
    for (char *at = error->message; length > 0 && (at = strstr(at, path));)
        memmove(at, at + length, strlen(at + length) + 1);
}

#endif
