/* The tar files of a data set, of which parts are read. A few are kept open: a training reads few
 * at a time, and opening one for each picture would ask the file server for it each time. */
#ifndef VIT_DATASETS_SHARDS_SHARD_FILES_H
#define VIT_DATASETS_SHARDS_SHARD_FILES_H

#include "datasets/dataset.h"
#include "vit/base/sys.h"

/* *out = no shards yet. Freed by vit_shard_files_free, which takes NULL. */
vit_status vit_shard_files_new(vit_shard_files **out, vit_error *error);
void vit_shard_files_free(vit_shard_files *files);

/* Adds a file of `size` bytes; its number is that of files added before. Owns `path`. */
vit_status vit_shard_files_add(vit_shard_files *files, char *path, uint64_t size, vit_error *error);

size_t vit_shard_files_count(const vit_shard_files *files);
const char *vit_shard_files_path(const vit_shard_files *files, size_t shard);
uint64_t vit_shard_files_size(const vit_shard_files *files, size_t shard);

/* *out = the bytes of a picture, which messages call `name`; freed by vit_free. May be called from
 * any thread. FORMAT if they have another CRC-32, MISMATCH if the file has another size than it
 * had, UNSUPPORTED for more than VIT_IMAGE_MAX_FILE bytes; IO, MEMORY. */
vit_status vit_shard_files_read(vit_bytes *out, vit_shard_files *files, const vit_place *place,
                                const char *name, vit_error *error);

#endif
