/* The tensors in a file of weights, whether or not they form a model that this library can run:
 * safetensors, a sharded checkpoint, .npz, PyTorch's .pth (docs/formats.md).
 *
 *     vit_tensor_list *list;
 *     if (vit_tensor_list_load(&list, "model.safetensors", &error) != VIT_OK) ...
 *     for (size_t i = 0; i < vit_tensor_list_count(list); i++)
 *         puts(vit_tensor_list_at(list, i).name);
 *     vit_tensor_list_free(list);
 *
 * vit/vit.h includes this header.
 */
#ifndef VIT_TENSORS_H
#define VIT_TENSORS_H

#include "vit/vit.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vit_tensor_list vit_tensor_list;

typedef struct vit_tensor_info {
    const char *name;
    const char *type;      /* element type: "F32", "BF16", "I64", ... */
    size_t dims, shape[8]; /* [dims] */
    size_t count;          /* elements: the product of shape */
} vit_tensor_info;

/* Statistics of a tensor's finite elements; NaN where it has none. */
typedef struct vit_tensor_statistics {
    double min, max, mean, std; /* std: of the population, not an estimate from a sample */
    size_t finite;              /* elements that are neither NaN nor infinite */
} vit_tensor_statistics;

/* Opens a file, the index of a sharded checkpoint, or a directory that holds one of these. */
VIT_API vit_status vit_tensor_list_load(vit_tensor_list **out, const char *path, vit_error *error);
VIT_API void vit_tensor_list_free(vit_tensor_list *list);
VIT_API const char *vit_tensor_list_path(
    const vit_tensor_list *list); /* the file that was opened */
VIT_API const char *vit_tensor_list_kind(const vit_tensor_list *list); /* "safetensors", ... */

/* The tensors, ordered by name; index < count. Strings live as long as the list. */
VIT_API size_t vit_tensor_list_count(const vit_tensor_list *list);
VIT_API vit_tensor_info vit_tensor_list_at(const vit_tensor_list *list, size_t index);

/* Reads a tensor and computes its statistics. UNSUPPORTED for element types that hold no weights:
 * integers and BOOL. */
VIT_API vit_status vit_tensor_list_measure(const vit_tensor_list *list, size_t index,
                                           vit_tensor_statistics *out, vit_error *error);

#ifdef __cplusplus
}
#endif

#endif
