/* The machine that pickle.c runs and what pickle_tensors.c adds to it: the classes and functions
 * of a dictionary of tensors. */
#ifndef VIT_TENSORS_PICKLE_MACHINE_H
#define VIT_TENSORS_PICKLE_MACHINE_H

#include "vit/tensors/pickle.h"

/* An array that grows. */
typedef struct vit_pickle_list {
    void *items;
    size_t count, capacity;
} vit_pickle_list;

typedef struct vit_pickle_dictionary {
    size_t first, last; /* pairs; SIZE_MAX: none */
} vit_pickle_dictionary;

struct vit_pickle {
    const uint8_t *bytes;
    size_t size, at;
    vit_pickle_list stack, memo, elements;                  /* value */
    vit_pickle_list dictionaries, pairs, storages, tensors; /* of their types */
    vit_error *error;
};

/* Adds a copy of an item of `size` bytes. MEMORY. */
vit_status vit_pickle_append(vit_pickle *p, vit_pickle_list *list, const void *item, size_t size);

vit_status vit_pickle_push(vit_pickle *p, vit_pickle_value value);

/* Adds an object to a list of its kind and pushes it. */
vit_status vit_pickle_push_new(vit_pickle *p, vit_pickle_kind kind, vit_pickle_list *list,
                               const void *item, size_t size);
vit_status vit_pickle_push_dictionary(vit_pickle *p); /* an empty one */

/* The first of the last `count` objects, count > 0; NULL, and *status FORMAT, where fewer follow
 * the last mark. */
vit_pickle_value *vit_pickle_last(vit_pickle *p, size_t count, vit_status *status);

/* Element i < tuple.length. */
const vit_pickle_value *vit_pickle_element(const vit_pickle *p, vit_pickle_value tuple, size_t i);

/* FORMAT: "pickle byte N: WHAT". */
vit_status vit_pickle_damaged(const vit_pickle *p, const char *what);

/* ---- pickle_tensors.c ---- */

/* Pushes the class or function of that name; UNSUPPORTED unless it is one of the few known. */
vit_status vit_pickle_push_global(vit_pickle *p, const char *module, size_t module_length,
                                  const char *name, size_t length);

/* The last object, a persistent identity, becomes the storage that it means. */
vit_status vit_pickle_push_storage(vit_pickle *p);

/* The last two objects, a class or function and its arguments, become what it makes of them. */
vit_status vit_pickle_reduce(vit_pickle *p);

/* The last two objects, a class and arguments, become an object that nothing is known of. */
vit_status vit_pickle_new_object(vit_pickle *p);

#endif
