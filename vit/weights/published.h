/* Published weights: the tensors of some library and the config beside them -> a model. */
#ifndef VIT_WEIGHTS_PUBLISHED_H
#define VIT_WEIGHTS_PUBLISHED_H

#include "vit/base/json.h"
#include "vit/base/sys.h"
#include "vit/tensors/tensors.h"
#include "vit/weights/model_file.h"

/* What the caller asks for beside the weights; zeroed: nothing. */
typedef struct vit_wanted {
    const char *config;
    const char *labels;    /* as vit_labels_set has them, or NULL */
    size_t height, width;  /* the size to which the model will be resized afterwards */
    const vit_exec *packs; /* as vit_model_file_load has it */
} vit_wanted;

/* Opens what vit_tensors_open takes: our own model file, or weights of one of the layouts of
 * layout_tables.c, whose config is config.json beside the file, or wanted->config, a path. A
 * preprocessing that makes pictures of another size than the network's is refused, unless that size
 * is wanted. What the tensors do not show and the config does not say is an error that says what to
 * add; where the two disagree, the error names the tensor. docs/weights.md has the rules. */
vit_status vit_published_load(vit_model_file *out, const char *path, const vit_wanted *wanted,
                              vit_error *error);

/* The same from the bytes of a file, which may be freed afterwards; `name` stands for it in
 * messages. There is no directory to look in: the config is wanted->config, and other files are
 * looked for beside that one. */
vit_status vit_published_parse(vit_model_file *out, const vit_bytes *bytes, const char *name,
                               const vit_wanted *wanted, vit_error *error);

/* The JSON files beside the weights. */
typedef struct vit_configs {
    char *path, *processor_path; /* config.json, preprocessor_config.json: for messages */
    json_t *object, *processor;  /* NULL: there is none */
    size_t height, width;        /* wanted, or 0 */
    const vit_exec *packs;       /* wanted, or NULL */
    char *generation_path;       /* generation_config.json, of what writes texts */
    json_t *generation;          /* NULL: there is none */
} vit_configs;

/* The same of tensors that are open already and are no model file of ours; without the tokenizer of
 * one that writes texts. */
vit_status vit_published_build(vit_model_file *out, const vit_tensors *file,
                               const vit_configs *configs, vit_error *error);

#endif
