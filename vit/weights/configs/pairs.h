/* Hugging Face's CLIP and SigLIP: networks of two encoders, of which one reads pictures and one
 * texts; and what the library's configs leave out, from hugging_face_models.json, which
 * scripts/hugging_face_models.py makes. */
#ifndef VIT_WEIGHTS_CONFIGS_PAIRS_H
#define VIT_WEIGHTS_CONFIGS_PAIRS_H

#include "vit/weights/configs/their_config.h"

/* Adds to the config, in place, the defaults of this "model_type" for the keys that it leaves out.
 * Errors: UNSUPPORTED for one whose defaults are not known, MEMORY. */
vit_status vit_complete_config(json_t *object, const char *type, vit_error *error);

/* *part: the config of an encoder, "vision_config" or "text_config" (key), borrowed from `object`
 * and completed; `type` is its "model_type". Errors: FORMAT, MEMORY. */
vit_status vit_pair_config(json_t **part, const vit_their_config *d, json_t *object,
                           const char *key, const char *type, vit_error *error);

/* What an image encoder is. */
typedef enum vit_pair {
    VIT_PAIR_NONE,   /* another network */
    VIT_PAIR_CLIP,   /* pools the class token, and projects it */
    VIT_PAIR_SIGLIP, /* pools by attention */
    VIT_PAIR_COUNT,
} vit_pair;

/* What is pooled, and whether it is projected, by the class in "architectures"; d->is_backbone.
 * own: the encoder's config; object: the whole. UNSUPPORTED for an encoder that pools nothing. */
vit_status vit_read_pair(vit_their_config *d, vit_pair pair, const json_t *own,
                         const json_t *object, vit_error *error);

/* The text encoder of a network of two. */
typedef struct vit_text_family {
    const char *type;  /* its "model_type" */
    bool is_siglip;    /* it is not causal, reads its last token, and is filled up */
    bool largest_ends; /* "eos_token_id" 2 stands for the largest id */
} vit_text_family;

/* *out: that of the network whose "model_type" is `type`, in the config that messages call `name`.
 * Errors: UNSUPPORTED. */
vit_status vit_find_text_family(vit_text_family *out, const char *name, const char *type,
                                vit_error *error);

#endif
