/* The text encoder of published CLIP and SigLIP models, with its tokenizer: texts -> embeddings
 * that are compared with those of pictures. */
#ifndef VIT_WEIGHTS_TEXT_ENCODER_H
#define VIT_WEIGHTS_TEXT_ENCODER_H

#include "vit/model/run/text_features.h"
#include "vit/weights/configs/text_config.h"
#include "vit/weights/published.h"

typedef struct vit_text_encoder {
    vit_model_file file; /* config, table, values and packed weights, tokenizer */
    vit_text_facts facts;
    double scale, bias;  /* logit = scale * (picture . text) + bias, of vectors of length 1 */
    vit_scoring scoring; /* softmax over the labels, or sigmoid of each */
} vit_text_encoder;

/* Loads the text encoder of a model, beside whose weights config and tokenizer lie. wanted->config:
 * as for vit_model_file_open; wanted->packs is needed. *out is freed by vit_text_encoder_clear,
 * also after a failure. Errors: UNSUPPORTED for a model without one; IO if there is no tokenizer;
 * MISMATCH for tensors, a config or a tokenizer of different models; those of reading and MEMORY.
 */
vit_status vit_text_encoder_load(vit_text_encoder *out, vit_opened *opened,
                                 const vit_wanted *wanted, vit_error *error);

/* Whether the model is one of two encoders, without a classifier, so that words can be its classes.
 * config: as in vit_wanted. False also for what cannot be read. */
bool vit_text_encoder_is_in(vit_opened *opened, const char *config);

void vit_text_encoder_clear(vit_text_encoder *encoder);

/* The ids of a text, with what its embedding is read from; ids.ids is freed by vit_free. *cut: it
 * had more tokens than the encoder reads. Errors: those of vit_tokenizer_encode, MISMATCH. */
vit_status vit_text_encoder_encode(vit_text_ids *out, bool *cut, const vit_text_encoder *encoder,
                                   const char *text, size_t length, vit_error *error);

#endif
