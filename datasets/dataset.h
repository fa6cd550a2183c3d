/* Labelled pictures of one size, or texts, behind one small interface. Readers are in records
 * (MNIST and its relatives, CIFAR, STL-10, SVHN, arrays of NumPy or in memory, tables of texts),
 * folders (a folder of pictures per class, or by tags), tables (metadata.csv and the like) and
 * shards (tar files); made draws sets. open.c chooses the reader.
 *
 * A data set is immutable after opening and may be read from any thread.
 */
#ifndef VIT_DATASETS_DATASET_H
#define VIT_DATASETS_DATASET_H

#include "vit/base/error.h"
#include "vit/base/random.h"
#include "vit/image/likeness.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/text/vocabulary.h"

typedef struct vit_files vit_files;             /* where records are that are not in memory */
typedef struct vit_shard_files vit_shard_files; /* the tar files that they are in */

/* Where a picture is in them. */
typedef struct vit_place {
    uint64_t offset; /* of its first byte in the shard */
    uint32_t shard, size;
    uint32_t crc; /* CRC-32 of its bytes */
    bool has_crc; /* it is known, by an index or since the picture was read before */
} vit_place;

typedef struct vit_drawing vit_drawing; /* how records are drawn that are not stored at all */

/* The texts of records as ids without START and END, one after the other: that of record i is
 * ids[at[i]] .. ids[at[i + 1] - 1], at least one. */
typedef struct vit_texts {
    uint32_t *ids;
    size_t *at; /* [count + 1], at[0] = 0; NULL: the records have no such text */
} vit_texts;

/* The text of record `index`. */
static inline vit_ids vit_texts_get(const vit_texts *t, size_t index) {
    return (vit_ids){t->ids + t->at[index], t->at[index + 1] - t->at[index]};
}

/* A picture that is a copy of another one: both files, classes, and parts ("train", "val", "test",
 * or "left out", as a copy of a test picture). */
typedef struct vit_listed_copy {
    char *picture, *copy_of;
    size_t label, of_label;
    const char *split, *of_split;
    vit_alike alike;
} vit_listed_copy;

typedef struct vit_copy_list {
    vit_listed_copy *rows;
    size_t count, capacity;
} vit_copy_list;

/* One part of a data set. A record is a picture, or a text (`source`); its answer is a class
 * (`labels`), or any number of classes (`target` as well, vit_records_list_classes), or a text
 * (`target`). */
typedef struct vit_records {
    size_t count;     /* 0: the part is absent */
    uint8_t *pixels;  /* [count][height][width][channels], prepared, not normalised; only the first
                         records if the set is too large for memory. NULL for texts */
    uint16_t *labels; /* [count], each < classes; NULL if the answers are texts. Where a picture has
                         several classes, the first; 0 if it has none */
    vit_files *files; /* NULL: all records are in `pixels` */
    uint32_t *shards; /* [count], ascending: the tar file that each is in; NULL: in none */
    vit_drawing *drawing; /* if not NULL, no record is in memory: each is drawn when it is used */
    vit_texts source, target;
    double entropy; /* of the targets, in nats per token, END included, if their distribution is
                       known: the lowest loss that a model can have; else 0 */
    char **names;   /* [count] files that the records in memory come from; NULL: `files` has them,
                       or there are none. See vit_record_file */
    vit_copies *copies; /* among the records in memory; NULL: there are
                                  none, or they were not looked for */
} vit_records;

/* Whether the answers are any number of classes: those of a record are vit_texts_get of `target`,
 * ascending. */
static inline bool vit_records_list_classes(const vit_records *r) {
    return r->labels && r->target.at;
}

/* What tells a training's data from others: the checksum with all corrections. */
#define VIT_DATASET_IDENTITY(d) ((d)->corrected[0] ? (d)->corrected : (d)->checksum)

#define VIT_MAX_NOTES 12

/* This many of the files that are left out are named, each in a note of its own. */
#define VIT_UNREADABLE_NAMED 3

typedef struct vit_dataset {
    char name[256];      /* for titles, logs and messages: of a known set ("mnist", "cifar10", ...),
                            or of the directory; of joined sets all names: "mnist+digits" */
    const char *preset;  /* the default preset to train it with */
    bool is_digits;      /* one digit in each picture, white on black, placed as in MNIST; other
                            pictures are prepared like that by VIT_OP_DIGIT */
    bool has_characters; /* classes are digits or letters, or may be, as they have no names:
                            pictures must not be mirrored */
    char checksum[65];   /* SHA-256, hex, of the data that define the training part, or the test
                            part if only that was read; goes into the model's recipe. Of files it
                            is that of their uncompressed bytes, in a fixed order */
    char corrected[65];  /* the same with the pictures that lists leave out or give another class;
                            "": there are none */
    char
        *joined; /* the checksums of all joined sets, each 64 digits after a space; NULL: one set */
    size_t height, width, channels, classes;
    /* If the answers are texts, target_vocabulary is theirs and `classes` is 0; if the records are
     * texts, source_vocabulary is theirs and height, width and channels are 0. Otherwise the count
     * of these is 0. */
    vit_vocabulary source_vocabulary, target_vocabulary;
    size_t most_source, most_target; /* ids of the longest text of all parts that were read */
    const char *const *labels;       /* [classes] names; NULL: classes are numbers */
    void *label_memory;              /* the block that `labels` is in; NULL: it is constant */
    float mean[3], std[3]; /* per channel, of the training pixels / 255: the published ones for
                              known sets, ImageNet's for folders; of the test pixels if only those
                              were read; std is 1 for pictures that do not vary */
    vit_preprocessing preprocessing; /* by which records were prepared; count 0: they were stored
                                        as they are */
    bool unrounded;                  /* vit_preparation's */
    const vit_kernels *kernels;      /* those of the options */
    vit_shard_files *shard_files;    /* NULL: no pictures are in shards */
    vit_records train, val, test;    /* val: the validation part of the set; most have none */
    char *class_source;              /* what names the classes of pictures in files: "column label
                                        of train.csv", "folders"; NULL: other data */
    bool test_is_val;                /* there is no test part: `test` is `val` */
    const char *test_is;  /* which pictures were chosen as the test part, in a few words; NULL: the
                             set has such a part */
    vit_copy_list copies; /* pictures that were left out as copies of test pictures; and all others,
                             if they were listed (datasets/duplicates.h) */
    char *notes[VIT_MAX_NOTES]; /* for the user, one sentence each */
    size_t note_count;
} vit_dataset;

/* If a set has no validation part, VAL asks for TRAIN, of which the caller holds some back. */
enum { VIT_PART_TRAIN = 1, VIT_PART_TEST = 2, VIT_PART_VAL = 4 };

/* How a model prepares its pictures. */
typedef struct vit_preparation {
    size_t height, width, channels;
    vit_preprocessing preprocessing;
    bool unrounded; /* no picture in a file is kept in memory: vit_record_normalize prepares it at
                       each use, and does not round what the preprocessing leaves as floats */
} vit_preparation;

/* Bytes of prepared pixels of a folder that are kept in memory; pictures beyond that are read and
 * prepared at each use. */
#define VIT_DATASET_CACHE ((size_t)2 << 30)

typedef struct vit_dataset_options {
    const vit_arrays *arrays; /* the data, if not NULL; DATA is then only a title, or NULL */
    unsigned need, want; /* bits of VIT_PART_*: parts that must be there, parts that are read if
                            they are there; others are not read */
    const vit_preparation *preparation; /* for pictures as people have them; NULL: it is chosen.
                                           Sets of prepared records ignore it, except that grey
                                           records become colours where it makes these */
    size_t height, width;   /* the size of pictures as people have them, without a preparation;
                               0: it is chosen */
    const char *trained_on; /* checksums of the data that the model to be tested was trained on
                               ("": unknown). Decides what the test is of data without parts: the
                               validation pictures, if it was trained on these data, else all.
                               NULL: always the validation pictures */
    /* Vocabularies of a model, for tables of texts; NULL: they are made of the training texts. */
    const vit_vocabulary *source_vocabulary, *target_vocabulary;
    bool finds_copies;        /* copies among the training pictures are looked for, and noted:
                                 vit_records' copies */
    bool empty_classes;       /* classes may have no training picture */
    bool splits_are_classes;  /* classes may be called train, val or test, as parts are */
    const char *class_column; /* the column of a table of pictures that names the classes; NULL:
                                 chosen by its name (docs/data.md). ARGUMENT for other data */
    const char *exclude, *relabel; /* lists of pictures (tables/corrections.h), or NULL. ARGUMENT
                                      for data that are no pictures in files */
    const char *tag_branch; /* the classes are the tags of the pictures (vit_picture_tags), under
                               this branch; "": all tags; NULL: they are not. ARGUMENT for data that
                               are no pictures in a folder */
    bool learns;            /* the test part is learnt from, where `trained_on` makes all
                               pictures of it: its classes are checked as in a training part */
    bool multi_label;       /* a picture of a table may have several classes, or none, and those
                               of folders have one each: vit_records_list_classes. ARGUMENT for
                               other data */
    size_t cache;           /* instead of VIT_DATASET_CACHE; 0: that */
    int threads;            /* threads that decode pictures on opening; 0: one */
    const vit_kernels *kernels; /* kernels that resample them; NULL: the best of this processor */
    /* Called for each file that cannot be read, "FILE: why", but for the first
     * VIT_UNREADABLE_NAMED: these are in the notes, or in the error if there is one. NULL: they are
     * not named. */
    void (*unreadable)(const char *problem, void *user);
    void *user;
} vit_dataset_options;

/* Opens DATA: an existing directory; a file FILE.npz; or a name: "digits" and others are made by
 * the program (reader.h), "mnist", "fashion", "cifar10" and "cifar100" are looked for as
 * directories in $VIT_DATA, then in data/, and if they are not found the message says where, and
 * how to get them. FIRST+SECOND is FIRST with the training pictures of SECOND after its own. At
 * least one part must be there. Errors: IO for what is missing, ARGUMENT if DATA is NULL, FORMAT
 * and UNSUPPORTED for a file, MISMATCH for files that disagree, MEMORY; *out is then zeroed. Freed
 * by vit_dataset_close. */
vit_status vit_dataset_open(vit_dataset *out, const char *data, const vit_dataset_options *options,
                            vit_error *error);
void vit_dataset_close(vit_dataset *dataset);

/* UNSUPPORTED if the answers are texts, for callers that need classes. */
vit_status vit_dataset_need_classes(const vit_dataset *dataset, vit_error *error);

/* The pixels of a record in memory; NULL if they are not in memory. */
const uint8_t *vit_record_pixels(const vit_dataset *d, const vit_records *r, size_t index);

/* The file that a record comes from; NULL if a file has many records, or there is none. */
const char *vit_record_file(const vit_records *r, size_t index);

/* pixels [height][width][channels] = a copy of those of a record, wherever they are. May be called
 * from several threads at once. Errors: those of vit_preprocess_bytes, for a file that has changed
 * or vanished since the set was opened. */
vit_status vit_record_read(const vit_dataset *d, const vit_records *r, size_t index,
                           uint8_t *pixels, vit_error *error);

/* The same without a copy if the record is in memory: *pixels points to its pixels there, or to
 * *scratch, which is allocated when it is first needed (begins as NULL, freed by vit_free). */
vit_status vit_record_get(const uint8_t **pixels, uint8_t **scratch, const vit_dataset *d,
                          const vit_records *r, size_t index, vit_error *error);

/* *out = the record as a prepared picture, of an unrounded set with its floats; freed by
 * vit_image_free. */
vit_status vit_record_prepare(vit_image *out, const vit_dataset *d, const vit_records *r,
                              size_t index, vit_error *error);

/* image: [height][width][channels] = the record as a network reads it; table: the set's
 * vit_normalize_table. scratch as in vit_record_get. */
vit_status vit_record_normalize(float *image, uint8_t **scratch, const vit_dataset *d,
                                const vit_records *r, size_t index, const float *table,
                                vit_error *error);

/* ---- single drawn pictures: pixels [28][28], white on black ---- */

/* Draws record `index` of a set of digits with this seed. Returns its label, 0..9. */
uint8_t vit_digits_draw(uint8_t *pixels, uint64_t seed, uint32_t index);

/* Draws something that is no digit: at random a letter, a sign, a figure, a scribble or a texture.
 */
void vit_stranger_draw(uint8_t *pixels, vit_random *r);

#endif
