/* What the files of vit/api share about text encoders. */
#ifndef VIT_API_WORDS_H
#define VIT_API_WORDS_H

#include "vit/vit.h"
#include "vit/weights/word_head.h"

typedef struct vit_templates {
    const char *const *texts; /* [count] */
    size_t count;
} vit_templates;

typedef struct vit_word_labels {
    const char *labels; /* as in vit_model_options */
    const char *const *templates;
    size_t template_count;
    const char *config, *emulate, *cpu;
} vit_word_labels;

/* *wanted: the labels are the classes, in words, of the model at `path`, which has a text encoder
 * and no classes of its own. path NULL: the model is in memory. ARGUMENT for templates that are
 * none of such a model. */
vit_status vit_words_wanted(bool *wanted, const char *path, const vit_word_labels *labels,
                            vit_error *error);

/* The head that compares pictures with these labels. Freed by vit_word_head_clear, also after a
 * failure. ARGUMENT, naming it, for a label that is empty or given twice, and for a template
 * without {}; else as vit_embedder_load and vit_embed_texts. */
vit_status vit_word_head_make(vit_word_head *out, const char *path, const vit_word_labels *labels,
                              vit_error *error);
void vit_word_head_clear(vit_word_head *head);

#endif
