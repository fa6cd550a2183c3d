/* Pictures in JSON: base64 (RFC 4648), alone or as a data URL. */
#ifndef VIT_CLI_SERVE_ANSWER_BASE64_H
#define VIT_CLI_SERVE_ANSWER_BASE64_H

#include "vit/base/sys.h"

/* Decodes base64 of either alphabet (RFC 4648, 4 and 5), or "data:TYPE;base64,..."; white space is
 * passed over, padding may be missing. FORMAT for anything else, also
 * for other URLs, which are never fetched. out->data is freed by vit_free. */
vit_status serve_read_base64(vit_bytes *out, const char *text, size_t length, vit_error *error);

#endif
