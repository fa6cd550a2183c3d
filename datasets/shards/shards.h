/* Pictures in tar files, as WebDataset has them: the files of a sample have the same name up to the
 * first dot of its last part, KEY.jpg, KEY.cls. */
#ifndef VIT_DATASETS_SHARDS_SHARDS_H
#define VIT_DATASETS_SHARDS_SHARDS_H

#include "datasets/shards/class_texts.h"
#include "datasets/shards/tar.h"

/* Whether a name is that of a shard, NAME-000000.tar: who downloads another archive ("images.tar")
 * is told to unpack it. */
bool vit_shards_is(const char *name);

/* The shards of a directory, as they are gone through. */
typedef struct vit_shard_scan {
    const vit_listing *directory;
    vit_tree *tree;
    vit_class_texts texts;
    vit_tree_part *part; /* of the current shard */
    const char *shard;   /* its name; NULL: there is none yet */
    uint32_t number;     /* of it in the tree's files */
} vit_shard_scan;

/* Finds the pictures in the shards of parts, VIT_PART_*, and of those that stand for parts that are
 * missing: by the index, if there is one and it is to be read, else by going through the archives.
 * Labels of the files in scan->tree are then ids of scan->texts (vit_class_texts_resolve). The
 * caller calls vit_tree_free and vit_class_texts_free, also on failure. Errors: FORMAT, UNSUPPORTED
 * for an archive; MISMATCH for an index of other shards; IO, MEMORY. */
vit_status vit_shards_list(vit_shard_scan *scan, unsigned parts, bool reads_index,
                           vit_error *error);

/* Opens the next shard of a scan; *size = its bytes. */
vit_status vit_shard_scan_next(vit_shard_scan *scan, const char *name, uint64_t size,
                               vit_error *error);

/* Adds a picture of the shard to the tree; *file is it, until the next one is added. class: what is
 * said of its class. problem: why it is left out, or NULL. */
vit_status vit_shard_scan_add(vit_tree_file **file, vit_shard_scan *scan, const char *member,
                              const char *class, const char *problem, vit_error *error);

/* ---- index.c: what the shards of a directory hold, so that none need be read ---- */

#define VIT_SHARDS_INDEX "shards.tsv"

/* A directory that is being packed is called so at its end until it is complete. */
#define VIT_SHARDS_UNFINISHED ".unfinished"

/* Adds the pictures of the shards that the scan wants, VIT_PART_*, by the index. */
vit_status vit_shards_read_index(vit_shard_scan *scan, unsigned parts, vit_error *error);

/* A picture of an index. */
typedef struct vit_shard_row {
    const char *member, *class;
    uint64_t offset;
    size_t size, width, height;
    uint32_t crc;
    const uint8_t *digest; /* [32] */
} vit_shard_row;

/* Append to the text of an index: its beginning; a shard, before its pictures; a picture; its end.
 */
void vit_shards_index_begin(vit_string *text);
void vit_shards_index_shard(vit_string *text, const char *name, uint64_t size, size_t pictures);
void vit_shards_index_picture(vit_string *text, const vit_shard_row *row);
void vit_shards_index_end(vit_string *text);

/* Whether the name of a member or a class can stand in an index: without tabs and other control
 * characters. */
bool vit_shards_index_takes(const char *name);

/* The part that a shard is of, by its name: VIT_PART_TRAIN unless one of its words says another. */
vit_status vit_shard_part(unsigned *part, const char *directory, const char *name,
                          vit_error *error);

#endif
