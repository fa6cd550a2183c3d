/* The interface between tensors.c and the readers of the kinds of files. */
#ifndef VIT_TENSORS_CONTAINER_H
#define VIT_TENSORS_CONTAINER_H

#include "vit/tensors/tensor.h"

typedef struct vit_container {
    const char *kind; /* "safetensors" */
    /* Whether the file is of this kind, by its bytes, not by its name. */
    bool (*probe)(const uint8_t *bytes, size_t size);
    /* Reads the descriptions of the tensors. The bytes are borrowed. Messages name the file. What
     * is in *state is closed also after a failure. */
    vit_status (*open)(void **state, const uint8_t *bytes, size_t size, const char *name,
                       vit_error *error);
    void (*close)(void *state);
    const vit_tensor *(*list)(const void *state, size_t *count);
    /* Reads a tensor whose `data` is NULL: elements [count] of its type, in row-major order. May be
     * called from several threads. Messages do not name the file. NULL if every tensor has data. */
    vit_status (*fetch)(const void *state, size_t index, void *elements, vit_error *error);
    /* The value of a key, or NULL. The function is NULL if such files have no metadata. */
    const char *(*metadata)(const void *state, const char *key);
} vit_container;

extern const vit_container vit_container_safetensors;

/* All, in the order in which they are probed (the list `guests`): a zip archive that was not
 * written by PyTorch is taken for one of arrays. Ended by NULL. */
extern const vit_container *const vit_containers[];

#endif
