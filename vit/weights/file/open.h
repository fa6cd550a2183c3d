/* Models from files: our own, and by a guest those of other programs. */
#ifndef VIT_WEIGHTS_FILE_OPEN_H
#define VIT_WEIGHTS_FILE_OPEN_H

#include "vit/base/sys.h"
#include "vit/formats/json.h"
#include "vit/weights/file/model_file.h"

typedef struct vit_prompt_head vit_prompt_head; /* vit/weights/prompt_head.h */

/* What the caller asks for beside the weights; zeroed: nothing. All is borrowed. */
typedef struct vit_wanted {
    const char *config;  /* path of the config file; NULL: config.json beside the weights */
    const char *emulate; /* the library as which pictures are answered; NULL: the weights' own */
    const char *labels;  /* as for vit_labels_set, or NULL */
    const vit_prompt_head *words; /* the classes of an image encoder; or NULL */
    size_t height, width;         /* the size that the network gets; 0: its own */
    const vit_exec *packs;        /* as for vit_model_file_load */
    size_t spare;                 /* the same */
    bool in_place; /* weights that are floats stay in the file, unless they are bytes in memory */
} vit_wanted;

/* A file or directory of weights that is open, for all who read a part of it: the network of
 * pictures, that of texts. Published weights have a config, which is read when it is first asked
 * for (vit_published_config). */
typedef struct vit_opened {
    vit_tensors *file;
    const char *path; /* of the weights, beside which other files lie; NULL: they are in memory */
    json_t *config;   /* NULL: there is none, or nobody asked yet */
    char *config_path;
    bool asked;
} vit_opened;

/* Closed by vit_opened_close, also after a failure. Errors: those of vit_tensors_open. */
vit_status vit_opened_new(vit_opened *out, const char *path, vit_error *error);
void vit_opened_close(vit_opened *opened);

/* Loads a model file of ours, or published weights, from what was opened. A preprocessing that
 * makes pictures of another size than the network's is refused, unless that size is wanted.
 * *out is freed by vit_model_file_clear. Errors: UNSUPPORTED, saying what to add, for what
 * neither the tensors nor the config tell; MISMATCH, naming the tensor, where the two
 * contradict each other; those of reading, parsing and memory. docs/weights.md has the rules. */
vit_status vit_model_file_read(vit_model_file *out, vit_opened *opened, const vit_wanted *wanted,
                               vit_error *error);

/* The same from whatever vit_tensors_open opens. */
vit_status vit_model_file_open(vit_model_file *out, const char *path, const vit_wanted *wanted,
                               vit_error *error);

/* UNSUPPORTED if the caller asks for answers as those of another library, which the file `name`,
 * with one answer, has not. */
vit_status vit_refuse_as(const char *as, const char *name, vit_error *error);

/* Models of other programs: of the list `guests`. */
typedef struct vit_foreign_model {
    /* Makes the model of tensors that are no model file of ours. *out is empty after a failure. */
    vit_status (*build)(vit_model_file *out, vit_opened *opened, const vit_wanted *wanted,
                        vit_error *error);
} vit_foreign_model;

extern const vit_foreign_model *const vit_foreign_models; /* NULL: none are read */

#endif
