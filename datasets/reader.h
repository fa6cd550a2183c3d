/* What a reader of a kind of directory looks like to open.c, and the sets that need no files. */
#ifndef VIT_DATASETS_READER_H
#define VIT_DATASETS_READER_H

#include "datasets/dataset.h"
#include "vit/base/text.h"

/* A directory and the sorted names in it. */
typedef struct vit_listing {
    const char *path;
    char *const *names;
    size_t count;
} vit_listing;

typedef struct vit_reader {
    const char *expects; /* what such a directory holds, for messages */
    /* Is this a directory of that kind? By names alone. */
    bool (*probe)(const vit_listing *directory);
    /* Fills *out, which is zeroed; on failure what it holds is freed by the caller. */
    vit_status (*read)(vit_dataset *out, const vit_listing *directory,
                       const vit_dataset_options *options, vit_error *error);
} vit_reader;

bool vit_listing_has(const vit_listing *directory, const char *name);

/* ---- records.c ---- */

struct vit_files {
    size_t resident; /* so many records, the first ones, are in memory */
    char **paths;    /* [count], each of its own */
};

/* Frees `count` strings and their array; takes NULL. */
void vit_names_free(char **names, size_t count);

void vit_files_free(vit_files *files, size_t count); /* takes NULL */

/* Pictures that are a function of their index: the first member of what they are drawn from. */
struct vit_drawing {
    /* pixels [height][width][channels] of record `index`; called from any thread. */
    void (*draw)(uint8_t *pixels, const vit_drawing *drawing, size_t index);
    void (*free)(vit_drawing *drawing);
};

/* Adds text number `index` to `text`, which is empty. */
typedef void vit_put_text(vit_text *text, size_t index, const void *context);

#define VIT_MOST_SIGNS 1024 /* of a text */

/* Texts 0 .. count - 1 of a source as ids of the vocabulary, into out, which is zeroed; *most
 * becomes the length of the longest, if that is more. Errors: MEMORY, and those of
 * vit_vocabulary_encode; *reached is the number of the text. */
vit_status vit_texts_encode(vit_texts *out, size_t *most, size_t *reached,
                            const vit_vocabulary *vocabulary, size_t count, vit_put_text *source,
                            const void *context, vit_error *error);

/* pixels: [height][width][channels] of the picture in a file, prepared as the set's are. */
vit_status vit_prepare_file(uint8_t *pixels, const vit_dataset *dataset, const char *path,
                            vit_error *error);

/* need and want, without VAL: what is read of a set that has no such part. */
vit_dataset_options vit_options_without_val(const vit_dataset_options *options);

/* Every class, 0 .. classes - 1, has a training picture, where there is a training part. `where` is
 * the directory. Errors: FORMAT. */
vit_status vit_dataset_check_classes(const vit_dataset *dataset, const char *where,
                                     vit_error *error);

/* Adds a note, a sentence for the user; beyond VIT_MAX_NOTES it is dropped. */
vit_status vit_dataset_note(vit_dataset *dataset, vit_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Mean and deviation of the pixels in memory / 255, of the training part where there is one. */
void vit_dataset_measure(vit_dataset *dataset);

/* ---- join.c ---- */

/* The training pictures of b go behind those of a; everything else stays a's, but the title
 * (a+b), the checksum and the notes. Errors: MISMATCH where the sizes of the pictures, the number
 * of classes or their labels differ, UNSUPPORTED where a part is not in memory, MEMORY. */
vit_status vit_dataset_join(vit_dataset *a, const vit_dataset *b, vit_error *error);

/* ---- idx.c ---- */

extern const vit_reader vit_reader_idx;

/* An IDX file of unsigned bytes in memory. */
typedef struct vit_idx {
    size_t count, height, width; /* labels: height and width 1 */
    size_t offset;               /* of the first byte after the header */
} vit_idx;

/* Checks the header and that the size is what it promises. dimensions: 3 for pictures, 1 for
 * labels. `name` stands for the file in messages. Errors: FORMAT; UNSUPPORTED for pictures of over
 * 1024 a side. */
vit_status vit_idx_parse(vit_idx *out, const uint8_t *bytes, size_t size, unsigned dimensions,
                         const char *name, vit_error *error);

/* ---- cifar.c ---- */

extern const vit_reader vit_reader_cifar;

/* Checks a file of CIFAR-10 or CIFAR-100 (classes 10 or 100) in memory: whole records, labels in
 * range; *count of them. `name` stands for the file in messages. Errors: FORMAT. */
vit_status vit_cifar_parse(size_t *count, const uint8_t *bytes, size_t size, unsigned classes,
                           const char *name, vit_error *error);

/* Records that were checked: planes become pixels [count][32][32][3]; labels [count], the fine
 * ones. */
void vit_cifar_unpack(uint8_t *pixels, uint16_t *labels, const uint8_t *bytes, size_t count,
                      unsigned classes);

/* ---- folder.c ---- */

extern const vit_reader vit_reader_folder;

/* Pictures as they are, made squares of one of a few sides, the largest within `shorter`, in three
 * channels. */
vit_preparation vit_square_preparation(size_t shorter);

/* Pictures become height x width as a whole. */
void vit_fitted_preparation(vit_preparation *out, size_t height, size_t width);

/* ---- arrays.c ---- */

/* Copies the parts that are asked for. `name` stands for the arrays in messages. Errors: ARGUMENT,
 * FORMAT, IO for a part that is needed and absent, MEMORY. */
vit_status vit_arrays_open(vit_dataset *out, const char *name, const vit_arrays *arrays,
                           const vit_dataset_options *options, vit_error *error);

/* SHA-256, hex, of the sizes, the labels and the pictures of one part. */
void vit_arrays_checksum(char checksum[65], const vit_arrays *arrays, const vit_array_part *part);

/* ---- numpy.c ---- */

extern const vit_reader vit_reader_numpy;

/* A file of arrays, FILE.npz. */
bool vit_numpy_is(const char *path);
vit_status vit_numpy_open(vit_dataset *out, const char *path, const vit_dataset_options *options,
                          vit_error *error);

/* The same from its bytes, which are borrowed for the call; *out is zeroed before. */
vit_status vit_numpy_parse(vit_dataset *out, const uint8_t *bytes, size_t size, const char *name,
                           const vit_dataset_options *options, vit_error *error);

/* ---- digits.c ---- */

/* The drawn set: 20,000 pictures for training, 2,000 for testing, the same everywhere. */
vit_status vit_digits_open(vit_dataset *out, unsigned parts, vit_error *error);

/* ---- table.c ---- */

extern const vit_reader vit_reader_labels, vit_reader_pairs;

/* ---- strips.c ---- */

/* "strips", "drawn-strips", or either with ":LANGUAGE" or ":N": rows of two to six digits, or of N,
 * of MNIST's pictures or of drawn ones, and the digits, or the number in words. False: `name` is
 * none. */
bool vit_strips_is(const char *name);
vit_status vit_strips_open(vit_dataset *out, const char *name, const vit_dataset_options *options,
                           vit_error *error);

/* ---- numbers.c ---- */

/* "numbers:A-B": numbers below a million in words of language A, to be said in B; "numbers:A":
 * those words alone, for a language model. */
bool vit_numbers_is(const char *name);
vit_status vit_numbers_open(vit_dataset *out, const char *name, const vit_dataset_options *options,
                            vit_error *error);

#endif
