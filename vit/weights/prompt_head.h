/* Words as classes: the rows of the head "cosine" of a network whose pictures are compared with
 * texts. */
#ifndef VIT_WEIGHTS_PROMPT_HEAD_H
#define VIT_WEIGHTS_PROMPT_HEAD_H

#include "vit/base/error.h"
#include "vit/vit.h"

typedef struct vit_prompt_head {
    char **labels; /* [count], one block, owned: vit_free */
    float *rows;   /* [count][width], owned: logit_scale times the texts, of length 1 */
    size_t count, width;
    float bias; /* of every class, with has_bias */
    bool has_bias;
    vit_scoring scoring;
    char **templates; /* [template_count], one block, owned, for the recipe */
    size_t template_count;
} vit_prompt_head;

#endif
