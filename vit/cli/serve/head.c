#include "vit/cli/serve/head.h"

#include <microhttpd.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

bool serve_joins_folds(void) {
    return MHD_get_version()[0] == '0';
}

/* Looks for folded lines by where names and values lie: in the bytes that have arrived, of which
 * only the colon and the ends of lines are overwritten by 0, while a name that has become longer is
 * a copy elsewhere. */
static void look_for_folds(serve_head *f, const char *key, const char *value) {
    const uintptr_t key_end = (uintptr_t)key + strlen(key) + 1, begin = (uintptr_t)value;
    const uintptr_t line = (uintptr_t)key, before = (uintptr_t)f->end;
    if (!serve_joins_folds()) return;
    if (begin < key_end || strspn(key + strlen(key) + 1, " \t") < begin - key_end)
        f->is_folded = true;
    if (f->end && (line <= before || line - before > 2)) f->is_folded = true;
    f->end = value + strlen(value);
}

static bool has_control(const char *text) {
    for (const char *at = text; *at; at++)
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7f) return true;
    return false;
}

/* Adds a value of X-Forwarded-For, whose last ones count. */
static void add_forwarded(serve_head *f, const char *value) {
    const size_t room = sizeof f->forwarded - 1;
    const size_t added = strlen(value) < room ? strlen(value) : room - 1;
    size_t kept = strlen(f->forwarded);
    if (kept + 1 + added > room) {
        const size_t over = kept + 1 + added - room;
        memmove(f->forwarded, f->forwarded + over, kept - over + 1);
        kept -= over;
    }
    if (kept > 0) f->forwarded[kept++] = ',';
    memcpy(f->forwarded + kept, value + strlen(value) - added, added);
    f->forwarded[kept + added] = '\0';
}

static enum MHD_Result count_field(void *context, enum MHD_ValueKind kind, const char *key,
                                   const char *value) {
    serve_head *f = context;
    (void)kind;
    f->is_odd |= key[strcspn(key, " \t")] != '\0';
    f->has_control |= has_control(key) || has_control(value);
    look_for_folds(f, key, value);
    if (strcasecmp(key, "X-Forwarded-For") == 0) add_forwarded(f, value);
    if (strcasecmp(key, "Host") == 0) {
        f->host_count++;
        f->hosts = value;
    } else if (strcasecmp(key, "Content-Length") == 0) {
        f->length_count++;
        f->length = value;
    } else if (strcasecmp(key, "Transfer-Encoding") == 0) {
        f->encoding_count++;
        f->encoding = value;
    }
    return MHD_YES;
}

void serve_head_read(serve_head *out, struct MHD_Connection *connection) {
    *out = (serve_head){0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, count_field, out);
}
