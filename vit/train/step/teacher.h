/* Distillation (Hinton, Vinyals, Dean: Distilling the Knowledge in a Neural Network): besides the
 * labels, the network learns what another model, the teacher, answers. The teacher is either a
 * model, which is asked about each picture as it was augmented, or a file of logits, one row for
 * each training picture, computed before augmentation. */
#ifndef VIT_TRAIN_STEP_TEACHER_H
#define VIT_TRAIN_STEP_TEACHER_H

#include "datasets/dataset.h"
#include "vit/model/run/network.h"
#include "vit/text/match.h"
#include "vit/weights/file/model_file.h"

typedef struct vit_teacher {
    bool answers;        /* it is a model */
    bool stored;         /* it is a file of logits; both false: there is no teacher */
    vit_model_file file; /* the model, whose weights the network views */
    vit_network network;
    vit_match match;        /* of the data's classes, each of which a model knows */
    bool normalises;        /* its pictures are normalised in another way than the data, */
    float scale[3], add[3]; /* as value * scale + add, per channel */
    float *logits;          /* [training pictures][classes]; owned */
    char sha256[65];        /* of the file; "": there is no teacher */
} vit_teacher;

/* path: NAME.npy of float32 or float64, [training pictures][classes], in the data's order; or a
 * model, for pictures of the data's size, in any form that vit_model_file_open reads. MISMATCH if
 * it does not know, by name, each of the data's classes; it may know more. */
vit_status vit_teacher_open(vit_teacher *out, const char *path, const vit_dataset *data,
                            const vit_kernels *kernels, vit_error *error);
void vit_teacher_close(vit_teacher *teacher); /* a zeroed one may be closed */

/* Brings a model's logits, [count][its classes], to the data's classes in their order, [count][the
 * data's classes], in the same array. row: scratch, [the data's classes]. */
void vit_teacher_order(const vit_teacher *teacher, float *logits, float *row, size_t count);

/* Images that are normalised as the data are -> as the teacher's are. Both [count][height][width]
 * [channels]; they may be the same array. */
void vit_teacher_normalise(const vit_teacher *teacher, float *to, const float *images,
                           size_t count);

#endif
