/* For tests of data sets: makes folders of pictures, and opens data sets. */
#ifndef VIT_TESTS_SUPPORT_FOLDERS_H
#define VIT_TESTS_SUPPORT_FOLDERS_H

#include "datasets/dataset.h"
#include "tests/support/pictures.h"

/* Writes the PNG file of a builder, and makes its directories. */
void put_built_png(const char *path, png_builder *png);

/* Writes a picture of one colour, as a grey one if the three numbers are equal. */
void put_png(const char *path, uint32_t width, uint32_t height, uint8_t red, uint8_t green,
             uint8_t blue);

/* Writes `count` square pictures DIRECTORY/0.png, ...: number i has the colour (shade, i, 7). */
void put_class(const char *directory, int count, uint32_t side, uint8_t shade);

/* Writes a PNG file whose header is right, and whose pixels are not a zlib stream. */
void put_hollow_png(const char *path);

/* Opens a data set; the test fails if that fails. */
void open_set(vit_dataset *set, const char *data, const vit_dataset_options *options);

/* The test fails unless opening fails with that status and a message with a and b, and leaves the
 * set zeroed. */
void refuse_set(const char *data, const vit_dataset_options *options, vit_status status,
                const char *a, const char *b);

/* Opens a data set while the n-th system call fails, and returns the status. If it was opened
 * nevertheless, `check` (or NULL) is called and the set is closed; else there must be a message. In
 * both cases the set must be zeroed in the end. */
vit_status open_with_fault(const char *data, const vit_dataset_options *options, long n,
                           void (*check)(const vit_dataset *set));

/* Whether one of the set's notes contains `part`. */
bool has_note(const vit_dataset *set, const char *part);

#endif
