/* The text encoder of published CLIP and SigLIP models, with its tokenizer: texts -> embeddings
 * that are compared with those of pictures. */
#ifndef VIT_WEIGHTS_TEXT_TOWER_H
#define VIT_WEIGHTS_TEXT_TOWER_H

#include "vit/model/run/tower.h"
#include "vit/weights/configs/text_tower.h"
#include "vit/weights/published.h"

typedef struct vit_text_tower {
    vit_model_file file; /* config, table, values and packed weights of the tower, tokenizer */
    vit_text_facts facts;
    double scale, bias;  /* logit = scale * (picture . text) + bias, of vectors of length 1 */
    vit_scoring scoring; /* softmax over the labels, or sigmoid of each */
} vit_text_tower;

/* Loads the tower of the model at `path`, a directory or a file of weights beside which config and
 * tokenizer lie. wanted->config: as for vit_model_file_open; wanted->packs is needed. *out is freed
 * by vit_text_tower_clear, also after a failure. Errors: UNSUPPORTED for a model without such a
 * tower; IO if there is no tokenizer; MISMATCH for tensors, a config or a tokenizer of different
 * models; those of reading and MEMORY. */
vit_status vit_text_tower_load(vit_text_tower *out, const char *path, const vit_wanted *wanted,
                               vit_error *error);
/* Whether the model at `path` is one of two encoders, without a classifier, so that words can be
 * its classes. config: as in vit_wanted. False also for what cannot be read. */
bool vit_text_tower_is_at(const char *path, const char *config);

void vit_text_tower_clear(vit_text_tower *tower);

/* The ids of a text, with what its embedding is read from; ids.ids is freed by vit_free. *cut: it
 * had more tokens than the tower reads. Errors: those of vit_tokenizer_encode, MISMATCH. */
vit_status vit_text_tower_encode(vit_tower_text *out, bool *cut, const vit_text_tower *tower,
                                 const char *text, size_t length, vit_error *error);

#endif
