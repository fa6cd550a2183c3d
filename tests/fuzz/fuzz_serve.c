/* Parts of requests to vit-serve: a form, base64, the fields Host, Origin, Authorization and
 * Content-Type. The first byte says which.
 *
 *     make fuzz && build/fuzz/fuzz_serve -max_len=4096 -max_total_time=60 CORPUS
 */
#include <stdlib.h>
#include <string.h>

#include "vit/cli/serve/answer/base64.h"
#include "vit/cli/serve/answer/multipart.h"
#include "vit/cli/serve/net/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first line is the field's value, the rest the body. Parts lie within the body, in order. */
static void read_form(const char *text, size_t size) {
    const char *end = memchr(text, '\n', size);
    const size_t length = end == NULL ? size : (size_t)(end - text);
    char type[512];
    if (length >= sizeof type) return;
    memcpy(type, text, length);
    type[length] = '\0';
    const uint8_t *body = (const uint8_t *)text + length, *at = body;
    const size_t left = size - length;
    serve_multipart form;
    serve_part part;
    bool found = true;
    if (!serve_is_multipart(type) || serve_multipart_open(&form, type, body, left, NULL)) return;
    while (serve_multipart_next(&form, &part, &found, NULL) == VIT_OK && found) {
        if (part.data < at || part.size > left || part.data + part.size > body + left) abort();
        if (strlen(part.name) >= sizeof part.name || strlen(part.file) >= sizeof part.file) abort();
        at = part.data + part.size;
    }
}

/* What is read has three bytes for every four characters, at most. */
static void read_base64(const char *text, size_t size) {
    vit_bytes bytes;
    if (serve_read_base64(&bytes, text, size, NULL)) return;
    if (bytes.size > size / 4 * 3 + 2) abort();
    vit_free(bytes.data);
}

static void read_fields(const char *text) {
    static char keys[] = "0123456789abcdef";
    const serve_guard guard = {.keys = keys, .keys_size = sizeof keys};
    const bool has_key = serve_key_allowed(&guard, text);
    if (has_key && strstr(text, keys) == NULL) abort();
    serve_host_allowed(&guard, text);
    serve_origin_allowed(&guard, text, "localhost:1");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    char *text = malloc(size); /* of its exact length, so that a byte beyond is found */
    if (text == NULL) return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] % 3 == 0) read_form(text, size - 1);
    if (data[0] % 3 == 1) read_base64(text, size - 1);
    if (data[0] % 3 == 2) read_fields(text);
    free(text);
    return 0;
}
