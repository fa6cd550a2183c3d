#include "vit/cli/serve/net/guard.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "vit/base/sys.h"
#include "vit/base/utf8.h"

enum { KEY_LEAST = 16 };

/* ---- keys ---- */

static vit_status check_key(const char *line, const char *path, size_t number, vit_error *error) {
    const size_t length = strlen(line);
    for (size_t i = 0; i < length; i++)
        if (line[i] <= ' ' || line[i] >= 0x7f)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: line %zu has a character that is not visible ASCII, expected a "
                            "key",
                            path, number);
    if (length >= KEY_LEAST) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: the key in line %zu has %zu characters, expected %d", path, number, length,
                    KEY_LEAST);
}

/* Moves the lines that are keys to the front of guard->keys. */
static vit_status keep_keys(serve_guard *guard, char *text, const char *path, vit_error *error) {
    size_t number = 1;
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        size_t length = strlen(line);
        if (length > 0 && line[length - 1] == '\r') line[--length] = '\0';
        if (length == 0 || *line == '#') continue;
        const vit_status status = check_key(line, path, number, error);
        if (status != VIT_OK) return status;
        memmove(guard->keys + guard->keys_size, line, length + 1);
        guard->keys_size += length + 1;
    }
    if (guard->keys_size > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s holds no key, expected one a line", path);
}

vit_status serve_guard_load_keys(serve_guard *guard, const char *path, vit_error *error) {
    vit_bytes bytes;
    vit_status status = vit_read_file(&bytes, path, (size_t)1 << 20, error);
    if (status != VIT_OK) return status;
    guard->keys = vit_alloc(bytes.size + 1, 1);
    guard->keys_size = 0;
    if (!guard->keys) status = vit_fail_memory(error, "the keys", bytes.size);
    if (status == VIT_OK) {
        const size_t mark = vit_utf8_mark(bytes.data, bytes.size);
        memcpy(guard->keys, bytes.data + mark, bytes.size - mark);
        status = keep_keys(guard, guard->keys, path, error);
    }
    vit_free(bytes.data);
    return status;
}

void serve_guard_free(serve_guard *guard) {
    vit_free(guard->keys);
    guard->keys = NULL;
}

/* Whether `given` is the key. The time does not depend on where they differ. */
static bool is_equal(const char *key, size_t length, const char *given, size_t given_length) {
    unsigned char different = length != given_length;
    for (size_t i = 0; i < given_length; i++)
        different |= (unsigned char)(key[i < length ? i : 0] ^ given[i]);
    return different == 0;
}

bool serve_key_allowed(const serve_guard *guard, const char *authorization) {
    static const char scheme[] = "Bearer ";
    if (!guard->keys) return true;
    if (!authorization || strncasecmp(authorization, scheme, strlen(scheme)) != 0) return false;
    const char *given = authorization + strlen(scheme);
    given += strspn(given, " ");
    const size_t given_length = strlen(given);
    bool found = false;
    for (size_t at = 0; at < guard->keys_size;) {
        const size_t length = strlen(guard->keys + at);
        found |= is_equal(guard->keys + at, length, given, given_length);
        at += length + 1;
    }
    return found;
}

/* ---- names ---- */

/* name: that in "name", "name:port", "[address]" or "[address]:port"; false for anything else, and
 * if it does not fit. */
static bool split_host(const char *host, char *name, size_t size) {
    const bool bracketed = *host == '[';
    const char *start = host + bracketed;
    const size_t length = strcspn(start, bracketed ? "]" : ":");
    if (length == 0 || length >= size) return false;
    memcpy(name, start, length);
    name[length] = '\0';
    const char *rest = start + length;
    if (bracketed && *rest++ != ']') return false;
    if (*rest == '\0') return true;
    const size_t digits = *rest == ':' ? strspn(rest + 1, "0123456789") : 0;
    return digits >= 1 && digits <= 5 && rest[1 + digits] == '\0';
}

static bool is_address(const char *name) {
    unsigned char address[16];
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

static bool is_among(const vit_option_list *texts, const char *name) {
    for (size_t i = 0; texts && i < texts->count; i++)
        if (strcasecmp(texts->values[i], name) == 0) return true;
    return false;
}

/* Whether a browser can send it as a name or an address, without a port. */
static bool is_name(const char *text) {
    const char *c = text;
    while (*c > ' ' && *c < 0x7f && !strchr(":/?#@[]*", *c)) c++;
    return *c == '\0' || is_address(text);
}

/* Whether a browser can send it as Origin: "null", or a scheme, "://", a name or an address, and
 * perhaps a port. */
static bool is_origin(const char *text) {
    char name[256];
    const char *host = strstr(text, "://");
    return strcmp(text, "null") == 0 ||
           (host && host != text && split_host(host + 3, name, sizeof name) && is_name(name));
}

vit_status serve_guard_allow(serve_guard *guard, const vit_option_list *hosts,
                             const vit_option_list *origins, vit_error *error) {
    guard->hosts = hosts;
    guard->origins = origins;
    for (size_t i = 0; i < hosts->count; i++)
        if (!is_name(hosts->values[i]))
            return vit_fail(
                error, VIT_ERROR_ARGUMENT,
                "--allow-host: \"%s\" is no name, expected one without scheme and port, "
                "in ASCII, such as vit.example.org",
                hosts->values[i]);
    for (size_t i = 0; i < origins->count; i++)
        if (!is_origin(origins->values[i]))
            return vit_fail(error, VIT_ERROR_ARGUMENT,
                            "--allow-origin: \"%s\" is no origin, expected a scheme and a name, "
                            "without a path, such as https://example.org",
                            origins->values[i]);
    return VIT_OK;
}

bool serve_host_allowed(const serve_guard *guard, const char *host) {
    char name[256];
    return host && split_host(host, name, sizeof name) &&
           (strcasecmp(name, "localhost") == 0 || is_address(name) || is_among(guard->hosts, name));
}

bool serve_origin_named(const serve_guard *guard, const char *origin) {
    return origin && is_among(guard->origins, origin);
}

bool serve_origin_allowed(const serve_guard *guard, const char *origin, const char *host) {
    static const char *const schemes[] = {"http://", "https://"};
    if (!origin || serve_origin_named(guard, origin)) return true;
    for (size_t i = 0; host && i < sizeof schemes / sizeof schemes[0]; i++) {
        const size_t length = strlen(schemes[i]);
        if (strncasecmp(origin, schemes[i], length) == 0 && strcasecmp(origin + length, host) == 0)
            return true;
    }
    return false;
}
