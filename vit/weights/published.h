/* Models from files: our own, and published weights of other libraries with the config beside them.
 */
#ifndef VIT_WEIGHTS_PUBLISHED_H
#define VIT_WEIGHTS_PUBLISHED_H

#include "vit/base/sys.h"
#include "vit/formats/json.h"
#include "vit/tensors/tensors.h"
#include "vit/weights/file/model_file.h"
#include "vit/weights/layout/layout.h"
#include "vit/weights/word_head.h"

/* What the caller asks for beside the weights; zeroed: nothing. All is borrowed. */
typedef struct vit_wanted {
    const char *config;  /* path of the config file; NULL: config.json beside the weights */
    const char *emulate; /* the library as which pictures are answered; NULL: the weights' own */
    const char *labels;  /* as for vit_labels_set, or NULL */
    const vit_word_head *words; /* the classes of an image encoder; or NULL */
    size_t height, width;       /* the size to which the model will be resized afterwards, or 0 */
    const vit_exec *packs;      /* as for vit_model_file_load */
    size_t spare;               /* the same */
    bool in_place; /* weights that are floats stay in the file, unless they are bytes in memory */
} vit_wanted;

/* Loads a model file of ours, or weights in one of the layouts of vit/weights/layout/tables.c, from
 * whatever vit_tensors_open opens. A preprocessing that makes pictures of another size than the
 * network's is refused, unless that size is wanted. *out is freed by vit_model_file_clear. Errors:
 * UNSUPPORTED, saying what to add, for what neither the tensors nor the config tell; MISMATCH,
 * naming the tensor, where the two contradict each other; those of reading, parsing and memory.
 * docs/weights.md has the rules. */
vit_status vit_published_load(vit_model_file *out, const char *path, const vit_wanted *wanted,
                              vit_error *error);

/* The same from the bytes of a file, which may be freed afterwards; `name` is its name in messages.
 * The config is wanted->config, and other config files are looked for beside that one. */
vit_status vit_published_parse(vit_model_file *out, const vit_bytes *bytes, const char *name,
                               const vit_wanted *wanted, vit_error *error);

/* *object: the config at the path `config`, or with NULL the one beside the file `weights`, and
 * *path where it is, freed by vit_free; *object NULL: there is none. Errors: IO, FORMAT, MEMORY. */
vit_status vit_published_config(json_t **object, char **path, const char *weights,
                                const char *config, vit_error *error);

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
