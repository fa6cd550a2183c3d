/* The blocks of an index, for index.c and find.c. Numbers are little-endian. A block is this head,
 * then `size` bytes, a multiple of 64. */
#ifndef VIT_SEARCH_LAYOUT_H
#define VIT_SEARCH_LAYOUT_H

#include "vit/search/index.h"

#define VIT_INDEX_MAGIC 0x31584449u /* "IDX1" */

typedef enum vit_index_kind { VIT_INDEX_ABOUT = 1, VIT_INDEX_ROWS = 2 } vit_index_kind;

typedef struct vit_index_head {
    uint32_t magic, kind;
    uint64_t size;
    uint32_t rows, gone;       /* ROWS: how many pictures are added, and taken out */
    uint32_t width;            /* ABOUT */
    uint32_t content, checked; /* checksums (CRC-32) of the content, and of the fields above */
    uint32_t zeros[7];
} vit_index_head;
_Static_assert(sizeof(vit_index_head) == 64, "a head has 64 bytes");

/* ABOUT: the model's path and the fingerprint, each ended by 0.
 * ROWS: entries[rows], vectors[rows][stride] from a multiple of 64 on, gone[gone] as 64-bit row
 * numbers, then the names, each ended by 0. stride: the width, rounded up to 64. */
typedef struct vit_index_entry {
    int64_t seconds;
    uint32_t nanoseconds;
    float scale; /* a feature is its 8-bit number times this */
    uint64_t size;
    uint64_t name; /* where it begins among the names */
} vit_index_entry;
_Static_assert(sizeof(vit_index_entry) == 32, "an entry has 32 bytes");

/* A block of pictures in the mapping. */
typedef struct vit_index_block {
    const vit_index_entry *entries;
    const int8_t *vectors;
    const char *names;
    size_t first, rows; /* row numbers */
} vit_index_block;

struct vit_index {
    char *path;
    vit_bytes file;
    uint64_t end; /* of the last whole block */
    size_t width, stride, rows, pictures;
    const char *model, *fingerprint;
    vit_index_block *blocks;
    size_t count, capacity;
    uint8_t *gone; /* [rows] */
    size_t gone_room;
};

#endif
