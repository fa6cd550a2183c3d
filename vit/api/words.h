/* What the files of vit/api share about towers of texts. */
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

/* What the guest does that has text encoders; of the list `guests`. */
typedef struct vit_words_guest {
    /* *wanted: the labels are the classes, in words, of the model at `path`, which has a tower of
     * texts and no classes of its own; *out: the head that compares pictures with them. ARGUMENT,
     * naming it, for a label that is empty or given twice, for a template without {}, and for
     * templates without such labels; else as vit_embedder_load and vit_embed_texts. */
    vit_status (*head)(vit_word_head *out, bool *wanted, const char *path,
                       const vit_word_labels *labels, vit_error *error);
} vit_words_guest;

extern const vit_words_guest *const vit_text_encoders; /* NULL: there is none */

/* The same; without the guest no labels are wanted, and templates are refused. path NULL: the model
 * is in memory, and no labels are wanted. *out is freed by vit_word_head_clear, also after a
 * failure. */
vit_status vit_word_head_new(vit_word_head *out, bool *wanted, const char *path,
                             const vit_word_labels *labels, vit_error *error);
void vit_word_head_clear(vit_word_head *head);

#endif
