/* What the objects of vit/vit.h are made of. */
#ifndef VIT_API_INTERNAL_H
#define VIT_API_INTERNAL_H

#include "vit/model/infer.h"
#include "vit/weights/model_file.h"

struct vit_model {
    vit_model_file file; /* of a model that was loaded, the weights of linear layers are only in
                            `packed`: their values are given back to the system */
    float *packed;       /* [file.table.packed_size] */
    vit_network network;
    char *config, *preprocessing; /* JSON, for vit_model_describe */
    char **numbers;               /* ["0", "1", ...], one block, when file.labels is NULL */
};

/* Takes *file over (and clears it), whether it succeeds or not. Unless `keeps`, each linear weight
 * is given back once it is packed, so that there is hardly more than one copy at any time. */
vit_status vit_model_from_file(vit_model **out, vit_model_file *file, const vit_kernels *kernels,
                               bool keeps, vit_error *error);

/* A model's network in a precision: its own in f32, else one with weights rounded and packed for
 * it. Must not be moved. The model must outlive it. */
typedef struct vit_rounded {
    const vit_network *network;
    vit_network own;
    float *packed;
} vit_rounded;

vit_status vit_rounded_new(vit_rounded *out, const vit_model *model, const vit_exec *exec,
                           vit_error *error);
void vit_rounded_free(vit_rounded *rounded);

/* The kernels that an option asks for; NULL: the best. ARGUMENT for what is no instruction set. */
vit_status vit_choose_kernels(const vit_kernels **kernels, const char *cpu, vit_error *error);

/* The same with the number of threads: 0 is all, and never more than there are processors. ARGUMENT
 * also for other numbers, and for a precision that the kernels do not have. */
vit_status vit_choose(const vit_kernels **kernels, int *count, const char *cpu, int threads,
                      vit_precision precision, vit_error *error);

#endif
