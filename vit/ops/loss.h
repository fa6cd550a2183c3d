/* Cross-entropy of softmax(logits) with label smoothing (Szegedy et al.: Rethinking the Inception
 * Architecture, section 7): the target is 1 - smoothing for the label, plus smoothing / classes for
 * every class. Computed in double with functions of our own (vit/base/math.h), so that it is the
 * same on every processor. */
#ifndef VIT_OPS_LOSS_H
#define VIT_OPS_LOSS_H

#include "vit/base/error.h"
#include <stddef.h>
#include <stdint.h>

/* Returns the loss of one picture; d_logits = weight * (softmax(logits) - target) unless it is
 * NULL. logits, d_logits: [classes]; weight: 1 / pictures in the batch. */
double vit_cross_entropy(float *d_logits, const float *logits, size_t classes, size_t label,
                         double smoothing, double weight);

/* The labels of a picture mixed of two: `label` with weight 1 - share, `other` with weight share.
 */
typedef struct vit_mixed_label {
    size_t label, other;
    double share; /* 0..1 */
} vit_mixed_label;

/* The same for a mixed picture: the target is those weights times 1 - smoothing, plus smoothing /
 * classes for every class. */
double vit_cross_entropy_mixed(float *d_logits, const float *logits, size_t classes,
                               const vit_mixed_label *label, double smoothing, double weight);

/* The classes of a picture that may have several, or none: numbers, [count]; of one mixed of two
 * with weights 1 - share and share. */
typedef struct vit_class_lists {
    const uint32_t *classes, *others;
    size_t count, other_count;
    double share; /* 0..1 */
} vit_class_lists;

/* The mean over the classes of the binary cross-entropy of sigmoid(logits), as by PyTorch's
 * BCEWithLogitsLoss: the target of a class is its weight in the lists, times 1 - smoothing, plus
 * smoothing / 2. d_logits = weight * (sigmoid(logits) - target) / classes unless it is NULL. */
double vit_binary_cross_entropy(float *d_logits, const float *logits, size_t classes,
                                const vit_class_lists *lists, double smoothing, double weight);

/* A teacher's logits for a picture, [classes]. If the picture is mixed of two that the teacher saw
 * one by one, `logits` and `other` are its logits for the two, with weights 1 - share and share in
 * the target; else `other` is NULL. */
typedef struct vit_taught {
    const float *logits, *other;
    double share;
} vit_taught;

/* Distillation (Hinton, Vinyals, Dean: Distilling the Knowledge in a Neural Network, section 2)
 * with temperature T: returns T^2 KL(target || softmax(logits / T)), where the target is
 * softmax(the teacher's logits / T); d_logits += weight * T * (softmax(logits / T) - target). */
double vit_distillation(float *d_logits, const float *logits, size_t classes,
                        const vit_taught *taught, double temperature, double weight);

/* probabilities = softmax(logits): [classes]; may be the same array. */
void vit_softmax(float *probabilities, const float *logits, size_t classes);

/* probabilities = softmax(logits / temperature), which at 1 gives the same bits as vit_softmax. */
void vit_softmax_at(float *probabilities, const float *logits, size_t classes, double temperature);

/* softmax(logits / temperature) of one class, in double. */
double vit_softmax_one(const float *logits, size_t classes, size_t index, double temperature);

/* What the scoring makes of logits, [classes], may be the same array; and of one of them. */
void vit_scores(float *scores, const float *logits, size_t classes, double temperature,
                vit_scoring scoring);
double vit_score_one(const float *logits, size_t classes, size_t index, double temperature,
                     vit_scoring scoring);

#endif
