/* Messages in Google's Protocol Buffers wire format, which ONNX models and TensorBoard's event
 * files are made of: a message is a sequence of fields, each a key (field number and wire type) and
 * a value. Each function appends one field to a text that grows; if memory runs out, the text's
 * `failed` is set.
 *
 * https://protobuf.dev/programming-guides/encoding/
 */
#ifndef VIT_FORMATS_PROTOBUF_H
#define VIT_FORMATS_PROTOBUF_H

#include "vit/base/text.h"

void vit_protobuf_int(vit_string *t, unsigned field, int64_t value);
void vit_protobuf_float(vit_string *t, unsigned field, float value);
void vit_protobuf_double(vit_string *t, unsigned field, double value);
void vit_protobuf_bytes(vit_string *t, unsigned field, const void *bytes, size_t size);
void vit_protobuf_string(vit_string *t, unsigned field, const char *string);

/* A message as the value of a field; *message is freed. */
void vit_protobuf_message(vit_string *t, unsigned field, vit_string *message);

/* Only the key and the length of a field of `size` bytes, which the caller writes after it. */
void vit_protobuf_head(vit_string *t, unsigned field, size_t size);

/* No field: the lowest `size` bytes of a number, the lowest first. */
void vit_protobuf_fixed(vit_string *t, uint64_t value, size_t size);

#endif
