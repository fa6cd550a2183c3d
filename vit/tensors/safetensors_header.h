/* The JSON header of a safetensors file, for container_safetensors.c: every rule that can be
 * checked on one entry alone. Sorting, duplicates and the layout of the data as a whole are checked
 * there. */
#ifndef VIT_TENSORS_SAFETENSORS_HEADER_H
#define VIT_TENSORS_SAFETENSORS_HEADER_H

#include "vit/tensors/safetensors.h"

/* The largest header: what the reference implementation accepts. */
#define VIT_SAFETENSORS_MAX_HEADER 100000000u

typedef struct vit_header {
    char *strings; /* the memory of all names, keys and values */
    vit_tensor *tensors;
    size_t count, capacity;
    vit_metadata *metadata;
    size_t metadata_count, metadata_capacity;
    bool has_metadata;
} vit_header;

/* Reads `text`, `size` bytes, into `header`; the tensors' data lie in data[0..data_size). On
 * failure nothing is left to free. Messages do not name the file. */
vit_status vit_header_parse(vit_header *header, const uint8_t *text, size_t size,
                            const uint8_t *data, size_t data_size, vit_error *error);
void vit_header_free(vit_header *header);

/* Orders for qsort and bsearch: pointers to tensors by name, metadata by key. */
int vit_compare_names(const void *a, const void *b);
int vit_compare_keys(const void *a, const void *b);

#endif
