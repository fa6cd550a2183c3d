#include "vit/model/run/text_features.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include <string.h>

/* A run: the texts, in slices, and where their embeddings go. */
typedef struct reading {
    const vit_text_ids *texts;
    float *embeddings;
    size_t width;
    size_t *starts; /* [slices + 1] the first text of each slice */
    size_t slices;
} reading;

static vit_status give_ids(float *images, vit_ids *sources, vit_ids *targets, size_t first,
                           size_t count, void *context, vit_error *error) {
    const reading *r = context;
    (void)images, (void)targets, (void)error;
    for (size_t i = 0; i < count; i++) sources[i] = r->texts[first + i].ids;
    return VIT_OK;
}

/* Of each text the head's row of its token. */
static void take_rows(const vit_state *state, size_t first, size_t count, void *context) {
    const reading *r = context;
    for (size_t i = 0; i < count; i++) {
        const size_t row = state->text.spans[i].query + r->texts[first + i].token;
        memcpy(r->embeddings + (first + i) * r->width, state->head.logits + row * r->width,
               r->width * sizeof(float));
    }
}

/* Puts texts into slices of at most `rows` tokens, in order. */
static void cut(reading *r, size_t count, size_t rows) {
    size_t held = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t tokens = r->texts[i].ids.count;
        if (i == 0 || held + tokens > rows) {
            r->starts[r->slices++] = i;
            held = 0;
        }
        held += tokens;
    }
    r->starts[r->slices] = count;
}

vit_status vit_text_features(vit_inference *run, const vit_config *config, float *embeddings,
                             const vit_text_ids *texts, size_t count, vit_error *error) {
    reading r = {.texts = texts, .embeddings = embeddings, .width = config->classes};
    size_t tokens = 0, longest = 1;
    if (count == 0) return VIT_OK;
    r.starts = vit_alloc(count + 1, sizeof *r.starts);
    if (!r.starts) return vit_fail_memory(error, "a list of texts", count * sizeof *r.starts);
    for (size_t i = 0; i < count; i++) {
        tokens += texts[i].ids.count;
        longest = vit_max(longest, texts[i].ids.count);
    }
    const size_t share = vit_ceil_div(tokens, (size_t)vit_inference_threads(run));
    cut(&r, count, vit_min(vit_inference_capacity(run), vit_max(longest, share)));
    const vit_status status =
        vit_inference_visit_slices(run, give_ids, take_rows, &r, r.starts, r.slices, error);
    vit_free(r.starts);
    return status;
}
