/* Writing .npz: a zip archive of .npy arrays, uncompressed, as numpy.savez writes it. */
#ifndef VIT_TENSORS_NPZ_WRITE_H
#define VIT_TENSORS_NPZ_WRITE_H

#include "vit/tensors/tensor.h"

/* Writes the tensors, in this order, to `path`, atomically; the bytes depend on nothing else.
 * Types: F64, F32, F16, BF16 (as "<V2", like ml_dtypes), I64, U8. ARGUMENT for other types,
 * UNSUPPORTED for more than 4 GiB, which would need zip64. */
vit_status vit_npz_write(const char *path, const vit_tensor *tensors, size_t count,
                         vit_error *error);

#endif
