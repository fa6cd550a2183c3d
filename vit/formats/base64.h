/* Base64 (RFC 4648). */
#ifndef VIT_FORMATS_BASE64_H
#define VIT_FORMATS_BASE64_H

#include "vit/base/sys.h"
#include "vit/base/text.h"

/* Decodes base64 of either alphabet (RFC 4648, 4 and 5); white space is passed over, padding may be
 * missing. FORMAT for anything else: messages call it `what`. out->data is not NULL and is freed by
 * vit_free. */
vit_status vit_read_base64(vit_bytes *out, const char *what, const char *text, size_t length,
                           vit_error *error);

/* Appends base64 with padding. */
void vit_string_add_base64(vit_string *out, const void *bytes, size_t size);

#endif
