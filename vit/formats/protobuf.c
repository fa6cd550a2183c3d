#include "vit/formats/protobuf.h"
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_64_BITS = 1, WIRE_BYTES = 2, WIRE_32_BITS = 5 };

/* Seven bits in each byte, the lowest first; all bytes but the last have their highest bit set. */
static void add_varint(vit_string *t, uint64_t value) {
    char bytes[10];
    size_t count = 0;
    do {
        bytes[count++] = (char)((value & 127) | (value > 127 ? 128 : 0));
        value >>= 7;
    } while (value > 0);
    vit_string_add_bytes(t, bytes, count);
}

static void add_key(vit_string *t, unsigned field, unsigned wire) {
    add_varint(t, field << 3 | wire);
}

void vit_protobuf_int(vit_string *t, unsigned field, int64_t value) {
    add_key(t, field, WIRE_VARINT);
    add_varint(t, (uint64_t)value);
}

void vit_protobuf_fixed(vit_string *t, uint64_t value, size_t size) {
    char bytes[8];
    for (size_t i = 0; i < size; i++) bytes[i] = (char)(value >> (8 * i));
    vit_string_add_bytes(t, bytes, size);
}

void vit_protobuf_float(vit_string *t, unsigned field, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_key(t, field, WIRE_32_BITS);
    vit_protobuf_fixed(t, bits, sizeof bits);
}

void vit_protobuf_double(vit_string *t, unsigned field, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_key(t, field, WIRE_64_BITS);
    vit_protobuf_fixed(t, bits, sizeof bits);
}

void vit_protobuf_head(vit_string *t, unsigned field, size_t size) {
    add_key(t, field, WIRE_BYTES);
    add_varint(t, size);
}

void vit_protobuf_bytes(vit_string *t, unsigned field, const void *bytes, size_t size) {
    vit_protobuf_head(t, field, size);
    vit_string_add_bytes(t, bytes, size);
}

void vit_protobuf_string(vit_string *t, unsigned field, const char *string) {
    vit_protobuf_bytes(t, field, string, strlen(string));
}

void vit_protobuf_message(vit_string *t, unsigned field, vit_string *message) {
    vit_protobuf_bytes(t, field, message->text, message->length);
    t->failed = t->failed || message->failed;
    vit_string_free(message);
}
