/* Reading dictionaries of tensors from Python pickles, as torch.save writes them since PyTorch 1.6,
 * and of lists and NumPy's arrays, as old data sets are published. Nothing is executed: the reader
 * knows the few opcodes and classes that such a file needs, and refuses any other by its name.
 * Nothing recurses, and memory is bounded by the size of the pickle.
 *
 * https://docs.python.org/3/library/pickletools.html says what the opcodes do.
 */
#ifndef VIT_TENSORS_PICKLE_H
#define VIT_TENSORS_PICKLE_H

#include "vit/tensors/tensor.h"

#define VIT_PICKLE_MAX_SIZE ((size_t)4 << 20) /* of a dictionary of tensors */

typedef enum vit_pickle_kind {
    VIT_PICKLE_OTHER, /* ignored: None, a float, a set, ...; the index of True is 1 */
    VIT_PICKLE_MARK,  /* of the machine's stack; a file that was read has none */
    VIT_PICKLE_NUMBER,
    VIT_PICKLE_TEXT, /* or bytes */
    VIT_PICKLE_TUPLE,
    VIT_PICKLE_LIST,
    VIT_PICKLE_DICT,
    VIT_PICKLE_GLOBAL,
    VIT_PICKLE_STORAGE,
    VIT_PICKLE_TENSOR,
    VIT_PICKLE_OBJECT, /* of NumPy, or of a class for settings, whose contents are ignored */
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

/* A NumPy array of integers without a sign, of a byte each. */
typedef struct vit_pickle_array {
    size_t dims, shape[VIT_MAX_DIMS], count; /* count: elements, all of which are there */
    bool fortran;                            /* the first index varies fastest */
    const uint8_t *data;
} vit_pickle_array;

/* A key and its value, or an element of a list, whose key is OTHER. */
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

/* The pair of a dictionary or list that follows `pair`, or the first one with NULL; NULL after the
 * last. */
const vit_pickle_pair *vit_pickle_next(const vit_pickle *pickle, vit_pickle_value dictionary,
                                       const vit_pickle_pair *pair);

/* text.length bytes, not 0-terminated. */
const char *vit_pickle_text(const vit_pickle *pickle, vit_pickle_value text);

/* The value of a key of a dictionary; NULL: it has no such key, or is no dictionary. */
const vit_pickle_value *vit_pickle_get(const vit_pickle *pickle, vit_pickle_value dictionary,
                                       const char *key);

/* *array = that of a value; false if it is none, or one of other elements. */
bool vit_pickle_array_of(const vit_pickle *pickle, vit_pickle_value value, vit_pickle_array *array);

const vit_pickle_tensor *vit_pickle_tensor_of(const vit_pickle *pickle, vit_pickle_value tensor);

#endif
