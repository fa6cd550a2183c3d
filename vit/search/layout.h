/* The blocks of an index, for index.c, write.c, repair.c and find.c. Numbers are little-endian. A
 * block is this head, then `size` bytes, a multiple of 64. */
#ifndef VIT_SEARCH_LAYOUT_H
#define VIT_SEARCH_LAYOUT_H

#include "vit/base/text.h"
#include "vit/search/index.h"

#define VIT_INDEX_MAGIC 0x32584449u /* "IDX2" */

typedef enum vit_index_kind { VIT_INDEX_ABOUT = 1, VIT_INDEX_ROWS = 2 } vit_index_kind;

typedef struct vit_index_head {
    uint32_t magic, kind;
    uint64_t size;
    uint32_t rows, gone;       /* ROWS: how many pictures are added, and taken out */
    uint32_t width;            /* ABOUT: numbers of a picture; ROWS: the number of the first row */
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

/* A block of pictures in the file that was read. */
typedef struct vit_index_block {
    const vit_index_entry *entries;
    const int8_t *vectors;
    const uint64_t *gone; /* [gone_count] */
    const char *names;
    size_t first, rows; /* row numbers */
    size_t gone_count;
} vit_index_block;

struct vit_index {
    char *path;
    vit_bytes file;
    uint64_t end; /* of the last whole block; what follows was not finished */
    size_t width, stride, rows, pictures;
    const char *model, *fingerprint;
    vit_index_block *blocks;
    size_t count, capacity;
    uint8_t *gone;     /* [rows] */
    vit_string damage; /* of the first block that cannot be used: where, and what; "": none */
};

/* Reads what can be read: blocks that are damaged are left out, and the first of them is named in
 * index->damage. Errors: those of vit_index_open for a file of which nothing can be saved. */
vit_status vit_index_read(vit_index **out, const char *path, int threads, vit_error *error);

/* Whether `file` begins with the whole head of an index's first block. */
bool vit_index_begins(const vit_bytes *file, uint64_t *size);

uint64_t vit_index_padded(uint64_t size); /* rounded up to 64 */
uint32_t vit_index_checksum(const void *bytes, uint64_t size);
uint32_t vit_index_head_checksum(const vit_index_head *head);

/* The factor that gives numbers[count) the length 1. */
float vit_index_scale(const int8_t *numbers, size_t count);

#endif
