/* Reading dictionaries of tensors from Python pickles, as torch.save writes them since PyTorch 1.6.
 * Nothing is executed: the reader knows the few opcodes and classes that such a file needs, and
 * refuses any other by its name. Nothing recurses, and memory is bounded by the size of the pickle.
 *
 * https://docs.python.org/3/library/pickletools.html says what the opcodes do.
 */
#ifndef VIT_TENSORS_PICKLE_H
#define VIT_TENSORS_PICKLE_H

#include "vit/tensors/tensor.h"

#define VIT_PICKLE_MAX_SIZE ((size_t)4 << 20)

typedef enum vit_pickle_kind {
    VIT_PICKLE_OTHER, /* ignored: None, a float, a list, ... */
    VIT_PICKLE_MARK,  /* of the machine's stack; a file that was read has none */
    VIT_PICKLE_NUMBER,
    VIT_PICKLE_TEXT,
    VIT_PICKLE_TUPLE,
    VIT_PICKLE_DICT,
    VIT_PICKLE_GLOBAL,
    VIT_PICKLE_STORAGE,
    VIT_PICKLE_TENSOR,
    VIT_PICKLE_OBJECT, /* of a class for settings; its contents are ignored */
    VIT_PICKLE_COUNT,
} vit_pickle_kind;

/* A Python object. Values of the same kind and index are the same object. */
typedef struct vit_pickle_value {
    vit_pickle_kind kind;
    uint32_t length; /* TEXT: bytes; TUPLE: elements */
    int64_t index;   /* NUMBER: the number; TEXT: its offset in the pickle; TUPLE: the index of its
                        first element; else: the index among objects of its kind */
} vit_pickle_value;

typedef struct vit_pickle_storage {
    vit_dtype dtype;
    const char *key; /* names the record with the elements: key_length bytes */
    size_t key_length;
    size_t count; /* elements */
} vit_pickle_storage;

/* A view of a storage; it has not been checked that it is inside. */
typedef struct vit_pickle_tensor {
    vit_pickle_storage storage;
    size_t offset, dims, shape[VIT_MAX_DIMS], strides[VIT_MAX_DIMS]; /* in elements */
} vit_pickle_tensor;

typedef struct vit_pickle_pair {
    vit_pickle_value key, value;
    size_t next; /* the next pair of this dictionary, in the order of the file; SIZE_MAX: none */
} vit_pickle_pair;

typedef struct vit_pickle vit_pickle;

/* Reads a pickle. `bytes` are borrowed and must outlive it. Errors: FORMAT; UNSUPPORTED for
 * anything that a dictionary of tensors does not need; MEMORY. */
vit_status vit_pickle_read(vit_pickle **out, const uint8_t *bytes, size_t size, vit_error *error);
void vit_pickle_free(vit_pickle *pickle); /* takes NULL */

/* The object that was pickled. */
vit_pickle_value vit_pickle_root(const vit_pickle *pickle);

/* The pair of a dictionary that follows `pair`, or the first one with NULL; NULL after the last. */
const vit_pickle_pair *vit_pickle_next(const vit_pickle *pickle, vit_pickle_value dictionary,
                                       const vit_pickle_pair *pair);

/* text.length bytes, not 0-terminated. */
const char *vit_pickle_text(const vit_pickle *pickle, vit_pickle_value text);

const vit_pickle_tensor *vit_pickle_tensor_of(const vit_pickle *pickle, vit_pickle_value tensor);

#endif
