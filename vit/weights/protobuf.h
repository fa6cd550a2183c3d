/* Messages in Google's Protocol Buffers wire format, which ONNX files are of: a message is a row of
 * fields, each a key (field number and wire type) and its value. Written into a text that grows.
 *
 * https://protobuf.dev/programming-guides/encoding/
 */
#ifndef VIT_WEIGHTS_PROTOBUF_H
#define VIT_WEIGHTS_PROTOBUF_H

#include "vit/base/text.h"

void vit_protobuf_int(vit_text *t, unsigned field, int64_t value);
void vit_protobuf_float(vit_text *t, unsigned field, float value);
void vit_protobuf_bytes(vit_text *t, unsigned field, const void *bytes, size_t size);
void vit_protobuf_string(vit_text *t, unsigned field, const char *string);

/* Takes over what `message` holds and leaves it empty. */
void vit_protobuf_message(vit_text *t, unsigned field, vit_text *message);

/* The key and the length of bytes that the caller writes behind it. */
void vit_protobuf_head(vit_text *t, unsigned field, size_t size);

#endif
