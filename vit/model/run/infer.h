/* Logits of any number of pictures, on several threads: each thread takes slices of a large batch;
 * where there are fewer pictures than threads, the threads share the work inside each operator
 * instead. The results are the same to the bit. */
#ifndef VIT_MODEL_RUN_INFER_H
#define VIT_MODEL_RUN_INFER_H

#include "vit/model/run/network.h"

typedef struct vit_inference vit_inference;

/* Supplies the pictures first .. first + count - 1, normalised, images:
 * [count][height][width][channels]. Called from several threads at once. */
typedef vit_status vit_image_source(float *images, size_t first, size_t count, void *context,
                                    vit_error *error);

/* The network is borrowed; freed by vit_inference_free, which takes NULL. One caller at a time.
 * Errors: MEMORY. */
vit_status vit_inference_new(vit_inference **out, const vit_network *network,
                             const vit_kernels *kernels, int threads, vit_error *error);
void vit_inference_free(vit_inference *inference);

/* Features of a picture: F, or where nothing is pooled, T D. */
size_t vit_inference_width(const vit_config *config);

/* logits: [count][classes], NULL for an encoder that pools nothing and has no head; features:
 * [count][width], what the head sees, or NULL. Allocates only in
 * the first calls. Errors: MEMORY, and whatever the source returns, which ends the run. */
vit_status vit_inference_run(vit_inference *inference, float *logits, float *features,
                             vit_image_source *source, void *context, size_t count,
                             vit_error *error);

/* The same for networks with a decoder, teacher-forced (vit_network_forward). The source also sets
 * the texts that the two stacks are given, sources and targets: [count]. After the forward pass of
 * a slice, visit is given the state of its samples first .. first + count - 1. Both are called from
 * several threads at once. */
typedef vit_status vit_sample_source(float *images, vit_ids *sources, vit_ids *targets,
                                     size_t first, size_t count, void *context, vit_error *error);
typedef void vit_visit(const vit_state *state, size_t first, size_t count, void *context);
vit_status vit_inference_visit(vit_inference *inference, vit_sample_source *source,
                               vit_visit *visit, void *context, size_t count, vit_error *error);

/* The same for a text encoder (config.tower), whose slices differ: slice s has the samples
 * starts[s] .. starts[s + 1] - 1, whose texts have at most vit_inference_capacity tokens together.
 */
vit_status vit_inference_visit_slices(vit_inference *inference, vit_sample_source *source,
                                      vit_visit *visit, void *context, const size_t *starts,
                                      size_t slices, vit_error *error);
int vit_inference_threads(const vit_inference *inference);
size_t vit_inference_capacity(const vit_inference *inference);

/* Fails with FORMAT: an answer is NaN or infinite. where: "", or which part of it, " (logit 0 is
 * NaN)".
 */
vit_status vit_fail_answer(vit_error *error, const char *where);

/* FORMAT, naming the first, if any of logits: [classes] and features: [width], which may be NULL,
 * is NaN or infinite: finite weights can have sums beyond the largest float. Every answer that
 * leaves the library is checked here. */
vit_status vit_check_answer(const float *logits, size_t classes, const float *features,
                            size_t width, vit_error *error);

#endif
