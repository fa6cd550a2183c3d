/* What a kind of file with tensors looks like to tensors.c. */
#ifndef VIT_TENSORS_CONTAINER_H
#define VIT_TENSORS_CONTAINER_H

#include "vit/base/npy.h"
#include "vit/tensors/tensor.h"

typedef struct vit_container {
    const char *kind; /* "safetensors" */
    /* Is this such a file? By its bytes, not by its name. */
    bool (*probe)(const uint8_t *bytes, size_t size);
    /* Reads what describes the tensors. The bytes are borrowed. Messages name the file. */
    vit_status (*open)(void **state, const uint8_t *bytes, size_t size, const char *name,
                       vit_error *error);
    void (*close)(void *state);
    size_t (*count)(const void *state);
    const vit_tensor *(*at)(const void *state, size_t index);
    /* The elements of a tensor whose `data` are NULL: elements [count], of its type, rows first.
     * May be called from several threads. Messages do not name the file. NULL where there are no
     * such tensors. */
    vit_status (*fetch)(const void *state, size_t index, void *elements, vit_error *error);
    const char *(*metadata)(const void *state, const char *key); /* NULL: there is none */
} vit_container;

/* In the order in which a file is offered to them: every zip archive that PyTorch did not write is
 * one of arrays. */
extern const vit_container vit_container_pytorch, vit_container_npz, vit_container_safetensors;

/* ---- container_npz.c ---- */

/* The types of arrays that are tensors of weights, for messages. */
#define VIT_NPY_WEIGHTS "<f4, <f2, <f8, bfloat16 (V2), or integers for counters"

/* Type, shape and count of an array. Errors: UNSUPPORTED for types that no tensor has. */
vit_status vit_npy_tensor(vit_tensor *out, const vit_npy *array, vit_error *error);

#endif
