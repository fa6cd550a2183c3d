/* What a request may say: a table for each route, of arguments after '?', fields of a form and keys
 * of JSON. What is not in it is refused by name, and so is a value of another type. */
#ifndef VIT_CLI_SERVE_KEYS_H
#define VIT_CLI_SERVE_KEYS_H

#include <stdbool.h>

#include "vit/formats/json.h"

/* Types of a value in JSON; null stands for a key that is left out. */
enum {
    SERVE_TEXT = 1,
    SERVE_WHOLE = 2, /* a whole number */
    SERVE_FLAG = 4,
    SERVE_LIST = 8,
    SERVE_OBJECT = 16,
    SERVE_NUMBER = 32,  /* with a fraction, too */
    SERVE_NUMBERS = 64, /* a long list of numbers, which has stayed in the body: answer/numbers.h */
    SERVE_PICTURE =
        SERVE_TEXT | SERVE_LIST | SERVE_OBJECT, /* or several: see vit/cli/serve/answer */
};

/* Where a key may stand. */
enum {
    SERVE_IN_QUERY = 1,      /* after '?', or as a field of a form */
    SERVE_IN_BODY = 2,       /* in the object that is the body */
    SERVE_IN_PARAMETERS = 4, /* in that object's "parameters" */
};

typedef struct serve_key {
    const char *name;
    unsigned where, types;
} serve_key; /* a table of them ends with a NULL name */

typedef struct serve_reply serve_reply; /* request.h */

/* The key of this name that may stand there; NULL: there is none, and *near is the most similar
 * name, or NULL. */
const serve_key *serve_find_key(const serve_key *keys, unsigned where, const char *name,
                                const char **near);

/* Whether an object has only keys that may stand there, with values of their types. False: `reply`
 * is an error. An object that is NULL, or none, passes. */
bool serve_check_keys(const json_t *object, const serve_key *keys, unsigned where,
                      serve_reply *reply);

#endif
