/* Distillation (Hinton, Vinyals, Dean: Distilling the Knowledge in a Neural Network): what another
 * model, the teacher, answers is learnt beside the labels. Its answers come from the model itself,
 * which sees each picture as it is augmented, or from a file of logits, one row a training picture,
 * which it gave to the pictures as they are. */
#ifndef VIT_TRAIN_STEP_TEACHER_H
#define VIT_TRAIN_STEP_TEACHER_H

#include "datasets/dataset.h"
#include "vit/model/network.h"
#include "vit/weights/model_file.h"

typedef struct vit_teacher {
    bool answers, stored; /* a model, or stored logits; both false: there is no teacher */
    vit_model_file file;  /* of a model, whose weights the network has */
    vit_network network;
    bool normalises;        /* its pictures are normalised in another way than the data: */
    float scale[3], add[3]; /* it sees value * scale + add, one per channel */
    float *logits;          /* stored: [training pictures][classes] */
    char sha256[65];        /* of the file; "": there is no teacher */
} vit_teacher;

/* path: a file NAME.npy of float32 or float64, [pictures of the training part][classes], in the
 * data's order; or a model as vit_published_load takes it, for pictures of the data's size.
 * MISMATCH where its classes, or their names, are not those of the data. */
vit_status vit_teacher_open(vit_teacher *out, const char *path, const vit_dataset *data,
                            const vit_kernels *kernels, vit_error *error);
void vit_teacher_close(vit_teacher *teacher); /* takes one that is zeroed */

/* images [count][height][width][channels], normalised as the data are, as the teacher wants them;
 * may be one array. */
void vit_teacher_normalise(const vit_teacher *teacher, float *to, const float *images,
                           size_t count);

#endif
