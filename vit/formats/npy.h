/* NumPy arrays in .npy files: a header with the type and order of the elements and the shape, then
 * the elements. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef VIT_FORMATS_NPY_H
#define VIT_FORMATS_NPY_H

#include "vit/base/text.h"

/* ---- reading ---- */

/* The longest header that is read, and the most dimensions. */
#define VIT_NPY_MAX_HEADER 65536
#define VIT_NPY_MAX_DIMS 8

/* The first bytes of a file, from which vit_npy_header_size gets the length of the header. */
#define VIT_NPY_PREFIX 12

/* What a header says. Elements are numbers of one of these kinds. */
typedef struct vit_npy {
    char type[32]; /* as NumPy writes it: "<f4" */
    char kind;     /* b: bool, i: signed integer, u: unsigned integer, f: IEEE float, V: two bytes,
                      as which NumPy writes bfloat16 */
    size_t width;  /* of an element, in bytes */
    bool big_endian; /* false for a single byte */
    bool fortran;    /* the first dimension is contiguous, not the last */
    size_t dims, shape[VIT_NPY_MAX_DIMS];
    size_t count;  /* elements: the product of shape, 1 for a scalar */
    size_t offset; /* of the first element */
} vit_npy;

/* *size = the bytes before the elements, at most VIT_NPY_MAX_HEADER. Errors: FORMAT, UNSUPPORTED.
 */
vit_status vit_npy_header_size(size_t *size, const uint8_t prefix[VIT_NPY_PREFIX],
                               vit_error *error);

/* Reads a header; header: [size], all bytes before the elements. wanted: the types that the caller
 * reads, for messages. Errors: FORMAT; UNSUPPORTED for elements other than numbers. */
vit_status vit_npy_parse(vit_npy *out, const uint8_t *header, size_t size, const char *wanted,
                         vit_error *error);

/* The same for a whole file in memory; FORMAT unless the elements end where the file ends. */
vit_status vit_npy_view(vit_npy *out, const uint8_t *bytes, size_t size, const char *wanted,
                        vit_error *error);

/* Fails with UNSUPPORTED, for a caller that does not read this type. */
vit_status vit_npy_type_refused(const vit_npy *array, const char *wanted, vit_error *error);

/* *value = an element of kind b, i or u; false if an int64_t cannot hold it. */
bool vit_npy_integer(int64_t *value, const vit_npy *array, const uint8_t *element);

/* ---- writing ---- */

/* Appends a header of version 1.0: magic, version, length and a dictionary, padded to a multiple of
 * 64 bytes. type: NumPy's name for the type, such as "<f4"; shape: [dims], the last dimension is
 * contiguous; dims is at most 64, as in NumPy. */
void vit_string_add_npy(vit_string *t, const char *type, const size_t *shape, size_t dims);

/* Writes an array of float32, in row-major order, to a file, which is replaced. */
vit_status vit_npy_write(const char *path, const float *values, const size_t *shape, size_t dims,
                         vit_error *error);

#endif
