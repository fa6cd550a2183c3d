/* Cross-entropy of softmax(logits) with label smoothing (Szegedy et al.: Rethinking the Inception
 * Architecture, eq. 3): the target is 1 - smoothing for the label, plus smoothing / classes for
 * every class. Computed in double: the figures of a training must not depend on a processor. */
#ifndef VIT_OPS_LOSS_H
#define VIT_OPS_LOSS_H

#include <stddef.h>
#include <stdint.h>

/* One picture: returns its loss; d_logits = weight * (softmax(logits) - target), NULL: not wanted.
 * weight: 1 / pictures of a batch. */
double vit_cross_entropy(float *d_logits, const float *logits, size_t classes, size_t label,
                         double smoothing, double weight);

/* What a picture shows that was mixed of two: 1 - share of `label`, share of `other`. */
typedef struct vit_mixed_label {
    size_t label, other;
    double share; /* 0..1 */
} vit_mixed_label;

/* The same for a mixed picture: the target is what it shows times 1 - smoothing, plus smoothing /
 * classes for every class. */
double vit_cross_entropy_mixed(float *d_logits, const float *logits, size_t classes,
                               const vit_mixed_label *label, double smoothing, double weight);

/* What a teacher answers to a picture, its logits [classes]; of a mixed picture whose parts it was
 * shown apart, `other` is its answer to the other part, of that share in the target; else NULL. */
typedef struct vit_taught {
    const float *logits, *other;
    double share;
} vit_taught;

/* Distillation (Hinton, Vinyals, Dean: Distilling the Knowledge in a Neural Network): returns
 * T^2 KL(target || softmax(logits / T)), where the target is softmax(the teacher's logits / T);
 * d_logits += weight * T * (softmax(logits / T) - target). */
double vit_distillation(float *d_logits, const float *logits, size_t classes,
                        const vit_taught *taught, double temperature, double weight);

/* probabilities = softmax(logits), [classes] each; may be one array. */
void vit_softmax(float *probabilities, const float *logits, size_t classes);

/* probabilities = softmax(logits / temperature); the same at 1. */
void vit_softmax_at(float *probabilities, const float *logits, size_t classes, double temperature);

/* That of one class alone, in double. */
double vit_softmax_one(const float *logits, size_t classes, size_t index, double temperature);

#endif
