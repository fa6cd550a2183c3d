/* A line on standard error for each request; never a picture, never a key. */
#ifndef VIT_CLI_SERVE_LOG_H
#define VIT_CLI_SERVE_LOG_H

#include "vit/cli/serve/server.h"

typedef struct serve_entry {
    char method[16], path[512]; /* as they were sent, cut to fit */
    const char *client, *model;
    unsigned status; /* 0: no answer */
    size_t received, sent, pictures;
    double seconds;
    bool is_cut; /* the client, or the deadline, ended it */
} serve_entry;

void serve_log_request(serve_log log, const serve_entry *entry);

#endif
