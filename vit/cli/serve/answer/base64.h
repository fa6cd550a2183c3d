/* Pictures in JSON: base64 (RFC 4648), alone or in a data URL. */
#ifndef VIT_CLI_SERVE_ANSWER_BASE64_H
#define VIT_CLI_SERVE_ANSWER_BASE64_H

#include "vit/base/sys.h"

/* text: base64, or "data:TYPE;base64,...". Padding may be absent; anything else that is no base64
 * is FORMAT, and so is another URL: nothing is ever fetched. out->data is freed by vit_free. */
vit_status serve_read_base64(vit_bytes *out, const char *text, size_t length, vit_error *error);

#endif
