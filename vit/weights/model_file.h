/* The model file: safetensors with timm's names, and in __metadata__ everything else that a
 * prediction needs: `vit.config`, `vit.labels`, `vit.preprocessing`, `vit.recipe` (JSON). */
#ifndef VIT_WEIGHTS_MODEL_FILE_H
#define VIT_WEIGHTS_MODEL_FILE_H

#include "vit/image/prepare/preprocess.h"
#include "vit/model/parameters.h"
#include "vit/model/resample_positions.h"
#include "vit/tensors/safetensors.h"

typedef struct vit_model_file {
    vit_config config;
    vit_table table;
    float *values; /* [table.size] */
    char **labels; /* [config.classes], one block, or NULL: the numbers */
    vit_preprocessing preprocessing;
    vit_position_rule position_rule; /* of the library the file comes from; not written */
    char *recipe;                    /* JSON */
} vit_model_file;

/* Reads and checks everything: every tensor of the table must be there with its shape, none may be
 * left over, labels must be as many as classes. */
vit_status vit_model_file_load(vit_model_file *out, const vit_safetensors *file, vit_error *error);

/* Writes the file atomically; its bytes depend on *model alone. */
vit_status vit_model_file_save(const char *path, const vit_model_file *model, vit_error *error);

/* The same with elements of type F32, BF16 or F16. UNSUPPORTED, naming the tensor, for a number
 * that F16 cannot hold. */
vit_status vit_model_file_save_as(const char *path, const vit_model_file *model, vit_dtype dtype,
                                  vit_error *error);

/* tensors [count] of float32: their types and data become elements of type `dtype` in memory that
 * the caller frees with vit_free(*memory). */
vit_status vit_tensors_encode(vit_tensor *tensors, size_t count, vit_dtype dtype, void **memory,
                              vit_error *error);

/* Changes the network's input to height x width: learned positions are resampled by the model's
 * rule, sizes in the preprocessing follow. ARGUMENT, and *model unchanged, where patches do not fit
 * or the preprocessing cannot follow. */
vit_status vit_model_file_resize(vit_model_file *model, size_t height, size_t width,
                                 vit_error *error);

void vit_model_file_clear(vit_model_file *model);

/* Tensors that stand for `values` ([table->size]) under the names PREFIX + table name, for writing:
 * tensors: [table->count], names in one block that the caller frees with vit_free(*names). */
vit_status vit_table_tensors(vit_tensor *tensors, char **names, const vit_table *table,
                             const float *values, const char *prefix, vit_error *error);

/* Fills values ([table->size]) from the tensors PREFIX + table name of `file`: MISMATCH where one
 * is missing or has another shape. */
vit_status vit_table_load(float *values, const vit_table *table, const vit_safetensors *file,
                          const char *prefix, vit_error *error);

#endif
