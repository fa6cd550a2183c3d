/* The header of a .npy file, as it is written; vit/tensors/npy.h reads it.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef VIT_BASE_NPY_H
#define VIT_BASE_NPY_H

#include "vit/base/text.h"

/* Adds what stands before the elements, version 1.0: magic, version, length and a dictionary,
 * padded to a multiple of 64 bytes. type: NumPy's name for the elements, such as "<f4"; shape:
 * [dims], the last dimension contiguous; dims at most 64, as in NumPy. */
void vit_text_add_npy(vit_text *t, const char *type, const size_t *shape, size_t dims);

#endif
