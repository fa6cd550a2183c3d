/* Arrays in MATLAB's files of version 5 to 7 (.mat), compressed or not.
 * https://www.mathworks.com/help/pdf_doc/matlab/matfile_format.pdf */
#ifndef VIT_FORMATS_MATLAB_H
#define VIT_FORMATS_MATLAB_H

#include "vit/base/error.h"

#define VIT_MATLAB_MAX_DIMS 8

typedef struct vit_matlab_array {
    size_t dims, shape[VIT_MATLAB_MAX_DIMS], count; /* count: elements, all of which are there */
    size_t width;        /* bytes of an element; 1: unsigned bytes, 8: doubles */
    const uint8_t *data; /* the first index varies fastest; in the file, or in `memory` */
    uint8_t *memory;     /* freed by vit_free; NULL: the array is in the file */
} vit_matlab_array;

/* Finds the array `variable` of real unsigned bytes or doubles in a file in memory. Messages call
 * the file `name`. Errors: FORMAT for a damaged file, or one without it; UNSUPPORTED for another
 * version of the format, another byte order, and other elements; MEMORY. */
vit_status vit_matlab_find(vit_matlab_array *out, const char *variable, const uint8_t *bytes,
                           size_t size, const char *name, vit_error *error);

/* Element i as an integer; false if it is a double that is none. */
bool vit_matlab_integer(int64_t *out, const vit_matlab_array *array, size_t i);

#endif
