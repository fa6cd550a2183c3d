/* The structures behind the opaque types of vit/vit.h, and what the files of vit/api share. */
#ifndef VIT_API_INTERNAL_H
#define VIT_API_INTERNAL_H

#include "datasets/answers.h"
#include "datasets/dataset.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/model/run/infer.h"
#include "vit/weights/file/model_file.h"

/* A network with linear weights that were converted from those of a model in f32. */
typedef struct vit_rounded {
    vit_network network;
    float *packed;
} vit_rounded;

struct vit_model {
    vit_model_file file; /* linear weights are only packed, in the model's precision */
    vit_network network; /* views of them */
    /* its networks in other precisions, each made when it is first asked for; or NULL */
    _Atomic(vit_rounded *) rounded[VIT_PRECISION_COUNT];
    char *config, *preprocessing; /* JSON, for vit_model_describe */
    char **numbers;               /* ["0", "1", ...], one block, where file.labels is NULL */
};

struct vit_session {
    const vit_model *model;
    const vit_kernels *kernels;
    const vit_network *network; /* the model's, in the session's precision */
    vit_inference *inference;
    vit_network *token_network; /* for vit_embed_tokens: it without pooling and head; or NULL */
    vit_inference *tokens;
    struct vit_explainer *explainer; /* made for the first map by a guest, */
    void (*explainer_free)(struct vit_explainer *explainer); /* which frees it; or NULL */
    int threads;
    float table[3][256]; /* [channel][byte]: its normalised value */
    float *features;     /* [F] of the last picture */
    const char *warning; /* about that picture, or NULL */
    bool answered;       /* there is a last picture */
};

/* Decodes a picture and prepares it as the model asks; *ready is freed by vit_image_free.
 * UNSUPPORTED, before a pixel is decoded, for a file of more than most_pixels (0: any number). Any
 * thread may call it. */
vit_status vit_model_prepare(vit_image *ready, const vit_model *model, const vit_kernels *kernels,
                             const vit_picture *picture, size_t most_pixels, vit_error *error);

/* How the model writes texts by these options. */
struct vit_text_options;
vit_generation vit_model_writing(const vit_model *model, const struct vit_text_options *options);

/* The model's temperature; 1 where its file gives none. */
double vit_model_temperature(const vit_model *model);

/* Makes a model of *file, whose linear weights are packed. *file then belongs to the model and is
 * cleared, also on failure. */
vit_status vit_model_from_file(vit_model **out, vit_model_file *file, vit_error *error);

/* The model's network in the exec's precision, made when first needed. All sessions share it; the
 * model frees it. ARGUMENT if the model was opened for another precision than this one and f32;
 * but of one in INT8 there is one in F32, with the rounded weights, for maps. Any thread may call
 * it. */
vit_status vit_model_network(const vit_network **out, const vit_model *model, const vit_exec *exec,
                             vit_error *error);

/* What computes with the model, by the options of a session: *exec, and *network in its precision.
 * The errors of vit_choose and vit_model_network. */
vit_status vit_model_exec(vit_exec *exec, const vit_network **network, const vit_model *model,
                          const char *cpu, int threads, vit_precision asked, vit_bf16 bf16,
                          vit_error *error);

/* As vit_evaluate, and calls `callback` (or NULL) once with all answers, while the data are still
 * open. An error that it returns is passed on. */
typedef vit_status vit_answers_callback(const vit_answers *answers, void *context,
                                        vit_error *error);
vit_status vit_evaluate_with(const vit_model *model, const vit_evaluate_options *options,
                             vit_evaluation *result, vit_answers_callback *callback, void *context,
                             vit_error *error);

/* MISMATCH unless the model writes texts, or, where `writes` is false, names classes. */
vit_status vit_model_needs(const vit_model *model, bool writes, vit_error *error);

/* How data are prepared for the network; what its preprocessing leaves as floats is not rounded. */
vit_preparation vit_model_preparation(const vit_model_file *file);

/* MISMATCH unless the pictures of the data have the size that the network takes. */
vit_status vit_model_takes(const vit_model_file *file, const vit_dataset *data, vit_error *error);

/* The kernels of the instruction set that `cpu` names, NULL: the best; and *count threads: as many
 * as `threads` says, at most one per processor; 0: one per processor. ARGUMENT for an unknown name,
 * numbers out of range, and a precision or an arithmetic that the kernels do not have. */
vit_status vit_choose(const vit_kernels **kernels, int *count, const char *cpu, int threads,
                      vit_precision precision, vit_bf16 bf16, vit_error *error);

#endif
