/* The stack machine that runs the opcodes of a pickle (pickle.c), and its part that knows the
 * classes and functions of a dictionary of tensors (pickle_tensors.c). */
#ifndef VIT_TENSORS_PICKLE_MACHINE_H
#define VIT_TENSORS_PICKLE_MACHINE_H

#include "vit/tensors/pickle.h"

/* An array that grows. */
typedef struct vit_pickle_list {
    void *items;
    size_t count, capacity;
} vit_pickle_list;

typedef struct vit_pickle_dictionary {
    size_t first, last; /* indices of pairs; SIZE_MAX: there are none */
} vit_pickle_dictionary;

/* What is known of an object: of which class or function, with which arguments, and what was set in
 * it. */
typedef struct vit_pickle_object {
    int64_t class;
    vit_pickle_value arguments, state;
} vit_pickle_object;

struct vit_pickle {
    const uint8_t *bytes;
    size_t size, at;
    vit_pickle_list stack, memo, elements;                           /* of vit_pickle_value */
    vit_pickle_list dictionaries, pairs, storages, tensors, objects; /* of these types */
    vit_error *error;
};

vit_status vit_pickle_push(vit_pickle *p, vit_pickle_value value);

/* Appends an object to the list of its kind and pushes it onto the stack. */
vit_status vit_pickle_push_new(vit_pickle *p, vit_pickle_kind kind, vit_pickle_list *list,
                               const void *item, size_t size);
vit_status vit_pickle_push_dictionary(vit_pickle *p); /* an empty one */

/* The last `count` > 0 objects of the stack; NULL, and *status FORMAT, if there are fewer above the
 * last mark. */
vit_pickle_value *vit_pickle_last(vit_pickle *p, size_t count, vit_status *status);

/* Element i < tuple.length. */
const vit_pickle_value *vit_pickle_element(const vit_pickle *p, vit_pickle_value tuple, size_t i);

/* Fails with FORMAT: "pickle byte N: WHAT". */
vit_status vit_pickle_damaged(const vit_pickle *p, const char *what);

/* ---- pickle_tensors.c ---- */

/* Pushes the class or function of this name. UNSUPPORTED if it is none of the few that are known.
 */
vit_status vit_pickle_push_global(vit_pickle *p, const char *module, size_t module_length,
                                  const char *name, size_t length);

/* Opcode BINPERSID: replaces the last object, a persistent ID, by the storage that it stands for.
 */
vit_status vit_pickle_push_storage(vit_pickle *p);

/* Opcode REDUCE: replaces the last two objects, a class or function and its arguments, by the
 * result of the call. */
vit_status vit_pickle_reduce(vit_pickle *p);

/* Opcode NEWOBJ: replaces the last two objects, a class of settings and its arguments, by an object
 * whose contents are ignored. */
vit_status vit_pickle_new_object(vit_pickle *p);

#endif
