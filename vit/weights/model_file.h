/* The model file: safetensors with timm's names, and in __metadata__ everything else that a
 * prediction needs: `vit.config`, `vit.labels`, `vit.preprocessing`, `vit.recipe`,
 * `vit.temperature`, `vit.threshold` (JSON); of networks that write texts `vit.vocabulary`, and of
 * those that read them `vit.source_vocabulary`. */
#ifndef VIT_WEIGHTS_MODEL_FILE_H
#define VIT_WEIGHTS_MODEL_FILE_H

#include "vit/image/prepare/preprocess.h"
#include "vit/model/parameters.h"
#include "vit/model/positions.h"
#include "vit/model/write.h"
#include "vit/tensors/tensors.h"
#include "vit/text/tokenizer.h"
#include "vit/text/vocabulary.h"

typedef struct vit_model_file {
    vit_config config;
    vit_table table;
    float *values;             /* [table.size] */
    vit_packed_weights packed; /* `transposed` owned, of the linear weights, which then have no
                                  place among the values; or NULL: all are there */
    char **labels;             /* [config.classes], one block, or NULL: the numbers */
    vit_preprocessing preprocessing;
    vit_position_rule position_rule; /* of the library the file comes from; not written */
    char *recipe;                    /* JSON */
    vit_vocabulary source_vocabulary, vocabulary; /* count 0: there is none */
    /* Of published ones instead; not written: */
    vit_tokenizer tokenizer; /* count 0: there is none */
    vit_writing writing;     /* what generation_config.json says; beams 0: nothing */
    double temperature; /* of its probabilities, softmax(logits / temperature); 0: not said, 1 */
    double threshold;   /* answers of a lower probability are unsure; 0: not said */
} vit_model_file;

/* Whether it is a checkpoint of a training, which is a model with more tensors. */
bool vit_model_file_is_checkpoint(const vit_tensors *file);

/* Reads and checks everything: every tensor of the table must be there with its shape and finite,
 * none may be left over (of a checkpoint, the optimiser's are; where there is an average of the
 * weights, that is the model), labels must be as many as classes. packs NULL: all tensors are kept
 * as floats; else linear weights are packed with it, in its precision, one after the other, so that
 * there is never more than one copy and one tensor. */
vit_status vit_model_file_load(vit_model_file *out, const vit_tensors *file, const vit_exec *packs,
                               vit_error *error);

/* Where the tensors of a table go that come one by one. */
typedef struct vit_store {
    const vit_table *table;
    float *values;             /* [table->size] */
    vit_packed_weights packed; /* transposed NULL: there are no weights without a place */
    const vit_exec *packs;
    float *weight; /* [of the largest]: the one on its way into panels */
} vit_store;

/* Makes room for the tensors of model->table, as vit_model_file_load does. */
vit_status vit_store_open(vit_store *out, vit_model_file *model, const vit_exec *packs,
                          vit_error *error);

/* Where the elements of p, a row of the table, are to be put: [p->count]; and when they are there.
 */
float *vit_store_place(const vit_store *store, const vit_parameter *p);
void vit_store_keep(const vit_store *store, const vit_parameter *p);
void vit_store_close(vit_store *store); /* what the model holds stays */

/* Writes the file atomically; its bytes depend on *model alone. */
vit_status vit_model_file_save(const char *path, const vit_model_file *model, vit_error *error);

/* The same with elements of type F32, BF16 or F16. UNSUPPORTED, naming the tensor, for a number
 * that F16 cannot hold. */
vit_status vit_model_file_save_as(const char *path, const vit_model_file *model, vit_dtype dtype,
                                  vit_error *error);

/* The labels as a JSON list, freed by vit_free; NULL: no memory. model->labels is not NULL. */
char *vit_model_file_labels(const vit_model_file *model);

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
 * is missing or has another shape, FORMAT where an element is not finite. */
vit_status vit_table_load(float *values, const vit_table *table, const vit_tensors *file,
                          const char *prefix, vit_error *error);

#endif
