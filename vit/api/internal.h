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
vit_status vit_model_from_file(vit_model **out, vit_model_file *file, bool keeps, vit_error *error);

/* The kernels and the number of threads that options ask for: cpu NULL is the best, threads 0 all.
 * ARGUMENT for what is neither. */
vit_status vit_choose(const vit_kernels **kernels, int *count, const char *cpu, int threads,
                      vit_error *error);

#endif
