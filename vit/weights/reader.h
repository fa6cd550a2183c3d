/* Hugging Face's VisionEncoderDecoder: an encoder of pictures and a decoder that writes. What their
 * config.json says of the decoder, and how texts are written with it. */
#ifndef VIT_WEIGHTS_READER_H
#define VIT_WEIGHTS_READER_H

#include "vit/model/write.h"
#include "vit/weights/declared.h"
#include "vit/weights/layout.h"

typedef struct vit_reader {
    vit_decoder_config decoder;
    bool ties; /* the head is the table of ids, where the file has none */
    vit_writing writing;
    const char *layout; /* of the decoder's tensors */
} vit_reader;

/* Whether a config.json is one of an encoder-decoder. */
bool vit_is_reader(const json_t *object);

/* object: config.json; generation: generation_config.json, called `generation_name`, or NULL: the
 * config says that, too, as it did before there were such files. d has been filled by the encoder's
 * config; here it becomes one of an encoder. UNSUPPORTED, naming the key, for a decoder or a way of
 * writing that is none of ours. */
vit_status vit_declare_reader(vit_reader *out, vit_declared *d, const json_t *object,
                              const json_t *generation, const char *generation_name,
                              vit_error *error);

/* The network's config, whose encoder is filled, and how it writes, with what the tensors of the
 * decoder show. MISMATCH for the tensors of another decoder. */
vit_status vit_reader_config(vit_config *config, const vit_reader *reader, const vit_declared *d,
                             const vit_binding *decoder, vit_error *error);

#endif
