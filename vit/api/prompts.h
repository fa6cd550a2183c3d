/* What the files of vit/api share about class prompts. */
#ifndef VIT_API_PROMPTS_H
#define VIT_API_PROMPTS_H

#include "vit/vit.h"
#include "vit/weights/file/open.h"
#include "vit/weights/prompt_head.h"

typedef struct vit_templates {
    const char *const *texts; /* [count] */
    size_t count;
} vit_templates;

typedef struct vit_prompt_labels {
    const char *labels; /* as in vit_model_options */
    const char *const *templates;
    size_t template_count;
    const char *config, *emulate, *cpu;
} vit_prompt_labels;

/* What the guest does that has text encoders; of the list `guests`. */
typedef struct vit_prompts_guest {
    /* *wanted: the labels are the classes, in words, of the model, which has an encoder of texts
     * and no classes of its own; *out: the head that compares pictures with them. ARGUMENT,
     * naming it, for a label that is empty or given twice, for a template without {}, and for
     * templates without such labels; else as vit_embedder_load and vit_embed_texts. */
    vit_status (*head)(vit_prompt_head *out, bool *wanted, vit_opened *opened,
                       const vit_prompt_labels *labels, vit_error *error);
} vit_prompts_guest;

extern const vit_prompts_guest *const vit_text_encoders; /* NULL: there is none */

/* The same; without the guest, or of a model in memory, no labels are wanted, and templates are
 * refused. *out is freed by vit_prompt_head_clear, also after a failure. */
vit_status vit_prompt_head_new(vit_prompt_head *out, bool *wanted, vit_opened *opened,
                               const vit_prompt_labels *labels, vit_error *error);
void vit_prompt_head_clear(vit_prompt_head *head);

#endif
