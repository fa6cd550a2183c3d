/* Models from published weights of other libraries with the config beside them. */
#ifndef VIT_WEIGHTS_PUBLISHED_H
#define VIT_WEIGHTS_PUBLISHED_H

#include "vit/base/sys.h"
#include "vit/formats/json.h"
#include "vit/tensors/tensors.h"
#include "vit/weights/file/open.h"
#include "vit/weights/layout/layout.h"

/* Reads opened->config, if nobody has: the file `config`, or with NULL the one beside the weights.
 * Errors: IO, FORMAT, MEMORY. */
vit_status vit_published_config(vit_opened *opened, const char *config, vit_error *error);

/* Loads m->tokenizer from the directory of the config, whose ids must be among the `rows` of the
 * network. decodes: it is also to make texts of ids. Errors: MISMATCH, IO, MEMORY, those of
 * vit_tokenizer_load. */
vit_status vit_published_tokenizer(vit_model_file *m, const char *config, size_t rows, bool decodes,
                                   vit_error *error);

/* The config files beside the weights, read, and what the caller wants. */
typedef struct vit_configs {
    char *path, *processor_path; /* of config.json and preprocessor_config.json */
    json_t *object, *processor;  /* what is in them; NULL: there is no such file */
    const vit_wanted *wanted;
    char *generation_path; /* of generation_config.json, for networks that write texts */
    json_t *generation;    /* NULL: there is no such file */
} vit_configs;

/* The same from tensors that are open and no model file of ours. Without the tokenizer of a network
 * that writes texts. */
vit_status vit_published_build(vit_model_file *out, const vit_tensors *file,
                               const vit_configs *configs, vit_error *error);

/* Makes the table of m->config and loads its values. b: [count] the bindings of the file's parts;
 * config: the name of the config, for messages. Errors: MISMATCH, naming the tensor; those of
 * reading; MEMORY. */
vit_status vit_published_values(vit_model_file *m, const vit_binding *b, size_t count,
                                const char *config, const vit_wanted *wanted, vit_error *error);

#endif
