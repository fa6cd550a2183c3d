/* Writes the pictures of a folder into shards, with an index; and the index of shards that somebody
 * else has made. */
#ifndef VIT_DATASETS_SHARDS_PACK_H
#define VIT_DATASETS_SHARDS_PACK_H

#include "vit/base/error.h"
#include <stddef.h>

typedef struct vit_pack_options {
    const char *data;         /* a folder per class, or tables, as vit_dataset_open takes them */
    const char *class_column; /* of a table, as vit_dataset_options has it; or NULL */
    const char *out;          /* the directory of the shards; it must not exist, or be empty */
    uint64_t bytes;           /* of a shard, at most, unless one picture is larger */
    uint64_t seed;            /* of the order */
    int threads;              /* that check pictures; changes no byte */
    /* Called for each picture that is left out, "FILE: why". NULL: they are only counted. */
    void (*unreadable)(const char *problem, void *user);
    /* Called now and then: `done` pictures of `total` are checked, or written. NULL: it is not. */
    void (*progress)(bool writes, size_t done, size_t total, void *user);
    void *user;
} vit_pack_options;

typedef struct vit_packed {
    size_t train, val, test; /* pictures */
    size_t classes, shards, left_out;
    uint64_t bytes; /* of all shards */
} vit_packed;

/* Checks every picture by decoding it, leaves out those that cannot be read, and writes the others,
 * byte for byte, in an order drawn by the seed, as OUT/train-000000.tar, ..., val-..., test-...,
 * with OUT/classes.txt and the index OUT/shards.tsv. If there are no parts, the test is a sixth of
 * each class, as vit_dataset_open chooses it. The same pictures and options give the same bytes.
 * All is written to OUT.unfinished, which becomes OUT when it is complete and on the disk; if that
 * fails, nothing is left. Errors: IO if OUT is there already, or a picture has changed meanwhile;
 * those of vit_dataset_open for folders. */
vit_status vit_pack(vit_packed *out, const vit_pack_options *options, vit_error *error);

/* Checks every picture in the shards of options->data in the same way, and writes the index beside
 * them, or writes it anew; pictures that cannot be read are not in it. `out`, bytes and seed of the
 * options mean nothing. */
vit_status vit_pack_index(vit_packed *out, const vit_pack_options *options, vit_error *error);

#endif
