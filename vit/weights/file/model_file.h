/* Our model file: safetensors with timm's names of tensors, and in __metadata__ all else that a
 * prediction needs, as JSON: vit.config, vit.preprocessing, vit.recipe, vit.labels,
 * vit.temperature, vit.threshold; of networks that write texts vit.vocabulary, of those that read
 * them vit.source_vocabulary; of a head whose backbone is another file vit.backbone (backbone.h).
 */
#ifndef VIT_WEIGHTS_FILE_MODEL_FILE_H
#define VIT_WEIGHTS_FILE_MODEL_FILE_H

#include "vit/image/prepare/preprocess.h"
#include "vit/model/parameters.h"
#include "vit/model/resample_positions.h"
#include "vit/model/run/generate.h"
#include "vit/tensors/tensors.h"
#include "vit/text/vocabulary.h"

typedef struct vit_model_file {
    vit_config config;
    vit_table table;
    float *values;             /* [table.size] */
    vit_packed_weights packed; /* transposed, owned: the linear layers' weights, which then are not
                                  among the values; NULL: they are */
    float *scales; /* [table.scale_size], owned, if `packed` is NULL: of the weights that were 8-bit
                      integers in the file; negative: they were not; NULL: none were */
    vit_tensors *stays_in; /* owned: the file in which weights have stayed; NULL: none have */
    char **labels;         /* [config.classes], one block; NULL: classes are numbers */
    vit_preprocessing preprocessing;
    vit_position_rule position_rule; /* of the library that the file comes from; not written */
    char *recipe;                    /* JSON, one line */
    vit_vocabulary source_vocabulary, vocabulary; /* count 0: there is none */
    double temperature; /* probabilities are softmax(logits / temperature); 0: unspecified, 1 */
    double threshold;   /* answers of a lower probability are below the threshold; 0: unspecified */
    vit_scoring scoring;
    bool has_checksum; /* vit.sha256 is written, and was right in a file that was read; those with a
                          backbone always have it */
    char *backbone;    /* JSON, what vit_backbone_refer makes: of the tensors the head's alone are
                          written, the others are that file's; NULL: all are written. Of a model
                          that was read it is NULL */
    /* Of published models that write texts; not written: */
    struct vit_tokenizer *tokenizer; /* in place of the vocabularies; or NULL */
    size_t tokens;                   /* that it has */
    void (*tokenizer_free)(struct vit_tokenizer *tokenizer);
    vit_generation writing; /* from generation_config.json; beams 0: unspecified */
} vit_model_file;

/* Whether it is a checkpoint of a training: a model file with more tensors. */
bool vit_model_file_is_checkpoint(const vit_tensors *file);

/* Whether it is the name of a tensor of the linear head. */
bool vit_is_of_head(const char *name);

/* Reads and checks everything: each tensor of the table must be there with its shape and finite
 * elements, and no others; there must be as many labels as classes. Of a checkpoint, the
 * optimiser's tensors are ignored, and if it has an average of the weights, that is the model.
 * packs: the linear layers' weights are packed with it, in its precision, one after the other, so
 * that there never is more than one copy of all and one tensor more; NULL: all are among the
 * values. spare: words for which the packed weights get room after them (vit_model_file_join). *out
 * is freed by vit_model_file_clear. Errors: MISMATCH, FORMAT, UNSUPPORTED for a file that is no
 * model file, MEMORY. */
vit_status vit_model_file_load(vit_model_file *out, const vit_tensors *file, const vit_exec *packs,
                               size_t spare, vit_error *error);

/* The same of a file with the tensors of the head alone: all others are the backbone's, which was
 * loaded with the same `packs` and the file's spare words. Its packed weights become those of *out.
 */
vit_status vit_model_file_join(vit_model_file *out, const vit_tensors *file, const vit_exec *packs,
                               vit_model_file *backbone, vit_error *error);

/* What the file's config asks for: the height and width of the network's input, and of the packed
 * head the words, at most. */
vit_status vit_model_file_size(size_t *height, size_t *width, size_t *head, const vit_tensors *file,
                               vit_error *error);

/* The memory of a model while its tensors are loaded one by one. */
typedef struct vit_store {
    const vit_table *table;
    float *values;             /* [table->size] */
    vit_packed_weights packed; /* as in vit_model_file */
    const vit_exec *packs;     /* as for vit_model_file_load */
    size_t rooms;              /* tensors that may be loaded at the same time */
    size_t largest, outputs;   /* of a weight, at most: elements, outputs */
    float *weight;             /* [rooms][largest]: one that will be packed */
    float *scales;             /* of that one, [rooms][outputs]; or of all, in *model */
} vit_store;

/* The exec to pack a file's weights with: *packs, or where it is of F32 and weights of blocks are
 * 8-bit integers with scales, *room, the same in INT8. packs NULL: NULL. */
const vit_exec *vit_packs_for(vit_exec *room, const vit_exec *packs, const vit_tensors *file);

/* Whether they are packed in F32, none of them being 8-bit integers. */
bool vit_packs_floats(const vit_exec *packs, const vit_tensors *file);

/* Says how p, which is in the file with this type, is kept in memory: where it is (place:
 * vit_tensors_place) if it is a weight whose rows are whole words, else packed, numbers of 16 bits
 * in halves. */
void vit_parameter_store(vit_parameter *p, vit_dtype dtype, const float *place);

/* Reads t, which is p or a part of it, and checks that it is finite. values: [t->count]; not
 * written where p stays in the file. */
vit_status vit_parameter_read(float *values, const vit_parameter *p, const vit_tensors *file,
                              const vit_tensor *t, vit_error *error);

/* Allocates the memory of model->table, whose rows say by `stored` how they are in a file; packs
 * and spare as for vit_model_file_load. Packed weights that the model has already it keeps. Errors:
 * MEMORY. */
vit_status vit_store_open(vit_store *out, vit_model_file *model, const vit_exec *packs,
                          size_t spare, vit_error *error);

/* Where the elements of p, a row of the table, are to be written: [p->count]. */
float *vit_store_place(const vit_store *store, const vit_parameter *p);

/* Where the scales of its outputs may be written, if they are those of integers in a file:
 * [outputs], negative so far; NULL: it stays in floats. */
float *vit_store_scales(const vit_store *store, const vit_parameter *p);

/* To be called when they are: packs them, if they are a weight that is kept packed. */
void vit_store_keep(const vit_store *store, const vit_parameter *p);

/* Loads p, a row of the table, as follows: writes its elements to vit_store_place, its scales, if
 * it has some, to vit_store_scales, and calls vit_store_keep. May leave it out. */
typedef vit_status vit_store_load(const vit_store *store, const vit_parameter *p,
                                  const void *context, vit_error *error);

/* Calls the function for every row of the table, on several threads. Returns what it returned for
 * the first row, in the order of the table, that it could not load. */
vit_status vit_store_fill(const vit_store *store, vit_store_load *load, const void *context,
                          vit_error *error);

/* Frees what only loading needs; the values and packed weights belong to the model. */
void vit_store_close(vit_store *store);

/* Writes the file atomically, in float32; its bytes depend on *model alone. Errors: UNSUPPORTED for
 * a model with a tokenizer; IO, MEMORY. */
vit_status vit_model_file_save(const char *path, const vit_model_file *model, vit_error *error);

/* The same with elements of type F32, BF16, F16, or I8: the weights of the blocks in 8-bit integers
 * with scales (rounded.h), all others in F32. UNSUPPORTED, naming the tensor, for a number
 * that F16 cannot hold. */
vit_status vit_model_file_save_as(const char *path, const vit_model_file *model, vit_dtype dtype,
                                  vit_error *error);

/* The labels as a JSON list, ["cat", "dog"], freed by vit_free; NULL: no memory. model->labels is
 * not NULL.
 */
char *vit_model_file_labels(const vit_model_file *model);

/* Converts tensors: [count] from float32 to dtype; their data are then in *memory, freed by
 * vit_free. Errors: UNSUPPORTED, naming the tensor, for a number that F16 cannot hold; MEMORY. */
vit_status vit_tensors_encode(vit_tensor *tensors, size_t count, vit_dtype dtype, void **memory,
                              vit_error *error);

/* Changes the size of the network's input: learned positions are resampled by the model's rule, and
 * the preprocessing's sizes change with it. Errors: ARGUMENT, and *model is unchanged, if the
 * patches do not divide the size or the preprocessing has no such size; MEMORY. */
vit_status vit_model_file_resize(vit_model_file *model, size_t height, size_t width,
                                 vit_error *error);

void vit_model_file_clear(vit_model_file *model);

/* For writing: tensors: [table->count] = the tensors of values: [table->size], named prefix + the
 * table's name. The names are in one block, *names, freed by vit_free. Errors: MEMORY. */
vit_status vit_table_tensors(vit_tensor *tensors, char **names, const vit_table *table,
                             const float *values, const char *prefix, vit_error *error);

/* values: [table->size] = the tensors of `file` that are named prefix + the table's name. Errors:
 * MISMATCH if one is missing or has another shape, FORMAT if an element is not finite; those of
 * reading. */
vit_status vit_table_load(float *values, const vit_table *table, const vit_tensors *file,
                          const char *prefix, vit_error *error);

#endif
