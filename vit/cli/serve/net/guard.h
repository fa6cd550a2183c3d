/* Who may ask: the Host and Origin of a request, and its key.
 *
 * A server on 127.0.0.1 is within reach of every page that is open in a browser on that machine. A
 * page of another site may only make the browser send requests, which then bear that site's Origin;
 * or it lets its own name lead to 127.0.0.1 ("DNS rebinding"), which then stands in Host. So a
 * foreign Origin is refused, and so is a Host that is a name: an address cannot be rebound. */
#ifndef VIT_CLI_SERVE_NET_GUARD_H
#define VIT_CLI_SERVE_NET_GUARD_H

#include "vit/base/error.h"
#include "vit/cli/options.h"

typedef struct serve_guard {
    const vit_option_list *hosts;   /* names that Host may have beside "localhost" and addresses */
    const vit_option_list *origins; /* of pages on other sites that may ask */
    char *keys; /* lines of the key file, each 0-terminated; NULL: no key is needed */
    size_t keys_size;
} serve_guard;

/* A line is a key: 16 characters or more of ASCII that are visible. Empty lines, and those that
 * begin with '#', are none. */
vit_status serve_guard_load_keys(serve_guard *guard, const char *path, vit_error *error);
void serve_guard_free(serve_guard *guard);

/* host: the field's value, NULL where there was none. */
bool serve_host_allowed(const serve_guard *guard, const char *host);

/* origin: NULL where there was none, which browsers send only for what a site does to itself. */
bool serve_origin_allowed(const serve_guard *guard, const char *origin, const char *host);

/* Whether an origin is one of guard->origins, whose pages may also read the answers. */
bool serve_origin_named(const serve_guard *guard, const char *origin);

/* authorization: "Bearer KEY", or NULL. Takes as long whatever part of a key is right. */
bool serve_key_allowed(const serve_guard *guard, const char *authorization);

#endif
