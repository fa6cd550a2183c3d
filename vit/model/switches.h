/* The table of a network's switches: a row a key of its config, in the order of switches.inc. What
 * treats all keys alike is made of it: defaults, ranges, JSON. */
#ifndef VIT_MODEL_SWITCHES_H
#define VIT_MODEL_SWITCHES_H

#include "vit/base/json.h"
#include "vit/model/config.h"

/* More patches could overflow the sizes of activations; their attention would take weeks anyway. */
#define VIT_MOST_PATCHES ((size_t)16384)

/* Which stacks have a key. */
typedef enum vit_switch_of {
    VIT_OF_ALL,      /* every encoder; a decoder the keys that vit_decoder_keys lists */
    VIT_OF_NETWORKS, /* every network, even without an encoder */
    VIT_OF_PICTURES, /* encoders of pictures */
    VIT_OF_TEXTS,    /* encoders of texts, and decoders */
    VIT_OF_CLASSES,  /* networks without a decoder */
    VIT_OF_DECODERS, /* decoders alone */
    VIT_OF_NOTHING,  /* it is no key, but follows from others */
} vit_switch_of;

typedef struct vit_switch {
    const char *key;
    vit_field_kind kind;
    size_t offset;            /* in vit_stack */
    double usual;             /* the default; of an enum a value, of a bool 0 or 1 */
    size_t low, high;         /* the range of a SIZE; high 0: it is checked elsewhere */
    const char *label;        /* in messages about the range, in place of the key */
    const char *const *names; /* of an enum: the name in the first row of its table, */
    size_t stride, count;     /* bytes from one row to the next, and rows */
    vit_switch_of of;
    bool rare; /* an encoder's is written only where it is not the default */
} vit_switch;

extern const vit_switch vit_switches[];
extern const size_t vit_switch_count;

/* The row of a key; NULL: there is none. */
const vit_switch *vit_switch_find(const char *key);

/* The value that the stack has, as a number. */
double vit_switch_get(const vit_switch *row, const vit_stack *stack);
void vit_switch_set(const vit_switch *row, vit_stack *stack, double value);

/* The name of an enum's value. */
const char *vit_switch_name(const vit_switch *row, size_t value);

/* The keys of a decoder in the order in which they are written, ended by NULL: the first
 * VIT_DECODER_ALWAYS always, the others where they differ from the default. */
#define VIT_DECODER_ALWAYS 12
extern const char *const vit_decoder_keys[];

/* ARGUMENT, naming the value, for a number of the encoder, or the decoder, that is out of range. */
vit_status vit_switches_check(const vit_config *config, bool decoder, vit_error *error);

#endif
