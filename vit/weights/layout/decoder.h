/* Hugging Face's VisionEncoderDecoder, an encoder of pictures and a decoder that writes texts: what
 * config.json and generation_config.json declare about the decoder and about writing. */
#ifndef VIT_WEIGHTS_LAYOUT_DECODER_H
#define VIT_WEIGHTS_LAYOUT_DECODER_H

#include "vit/model/run/generate.h"
#include "vit/weights/configs/their_config.h"
#include "vit/weights/layout/layout.h"

typedef struct vit_decoder_facts {
    vit_stack decoder;
    bool ties; /* without a head in the file, the head's weight is the table of ids */
    vit_generation writing;
    const char *layout; /* the name of the layout of the decoder's tensors */
} vit_decoder_facts;

/* Whether it is the config.json of an encoder-decoder. */
bool vit_is_encoder_decoder(const json_t *object);

/* object: config.json; generation: generation_config.json, whose path is generation_name; NULL:
 * config.json has its keys, as in files from before there was a second one. d: filled from the
 * encoder's config; what differs in an encoder, which has no classifier, is changed. Errors:
 * UNSUPPORTED, naming the key, for a decoder, or a way of writing, that vit/model does not have;
 * FORMAT, MISMATCH, MEMORY. */
vit_status vit_read_decoder_config(vit_decoder_facts *out, vit_their_config *d,
                                   const json_t *object, const json_t *generation,
                                   const char *generation_name, vit_error *error);

/* Completes *config, whose encoder is filled: the decoder as declared, and what its tensors show.
 * MISMATCH for tensors of another decoder. */
vit_status vit_complete_decoder(vit_config *config, const vit_decoder_facts *reader,
                                const vit_their_config *d, const vit_binding *decoder,
                                vit_error *error);

#endif
