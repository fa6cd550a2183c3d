/* The network of the lecture, models/presets/lecture.json, one formula after the other: a picture
 * goes forward, its loss goes backward, and AdamW makes a step. Every matrix stays in memory under
 * the symbol of the lecture, and numbers can be changed: what follows from them is then computed
 * again. All numbers are to the bit those of vit_network_forward, vit_network_backward and of a
 * step of vit_trainer_step whose batch is this picture.
 *
 *     vit_lecture_new(&lecture, &model, error);
 *     vit_lecture_show(lecture, pixels, label);
 *     vit_lecture_run(lecture);                           // forward and backward
 *     for (size_t i = 0; i < vit_lecture_count(lecture); i++)
 *         print(vit_lecture_matrix_at(lecture, i));
 *
 * One thread uses a lecture at a time. */
#ifndef VIT_LECTURE_LECTURE_H
#define VIT_LECTURE_LECTURE_H

#include "vit/weights/file/model_file.h"

typedef enum vit_lecture_pass {
    VIT_LECTURE_GIVEN, /* the picture and the weights */
    VIT_LECTURE_FORWARD,
    VIT_LECTURE_BACKWARD,
    VIT_LECTURE_STEP,
    VIT_LECTURE_PASS_COUNT,
} vit_lecture_pass;

#define VIT_LECTURE_OPERANDS 6

/* A matrix that another one is computed from. */
typedef struct vit_lecture_operand {
    size_t index;
    bool transposed;
} vit_lecture_operand;

/* Element (i, j) of head h is values[h * head + i * row + j * column]. A linear layer's W is as the
 * lecture writes it, [in][out]. */
typedef struct vit_lecture_matrix {
    char symbol[16];     /* "W^Q"; with its number where the lecture has one: "z_2", "z'_2" */
    const char *formula; /* "X W^Q"; NULL: it is given */
    vit_lecture_pass pass;
    size_t block; /* 0: before the blocks; 1 .. depth; depth + 1: after them */
    size_t heads, rows, columns;
    size_t head, row, column;
    float *values;
    size_t operand_count, products; /* the first 2 * products operands are multiplied in pairs */
    vit_lecture_operand operands[VIT_LECTURE_OPERANDS]; /* in the order of the formula */
    bool is_fixed; /* its numbers cannot be changed: they are not read again, or are others' */
} vit_lecture_matrix;

typedef struct vit_lecture vit_lecture;

/* model: of the preset "lecture", with its weights among its values; it is not needed any longer
 * afterwards. Freed by vit_lecture_free, which takes NULL. Errors: UNSUPPORTED for another network,
 * MEMORY. */
vit_status vit_lecture_new(vit_lecture **out, const vit_model_file *model, vit_error *error);
void vit_lecture_free(vit_lecture *lecture);

/* The next run is of this picture: pixels: [28][28], white on black; and of this label. Changes of
 * single numbers are forgotten. */
void vit_lecture_show(vit_lecture *lecture, const uint8_t *pixels, size_t label);

/* The forward and the backward pass. */
void vit_lecture_run(vit_lecture *lecture);

/* A step of AdamW with the gradients of the last run, as the preset says, at learning rate lr: the
 * weights change. The matrices of the pass STEP show it; the others stay until the next run. */
void vit_lecture_step(vit_lecture *lecture, double lr);

/* The weights of the model, no moments, no changed numbers. */
void vit_lecture_reset(vit_lecture *lecture);

/* All matrices, in the order in which they are computed. */
size_t vit_lecture_count(const vit_lecture *lecture);
const vit_lecture_matrix *vit_lecture_matrix_at(const vit_lecture *lecture, size_t index);

/* The matrix of that symbol of a block; NULL: there is none. Of a symbol that several passes have,
 * such as a weight before and after the step, the first. */
const vit_lecture_matrix *vit_lecture_find(const vit_lecture *lecture, size_t block,
                                           const char *symbol);

/* From the next run on this element has this value, whatever it is computed from; its gradient goes
 * on as if it were computed. ARGUMENT if there is no such element, or its matrix is fixed; MEMORY.
 */
vit_status vit_lecture_set(vit_lecture *lecture, size_t index, size_t head, size_t i, size_t j,
                           float value, vit_error *error);

/* to: [heads][rows][columns] */
void vit_lecture_copy(const vit_lecture_matrix *matrix, float *to);

/* Attention of a block from its Q, K and V of the last run, by the operator of the library:
 * heads: [T][D], side by side, softmax(Q K^T / sqrt(width)) V, where width is that of a head or,
 * whole_width, D; causal: with the mask of a decoder. Borrowed until the next call. */
const float *vit_lecture_attend(vit_lecture *lecture, size_t block, bool whole_width, bool causal);

#endif
