/* Logits of any number of pictures, spread over threads: slices of a large batch each on a thread
 * of their own; tiles and heads inside the operators when there are fewer pictures than threads.
 * The bytes are the same either way. */
#ifndef VIT_MODEL_INFER_H
#define VIT_MODEL_INFER_H

#include "vit/model/network.h"

typedef struct vit_inference vit_inference;

/* Puts pictures first .. first + count - 1 into images: [count][height][width][channels],
 * normalised. Called from several threads at once. */
typedef vit_status vit_image_source(float *images, size_t first, size_t count, void *context,
                                    vit_error *error);

/* The network is borrowed. One caller at a time. */
vit_status vit_inference_new(vit_inference **out, const vit_network *network,
                             const vit_kernels *kernels, int threads, vit_error *error);
void vit_inference_free(vit_inference *inference);

/* logits: [count][classes]; features: [count][vit_config_features] (what the head sees), or NULL.
 * Allocates nothing after the first calls. An error of the source ends the run. */
vit_status vit_inference_run(vit_inference *inference, float *logits, float *features,
                             vit_image_source *source, void *context, size_t count,
                             vit_error *error);

/* The same of networks with a decoder, teacher-forced. The source of samples also sets sources and
 * targets: [count], the texts that the two stacks are given; visit then sees the state of samples
 * first .. first + count - 1, those of a slice, after the forward pass. Both are called from
 * several threads at once. */
typedef vit_status vit_text_source(float *images, vit_ids *sources, vit_ids *targets, size_t first,
                                   size_t count, void *context, vit_error *error);
typedef void vit_visit(const vit_state *state, size_t first, size_t count, void *context);
vit_status vit_inference_visit(vit_inference *inference, vit_text_source *source, vit_visit *visit,
                               void *context, size_t count, vit_error *error);

/* FORMAT: an answer, or the part of it that `where` names in brackets, is no number. */
vit_status vit_fail_answer(vit_error *error, const char *where);

/* FORMAT, naming the first that is none, unless the logits [classes] and features [width], which
 * may be NULL, of an answer are all numbers. Weights that are can lead to sums that are not: what
 * is NaN or infinite has no place among answers. Every answer that leaves the library went through
 * here. */
vit_status vit_check_answer(const float *logits, size_t classes, const float *features,
                            size_t width, vit_error *error);

#endif
