/* The log: a line on standard error for each request. It contains no picture and no key. Functions
 * may be called from any thread. */
#ifndef VIT_CLI_SERVE_WORK_ACCESS_LOG_H
#define VIT_CLI_SERVE_WORK_ACCESS_LOG_H

#include <stdbool.h>
#include <stddef.h>

typedef enum serve_log {
    SERVE_LOG_NONE,
    SERVE_LOG_TEXT,
    SERVE_LOG_JSON,
    SERVE_LOG_COUNT
} serve_log;

typedef struct serve_entry {
    char method[16], path[512]; /* as they were sent, cut to fit; path: serve_log_path */
    const char *client, *model; /* address; name or "" */
    unsigned status;            /* 0: there was no answer */
    size_t received, sent;      /* bytes of the bodies */
    size_t pictures;
    double seconds;
    bool is_cut; /* the client, or the deadline, ended the connection */
} serve_entry;

/* path [size] = an address as it is logged: of 32 or more hexadecimal digits, which may be the
 * secret number of a teaching, the first 6 stay. */
void serve_log_path(char *path, size_t size, const char *uri);

/* Writes the line, in the form `log`. If nobody reads standard error, lines are lost rather than
 * requests held up; the next line that can be written says how many. */
void serve_log_request(serve_log log, const serve_entry *entry);

/* Writes a sentence in the same way. */
void serve_log_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
