/* The text encoder of CLIP and SigLIP: what Hugging Face's and OpenCLIP's configs say of it. */
#ifndef VIT_WEIGHTS_CONFIGS_TEXT_CONFIG_H
#define VIT_WEIGHTS_CONFIGS_TEXT_CONFIG_H

#include "vit/text/unicode/clean.h"
#include "vit/weights/configs/their_config.h"

/* The token whose state a text's embedding is made of. */
typedef enum vit_text_pool {
    VIT_TEXT_END,     /* the first whose id is `end` */
    VIT_TEXT_LARGEST, /* the first of those with the largest id: files with "eos_token_id" 2 */
    VIT_TEXT_LAST,    /* the last one, after texts were filled up to the greatest length */
    VIT_TEXT_POOL_COUNT,
} vit_text_pool;

typedef struct vit_text_facts {
    vit_stack said; /* sizes, activation, epsilon, `causal`; 0: the tensors show it */
    vit_text_pool pool;
    size_t end; /* of VIT_TEXT_END */
    size_t pad; /* fills texts up where the tokenizer does not say with what */
    bool fills; /* all texts are filled up to the greatest length, and what fills them is read */
    bool hugging_face;     /* whose config it is; else OpenCLIP's */
    vit_cleaning cleaning; /* of texts, before the tokenizer */
    bool simple;           /* with CLIP's vocabulary, OpenCLIP's own tokenizer reads them */
} vit_text_facts;

/* object: config.json or open_clip_config.json, which messages call `name`. as: the library whose
 * ids texts get, "hf" or "open_clip"; NULL: the config's. Errors: UNSUPPORTED for a model without a
 * text encoder that is known, and for another library; FORMAT, MEMORY. */
vit_status vit_read_text_facts(vit_text_facts *out, json_t *object, const char *name,
                               const char *as, vit_error *error);

#endif
