/* The fields of a header that decide where a request ends and who sends it. */
#ifndef VIT_CLI_SERVE_HEAD_H
#define VIT_CLI_SERVE_HEAD_H

#include <stdbool.h>

struct MHD_Connection;

typedef struct serve_head {
    const char *hosts, *length, *encoding;             /* the last value of each; NULL: none */
    unsigned host_count, length_count, encoding_count; /* which must not be there twice */
    bool is_odd;      /* a name has a space: some servers take "Content-Length : 5" for a length */
    bool has_control; /* a control character: some servers take a CR alone for the end of a line */
    bool is_folded;   /* the value of one goes on in the next line */
    const char *end;  /* of the last value, where it lies in memory; NULL: none yet */
    char forwarded[512]; /* the values of X-Forwarded-For, the end of them if they are longer */
} serve_head;

/* *out = what has arrived on the connection; the texts live as long as the request. */
void serve_head_read(serve_head *out, struct MHD_Connection *connection);

/* Whether libmicrohttpd joins folded lines to the name of their field, as it does before 1.0: then
 * "Content-Length:" with its number in the next line is no length, and the body becomes the next
 * request. Later ones refuse such lines, if they are told to be strict. */
bool serve_joins_folds(void);

#endif
