/* Who may ask: checks the Host, the Origin and the key of a request.
 *
 * A server on 127.0.0.1 can be reached by every page that is open in a browser on that machine. A
 * page of another site can make the browser send requests, which then carry that site's Origin; or
 * its own name can resolve to 127.0.0.1 ("DNS rebinding"), and is then in Host. So foreign Origins
 * are refused, and Hosts that are names, unless they are listed: an address cannot be rebound. */
#ifndef VIT_CLI_SERVE_NET_GUARD_H
#define VIT_CLI_SERVE_NET_GUARD_H

#include "vit/base/error.h"
#include "vit/cli/parts/options.h"

typedef struct serve_guard {
    const vit_option_list
        *hosts; /* names that are allowed as Host; "localhost" and addresses are */
    const vit_option_list *origins; /* sites whose pages may ask */
    char *keys; /* lines of the key file, each 0-terminated; owned; NULL: no key is needed */
    size_t keys_size;
} serve_guard;

/* Sets both lists, which are not copied. ARGUMENT for a text that no browser sends, such as a host
 * with a port or an origin with a path: it would never be equal. */
vit_status serve_guard_allow(serve_guard *guard, const vit_option_list *hosts,
                             const vit_option_list *origins, vit_error *error);

/* Reads a file of keys, one a line, of at least 16 visible ASCII characters. Empty lines and lines
 * that begin with '#' are skipped. FORMAT for other lines, and without any key. */
vit_status serve_guard_load_keys(serve_guard *guard, const char *path, vit_error *error);
void serve_guard_free(serve_guard *guard);

/* host: the value of the header field; NULL, if there is none, is refused. */
bool serve_host_allowed(const serve_guard *guard, const char *host);

/* Whether the origin is this server's own (`host`) or a listed one. NULL is allowed: a browser
 * leaves it out only for a site's requests to itself. */
bool serve_origin_allowed(const serve_guard *guard, const char *origin, const char *host);

/* Whether an origin is one of guard->origins, whose pages may also read the answers. */
bool serve_origin_named(const serve_guard *guard, const char *origin);

/* authorization: "Bearer KEY", or NULL. The time does not depend on how much of a key is right. */
bool serve_key_allowed(const serve_guard *guard, const char *authorization);

#endif
