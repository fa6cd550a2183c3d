/* The bytes of a stream, which may stop for a while, and may end in the midst of anything. */
#ifndef VIT_CLI_STREAM_INPUT_H
#define VIT_CLI_STREAM_INPUT_H

#include "vit/base/sys.h"

enum { VIT_INPUT_ROOM = 1 << 16 };

typedef struct vit_input {
    const char *name; /* for messages */
    int file;
    bool ended;        /* at its end, or the program was interrupted, or it could not be read */
    int failed;        /* errno of that; 0: none */
    size_t begin, end; /* bytes that are read and not taken */
    uint64_t offset;   /* of the next byte that is taken */
    uint8_t bytes[VIT_INPUT_ROOM];
} vit_input;

/* path: a file or a FIFO, for whose writer it waits; "-": standard input. Closed by
 * vit_input_close, also on failure. */
vit_status vit_input_open(vit_input *in, const char *path, vit_error *error);
void vit_input_close(vit_input *in);

/* Waits until `count` bytes can be looked at, count <= 4096; false: there are fewer. */
bool vit_input_has(vit_input *in, size_t count);

/* The next byte that is not taken, after vit_input_has. */
static inline const uint8_t *vit_input_look(const vit_input *in) {
    return in->bytes + in->begin;
}

void vit_input_skip(vit_input *in, size_t count); /* of those that are there */

/* Takes `size` bytes; returns how many there were. */
size_t vit_input_take(vit_input *in, uint8_t *data, size_t size);

/* Skips up to the first place where these bytes are, count <= 16; false: they do not come. */
bool vit_input_find(vit_input *in, const void *bytes, size_t count);

#endif
