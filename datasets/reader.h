/* The interface between open.c and the readers of the kinds of data, and what readers share. */
#ifndef VIT_DATASETS_READER_H
#define VIT_DATASETS_READER_H

#include "datasets/dataset.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/label_list.h"

/* A directory and the sorted names in it. */
typedef struct vit_listing {
    const char *path;
    char *const *names;
    size_t count;
    const char *chosen; /* the beginning of the files of the set that is asked for; NULL: any */
} vit_listing;

typedef struct vit_reader {
    const char *expects; /* what such a directory has, for messages */
    bool named;          /* its pictures have names, by which lists may name them */
    /* Ended by NULL; or NULL: sets of this kind that are looked for by name, those that
     * scripts/fetch-data can get; folders that archives and torchvision put around the files. */
    const char *const *sets, *const *wrappers;
    /* Whether DIRECTORY/name, which is no directory, means this one of several sets in DIRECTORY;
     * NULL: never. */
    bool (*is_choice)(const char *name);
    /* Whether this is a directory of that kind, by the names in it. */
    bool (*probe)(const vit_listing *directory);
    /* Fills *out, which is zeroed; on failure the caller frees what is in it. */
    vit_status (*read)(vit_dataset *out, const vit_listing *directory,
                       const vit_dataset_options *options, vit_error *error);
} vit_reader;

/* All, of the list `guests`. They are tried in this order; the first whose probe succeeds reads the
 * directory. Ended by NULL. */
extern const vit_reader *const vit_readers[];

/* A set that has a name instead of a directory: it is made, or is a file of one kind. */
typedef struct vit_named_set {
    const char *const *names; /* for messages, ended by NULL */
    bool (*is)(const char *name);
    vit_status (*open)(vit_dataset *out, const char *name, const vit_dataset_options *options,
                       vit_error *error);
} vit_named_set;

extern const vit_named_set *const vit_named_sets[]; /* of the list `guests`, ended by NULL */

/* Tables of pictures in a directory; of the list `guests`. */
typedef struct vit_tree vit_tree;
typedef struct vit_table_options vit_table_options;
typedef struct vit_picture_table {
    /* Whether a directory has a file that is called like such a table. */
    bool (*is)(const vit_listing *directory);
    /* Finds the files of a directory by its tables, as vit_tree_scan does by its folders. *found:
     * whether there is a table of pictures that are there; if not, an error says why a table is not
     * one, and VIT_OK means that there is none. Two tables of the same part, and a table against
     * folders that name other classes, are FORMAT. */
    vit_status (*scan)(vit_tree *out, bool *found, const char *root, unsigned parts,
                       const vit_table_options *options, vit_error *error);
    /* Leaves out and relabels pictures of the tree by options->exclude and relabel, as
     * vit_corrections_apply says. */
    vit_status (*correct)(vit_dataset *set, vit_tree *tree, const char *root,
                          const vit_dataset_options *options, bool is_whole, vit_error *error);
} vit_picture_table;

extern const vit_picture_table *const vit_picture_tables; /* NULL: none are read */

/* Tags of a photo library as classes; of the list `guests`. */
typedef struct vit_picture_tagging {
    /* Finds the files of a directory, at any depth, as vit_tree_scan does, with the classes that
     * their tags say (vit/photos/tags.h). branch: "Animals/" or "Animals": tags under it, without
     * it; "": all tags. With options->multi_label a picture has every class on the way to each of
     * its tags, "Cat" and "Cat/Siamese"; else one, and FORMAT names a picture that has two. Folders
     * called as parts are (train/, val/, test/), directly in `root`, are parts. Pictures without
     * such a tag are left out. */
    vit_status (*scan)(vit_tree *out, const char *root, unsigned parts, const char *branch,
                       const vit_table_options *options, int threads, vit_error *error);
} vit_picture_tagging;

extern const vit_picture_tagging *const vit_picture_tags; /* NULL: none are read */

/* Pictures in tar files; of the list `guests`. */
typedef struct vit_shard_reader {
    /* *out = the bytes of a picture, which messages call `name`; freed by vit_free. May be called
     * from any thread. */
    vit_status (*read)(vit_bytes *out, vit_shard_files *files, const vit_place *place,
                       const char *name, vit_error *error);
    void (*free)(vit_shard_files *files);
} vit_shard_reader;

extern const vit_shard_reader *const vit_shard_readers; /* NULL: none are read */

/* Whether the name is in the directory. */
bool vit_listing_has(const vit_listing *directory, const char *name);

/* The name of the file there that is called `name`, or else `name`.gz; NULL: there is none. */
const char *vit_listing_find(const vit_listing *directory, const char *name);

/* *out = what is in that file, inflated if it is compressed, at most `limit` bytes; *path is its
 * own. Both are freed by vit_free, also after an error. Error: IO if there is no such file. */
vit_status vit_listing_read(vit_bytes *out, char **path, const vit_listing *directory,
                            const char *name, size_t limit, vit_error *error);

/* *out = the names in classes.txt or labels.txt of the directory; none if there is no such file. */
vit_status vit_class_names_read(vit_label_list *out, const vit_listing *directory,
                                vit_error *error);

/* If data have no test part, one record in this many is the test. */
#define VIT_TEST_SHARE 6

/* ---- records/records.c ---- */

struct vit_files {
    size_t resident;   /* this many records, the first ones, are in memory */
    char **paths;      /* [count], each allocated by itself; of pictures in shards SHARD/MEMBER */
    vit_place *places; /* [count]: where they are in shards; NULL: each is a file */
};

/* Frees `count` strings and their array; takes NULL. */
void vit_names_free(char **names, size_t count);

/* Frees the files and their `count` paths; takes NULL. */
void vit_files_free(vit_files *files, size_t count);

/* Frees what the records hold; they must not be used again. */
void vit_records_free(vit_records *records);

/* Pictures that are a function of their index: the first member of a structure with what they are
 * drawn from. */
struct vit_drawing {
    /* pixels [height][width][channels] = record `index`; called from any thread. */
    void (*draw)(uint8_t *pixels, const vit_drawing *drawing, size_t index);
    void (*free)(vit_drawing *drawing);
};

/* Appends text number `index` to `text`, which is empty. */
typedef void vit_put_text(vit_string *text, size_t index, const void *context);

#define VIT_MOST_SIGNS 1024 /* in a text */

/* *out, which is zeroed, = texts 0 .. count - 1 of `source` as ids of the vocabulary; *most = the
 * length of the longest, if that is more than *most. Errors: MEMORY, and those of
 * vit_vocabulary_encode; *reached is then the number of the text that failed. */
vit_status vit_texts_encode(vit_texts *out, size_t *most, size_t *reached,
                            const vit_vocabulary *vocabulary, size_t count, vit_put_text *source,
                            const void *context, vit_error *error);

/* Sets size, preprocessing, mean and std of the set to those of the preparation. */
void vit_dataset_prepare_as(vit_dataset *dataset, const vit_preparation *preparation);

/* *out = the bytes of a picture: of the file `path`, or at `place` in the shards of the set if that
 * is not NULL. Freed by vit_free. */
vit_status vit_picture_read(vit_bytes *out, vit_shard_files *shards, const char *path,
                            const vit_place *place, vit_error *error);

/* pixels [height][width][channels] = that picture, prepared as the set says. */
vit_status vit_picture_prepare(uint8_t *pixels, const vit_dataset *dataset, const char *path,
                               const vit_place *place, vit_error *error);

/* The options with TRAIN in place of VAL in need and want, for sets without a validation part. */
vit_dataset_options vit_options_without_val(const vit_dataset_options *options);

/* FORMAT unless every class has a training picture, or there is no training part. `where` is the
 * directory. */
vit_status vit_dataset_check_classes(const vit_dataset *dataset, const char *where,
                                     vit_error *error);

/* Adds a note, a sentence for the user, unless there are VIT_MAX_NOTES. Errors: MEMORY. */
vit_status vit_dataset_note(vit_dataset *dataset, vit_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets mean and std to those of the pixels in memory / 255, of the training part if there is one.
 */
void vit_dataset_measure(vit_dataset *dataset);

/* ---- join.c ---- */

/* Appends the training pictures of b to those of a. Everything else stays that of a, except for the
 * title (a+b), the checksum and the notes. Errors: MISMATCH if the sizes of pictures differ,
 * or b has a class that a, by name, has not, UNSUPPORTED if a part is not in memory or
 * the answers are texts, MEMORY. */
vit_status vit_dataset_join(vit_dataset *a, const vit_dataset *b, vit_error *error);

/* ---- records/idx.c ---- */

extern const vit_reader vit_reader_idx;

/* An IDX file of unsigned bytes in memory. */
typedef struct vit_idx {
    size_t count, height, width; /* for labels, height and width are 1 */
    size_t offset;               /* of the first byte after the header */
} vit_idx;

/* Checks the header, and that the file has the size that it says. dimensions: 3 for pictures, 1 for
 * labels. Messages call the file `name`. Errors: FORMAT; UNSUPPORTED for pictures of more than 1024
 * pixels a side. */
vit_status vit_idx_parse(vit_idx *out, const uint8_t *bytes, size_t size, unsigned dimensions,
                         const char *name, vit_error *error);

/* ---- records/cifar.c ---- */

extern const vit_reader vit_reader_cifar;

/* Checks that a file of CIFAR-10 or CIFAR-100 (classes 10 or 100) in memory has whole records and
 * labels in range; *count = its records. Messages call the file `name`. Errors: FORMAT. */
vit_status vit_cifar_parse(size_t *count, const uint8_t *bytes, size_t size, unsigned classes,
                           const char *name, vit_error *error);

/* Converts records that were checked, from planes to pixels [count][32][32][3]; labels [count] are
 * the fine ones. */
void vit_cifar_unpack(uint8_t *pixels, uint16_t *labels, const uint8_t *bytes, size_t count,
                      unsigned classes);

/* CIFAR's files in their Python form; of the list `guests`. */
typedef struct vit_pickled_cifar {
    /* *out = the records of the binary form, not yet checked, of a file in memory; out->data is
     * freed by vit_free. Errors: FORMAT for what is no such file, MEMORY. */
    vit_status (*records)(vit_bytes *out, const uint8_t *bytes, size_t size, unsigned classes,
                          const char *name, vit_error *error);
    /* *out = the names of classes in batches.meta or meta, one a line; freed by vit_free. */
    vit_status (*names)(vit_bytes *out, const uint8_t *bytes, size_t size, unsigned classes,
                        const char *name, vit_error *error);
} vit_pickled_cifar;

extern const vit_pickled_cifar *const vit_cifar_pickles; /* NULL: they are not read */

/* ---- folders/folder.c ---- */

extern const vit_reader vit_reader_folder;

/* ---- preparation.c ---- */

/* Pictures become RGB squares: the shorter side is resized, the longer one cropped, to the largest
 * of a few sides that is at most `shorter`. */
vit_preparation vit_square_preparation(size_t shorter);

/* Pictures become RGB of height x width. For squares they are cropped; otherwise all of the picture
 * is stretched to that size, as data that are not square are so on purpose. */
void vit_fitted_preparation(vit_preparation *out, size_t height, size_t width);

/* ---- records/arrays.c ---- */

/* Fills *out with copies of the parts that the options ask for. Messages call the arrays `name`.
 * Errors: ARGUMENT, FORMAT, IO for a part that is needed and missing, MEMORY. */
vit_status vit_arrays_open(vit_dataset *out, const char *name, const vit_arrays *arrays,
                           const vit_dataset_options *options, vit_error *error);

/* Prepares the records of all parts, which are in memory, as pictures are prepared. MEMORY, and the
 * errors of vit_preprocess. */
vit_status vit_dataset_prepare_records(vit_dataset *dataset, const vit_preparation *preparation,
                                       int threads, vit_error *error);

/* The SHA-256, hex, of the sizes, the labels and the pictures of a part. */
void vit_arrays_checksum(char checksum[65], const vit_arrays *arrays, const vit_array_part *part);

#endif
