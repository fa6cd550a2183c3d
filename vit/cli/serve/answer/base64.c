#include "vit/cli/serve/answer/base64.h"
#include "vit/formats/base64.h"

#include <string.h>
#include <strings.h>

/* Skips "data:TYPE;base64,"; false for another kind of URL. */
static bool strip_url(const char **text, size_t *length) {
    static const char scheme[] = "data:", kind[] = ";base64";
    if (*length < strlen(scheme) || strncasecmp(*text, scheme, strlen(scheme)) != 0)
        return !memchr(*text, ':', *length < 16 ? *length : 16);
    const char *comma = memchr(*text, ',', *length < 256 ? *length : 256);
    if (!comma) return false;
    const size_t head = (size_t)(comma - *text);
    if (head < strlen(scheme) + strlen(kind) ||
        strncasecmp(comma - strlen(kind), kind, strlen(kind)) != 0)
        return false;
    *length -= head + 1;
    *text = comma + 1;
    return true;
}

vit_status serve_read_base64(vit_bytes *out, const char *text, size_t length, vit_error *error) {
    *out = (vit_bytes){0};
    if (!strip_url(&text, &length))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "\"%.24s...\" is no picture: expected base64, or a URL that begins with "
                        "\"data:image/png;base64,\"; others are not fetched",
                        text);
    return vit_read_base64(out, "a picture", text, length, error);
}
