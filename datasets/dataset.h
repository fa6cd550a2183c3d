/* Labelled pictures of one size behind one small interface. Readers: idx.c (MNIST, Fashion-MNIST
 * and other sets of grey pictures), cifar.c (CIFAR-10, CIFAR-100), folder.c (a folder of PNG and
 * JPEG files per class), numpy.c and arrays.c (arrays in files and in memory), digits.c (drawn by
 * the program); open.c decides which.
 *
 * A data set is immutable after opening and may be read from any thread.
 */
#ifndef VIT_DATASETS_DATASET_H
#define VIT_DATASETS_DATASET_H

#include "vit/base/error.h"
#include "vit/base/random.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/text/vocabulary.h"

/* Where the records are that are not in memory; how those are drawn that are nowhere. */
typedef struct vit_files vit_files;
typedef struct vit_drawing vit_drawing;

/* The texts of records as ids without START and END, one behind the other: that of record i is
 * ids[at[i]] .. ids[at[i + 1] - 1], at least one. */
typedef struct vit_texts {
    uint32_t *ids;
    size_t *at; /* [count + 1], at[0] = 0; NULL: the records have no such text */
} vit_texts;

static inline vit_ids vit_texts_get(const vit_texts *t, size_t index) {
    return (vit_ids){t->ids + t->at[index], t->at[index + 1] - t->at[index]};
}

/* One part of a data set. count may be 0 (the part is absent). Records are pictures or texts
 * (`source`); what they are to be answered with is a class or a text (`target`). */
typedef struct vit_records {
    size_t count;
    uint8_t *pixels;  /* [count][height][width][channels], prepared, not normalised; of a set too
                         large for memory the first records only. NULL: of texts */
    uint16_t *labels; /* [count], each < classes; NULL where the answer is a text */
    vit_files *files; /* NULL: all records are in `pixels` */
    vit_drawing *drawing; /* none is: each is drawn when it is asked for; or NULL */
    vit_texts source, target;
    double entropy; /* of targets whose source is known: what a model that knew it would have to say
                       in nats per token, END among them; else 0 */
    char **names;   /* [count] of the files that such records come from; NULL: of none, or files
                       has them. vit_record_file tells */
} vit_records;

#define VIT_MAX_NOTES 8

/* So many of the files that are left out have a note each. */
#define VIT_UNREADABLE_NAMED 3

typedef struct vit_dataset {
    char name[256];      /* for titles, logs and messages: a known set's ("mnist", "cifar10", ...),
                            else the directory's; of joined sets all names: "mnist+digits" */
    const char *preset;  /* what trains it where nobody says otherwise */
    bool is_digits;      /* one digit each, white on black, placed as MNIST's are: other pictures
                            become so by VIT_OP_DIGIT */
    bool has_characters; /* digits or letters, or classes without a name that may be such: a
                            mirrored picture is none of its class */
    char checksum[65];   /* SHA-256, hex, of what defines the training part, or the test part where
                            that one was not read; goes into the model's recipe. Files count
                            uncompressed, in a fixed order (labels, then pictures) */
    char *joined; /* of joined sets the checksum of each, 64 digits after a space; NULL: one set */
    size_t height, width, channels, classes;
    /* Where the answer is a text, of target_vocabulary, there are no classes; where the records are
     * texts, of source_vocabulary, height, width and channels are 0. Otherwise their count is 0. */
    vit_vocabulary source_vocabulary, target_vocabulary;
    size_t most_source, most_target; /* ids of the longest text of all parts that were read */
    const char *const *labels;       /* [classes], or NULL: numbers */
    void *label_memory;              /* what `labels` lies in, one block; NULL: nothing of ours */
    float mean[3], std[3]; /* of the training pixels / 255: the published ones for known sets,
                              ImageNet's for folders; of the test pixels where only those were
                              read; std 1 for pictures that do not vary. One per channel */
    vit_preprocessing preprocessing; /* what made the records out of pictures as people have them;
                                        count 0: the records came as they are */
    const vit_kernels *kernels;      /* of the options */
    vit_records train, val, test;    /* val: the set's own, to choose by; most have none */
    bool test_is_val;                /* there is a val part, but no test part: `test` is `val` */
    const char *test_is; /* which pictures the test part is, a few words, where it is not simply
                            that; else NULL */
    char **unreadable;   /* [unreadable_count] files that are left out, "FILE: why" */
    size_t unreadable_count;
    char *notes[VIT_MAX_NOTES]; /* what the user should know, one sentence each */
    size_t note_count;
} vit_dataset;

/* VAL of a set without such a part is TRAIN: who wants to choose holds some of it back. */
enum { VIT_PART_TRAIN = 1, VIT_PART_TEST = 2, VIT_PART_VAL = 4 };

/* How a model wants its pictures. */
typedef struct vit_preparation {
    size_t height, width, channels;
    vit_preprocessing preprocessing;
} vit_preparation;

/* Bytes of prepared pixels that a folder's pictures may take in memory; what is beyond is read and
 * prepared again at each use. */
#define VIT_DATASET_CACHE ((size_t)2 << 30)

typedef struct vit_dataset_options {
    const vit_arrays *arrays; /* in place of what DATA names, which then is a title only, or NULL */
    unsigned need, want; /* parts, bits of VIT_PART_*: those that must be there, and those that are
                            read where they are there. Others are not read */
    const vit_preparation *preparation; /* for pictures as people have them; NULL: chosen. Sets of
                                           prepared records ignore it */
    size_t height, width;   /* without a preparation: what pictures as people have them become; 0:
                               chosen */
    const char *trained_on; /* checksums of what a model was trained on ("": unknown data), to test
                               it: a folder without parts is then tested with all its pictures, or,
                               where it is that very data, with those that were held back. NULL:
                               always with those */
    /* Those of a model, for tables of texts of one's own; NULL: made of their training texts. */
    const vit_vocabulary *source_vocabulary, *target_vocabulary;
    bool empty_classes;         /* classes without a training picture are no error */
    size_t cache;               /* in place of VIT_DATASET_CACHE; 0: that */
    int threads;                /* that decode pictures while a set is opened; 0: one */
    const vit_kernels *kernels; /* that resample them; NULL: the best here */
} vit_dataset_options;

/* Opens DATA: an existing directory, else a known name ("digits": drawn; "mnist", "fashion",
 * "cifar10", "cifar100": a directory of that name in $VIT_DATA, then in data/). Names of known
 * directories that are not found: the message says where was looked and how to get it. FIRST+SECOND
 * is the first with the training pictures of the second behind its own. At least one
 * part must be there. Errors: IO for what is absent (ARGUMENT only for DATA that is NULL), FORMAT
 * and UNSUPPORTED for one file, MISMATCH for files that disagree, MEMORY; then *out is zeroed.
 * Freed by vit_dataset_close. */
vit_status vit_dataset_open(vit_dataset *out, const char *data, const vit_dataset_options *options,
                            vit_error *error);
void vit_dataset_close(vit_dataset *dataset);

/* UNSUPPORTED where the answers are texts: for who wants classes. */
vit_status vit_dataset_need_classes(const vit_dataset *dataset, vit_error *error);

/* Pixels of one record where they lie; NULL when the record is not in memory. */
const uint8_t *vit_record_pixels(const vit_dataset *d, const vit_records *r, size_t index);

/* The file that a record comes from; NULL: it is one of many in a file, or drawn. */
const char *vit_record_file(const vit_records *r, size_t index);

/* Copies the pixels of one record, wherever it is: pixels [height][width][channels]. May be called
 * from several threads at once. Errors: those of vit_image_load and vit_preprocess, for a file that
 * changed or vanished since the set was opened. */
vit_status vit_record_read(const vit_dataset *d, const vit_records *r, size_t index,
                           uint8_t *pixels, vit_error *error);

/* The same without a copy where none is needed: *pixels is where they lie, or *scratch, which is
 * allocated when it is first needed (start with NULL, end with vit_free). */
vit_status vit_record_get(const uint8_t **pixels, uint8_t **scratch, const vit_dataset *d,
                          const vit_records *r, size_t index, vit_error *error);

/* ---- drawn digits, for who wants one ---- */

/* pixels: [28][28], white on black: the digit (0..9) of record `index` of a set drawn with `seed`;
 * the label is returned. */
uint8_t vit_digits_draw(uint8_t *pixels, uint64_t seed, uint32_t index);

/* The same of what is no digit: a letter, a sign, a figure, a scribble or a texture, as the random
 * numbers have it. */
void vit_stranger_draw(uint8_t *pixels, vit_random *r);

#endif
