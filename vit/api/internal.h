/* The structures behind the opaque types of vit/vit.h. */
#ifndef VIT_API_INTERNAL_H
#define VIT_API_INTERNAL_H

#include "vit/explain/explainer.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/model/infer.h"
#include "vit/report/answers.h"
#include "vit/weights/model_file.h"

/* A network whose linear weights were rounded from those of a model in f32. */
typedef struct vit_rounded {
    vit_network network;
    float *packed;
} vit_rounded;

struct vit_model {
    vit_model_file file; /* linear weights are only in file.packed, in the precision of the model */
    vit_network network; /* of that precision */
    _Atomic(vit_rounded *) rounded; /* of a model in f32: its network in bf16, made for the first
                                       session that wants it; or NULL */
    char *config, *preprocessing;   /* JSON, for vit_model_describe */
    char **numbers;                 /* ["0", "1", ...], one block, when file.labels is NULL */
};

struct vit_session {
    const vit_model *model;
    const vit_kernels *kernels;
    vit_inference *inference;
    vit_explainer *explainer; /* or NULL: no map has been asked for */
    int threads;
    float table[3][256]; /* normalised value of a byte, per channel */
    float *features;     /* [vit_config_features] of the last picture */
    const char *warning; /* about that picture, or NULL */
    bool answered;
};

/* Decodes and prepares a picture; *ready is freed by vit_image_free. From any thread. */
vit_status vit_model_prepare(vit_image *ready, const vit_model *model, const vit_kernels *kernels,
                             const vit_picture *picture, vit_error *error);

/* The model's temperature; 1 where its file gives none. */
double vit_model_temperature(const vit_model *model);

/* Makes a model from *file, whose linear weights are packed. Takes ownership of *file and clears
 * it, on failure, too. */
vit_status vit_model_from_file(vit_model **out, vit_model_file *file, vit_error *error);

/* The model's network in the exec's precision, for sessions: they share it, and the model frees it.
 * ARGUMENT for f32 of a model that was opened for bf16. From any thread. */
vit_status vit_model_network(const vit_network **out, const vit_model *model, const vit_exec *exec,
                             vit_error *error);

/* Does what vit_evaluate does, and calls `seen` (or NULL) with the answers while the data are still
 * open. */
typedef vit_status vit_answers_seen(const vit_answers *answers, void *context, vit_error *error);
vit_status vit_evaluate_seen(const vit_model *model, const vit_evaluate_options *options,
                             vit_evaluation *result, vit_answers_seen *seen, void *context,
                             vit_error *error);

/* MISMATCH for a model that names classes where one that writes texts is wanted, and the other way
 * round. */
vit_status vit_model_needs(const vit_model *model, bool writes, vit_error *error);

/* The kernels that an option asks for; NULL: the best. ARGUMENT for what is no instruction set. */
vit_status vit_choose_kernels(const vit_kernels **kernels, const char *cpu, vit_error *error);

/* The same with the number of threads: 0 is all, and never more than there are processors. ARGUMENT
 * also for other numbers, and for a precision that the kernels do not have. */
vit_status vit_choose(const vit_kernels **kernels, int *count, const char *cpu, int threads,
                      vit_precision precision, vit_error *error);

#endif
