/* Classes in words, which a guest makes a head of. */
#include "vit/api/prompts.h"
#include "vit/base/guests.h"
#include "vit/base/sys.h"

vit_status vit_prompt_head_new(vit_prompt_head *out, bool *wanted, vit_opened *opened,
                               const vit_prompt_labels *labels, vit_error *error) {
    char guest[VIT_GUEST_TEXT];
    *out = (vit_prompt_head){0};
    *wanted = false;
    if (vit_text_encoders) return vit_text_encoders->head(out, wanted, opened, labels, error);
    if (labels->template_count == 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_ARGUMENT, "a template is for labels in words%s",
                    vit_guests_for(guest, "vit_text_encoders"));
}

void vit_prompt_head_clear(vit_prompt_head *h) {
    vit_free(h->labels);
    vit_free(h->rows);
    vit_free(h->templates);
    *h = (vit_prompt_head){0};
}
