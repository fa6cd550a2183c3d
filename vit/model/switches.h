/* The table of a network's switches: a row a key of its config, in the order of switches.inc. What
 * treats all keys alike is made of it: defaults, ranges, JSON. */
#ifndef VIT_MODEL_SWITCHES_H
#define VIT_MODEL_SWITCHES_H

#include "vit/formats/json.h"
#include "vit/model/config.h"

/* More patches could overflow the sizes of activations; their attention would take weeks anyway. */
#define VIT_MOST_PATCHES ((size_t)16384)

/* The layouts that models are exported to. */
typedef enum vit_target {
    VIT_TARGET_TIMM,
    VIT_TARGET_HF,
    VIT_TARGET_TORCHVISION,
    VIT_TARGET_NPZ, /* Google's names, with timm's config beside them */
    VIT_TARGET_ONNX,
    VIT_TARGET_PYTORCH, /* our own names, with a class in Python beside them */
    VIT_TARGET_COUNT,
} vit_target;

/* "timm", "hf", "torchvision", "npz", "onnx", "pytorch", NULL */
extern const char *const vit_target_names[];

/* Which stacks have a key. */
typedef enum vit_switch_of {
    VIT_OF_ALL,      /* every encoder; and the decoders that decoder_keys in switches.c lists */
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
    bool rare;              /* an encoder's is written only where it is not the default */
    const char *tensors[2]; /* of a bool: either of these, in a published file, shows that it is
                               true; NULL: it follows from something else, or needs a config */
    const char *timm, *hf;  /* the key in their configs that has the same value; "!key": the
                               contrary one */
    vit_layout_limit limit; /* of a value that is not the default */
} vit_switch;

/* The number of each row: VIT_KEY_height, ... */
#define SWITCH(type, field, ...) VIT_KEY_##field,
enum {
#include "vit/model/switches.inc"
    VIT_KEYS
};
#undef SWITCH

extern const vit_switch vit_switches[];

/* The value that the stack has, as a number. */
double vit_switch_get(const vit_switch *row, const vit_stack *stack);
void vit_switch_set(const vit_switch *row, vit_stack *stack, double value);

/* The name of an enum's value. */
const char *vit_switch_name(const vit_switch *row, size_t value);

/* ARGUMENT, naming the value, for a number of the encoder, or the decoder, that is out of range. */
vit_status vit_switches_check(const vit_config *config, bool decoder, vit_error *error);

#endif
