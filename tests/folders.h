/* Folders of pictures, made for the tests of what reads them; opening any set of data. */
#ifndef TESTS_FOLDERS_H
#define TESTS_FOLDERS_H

#include "datasets/dataset.h"
#include "tests/pictures.h"

/* Makes the folders that lead to a file. */
void make_way(const char *path);

/* Writes a builder's PNG file, way included. */
void put_built_png(const char *path, png_builder *png);

/* A picture of one colour; grey when all three are equal. */
void put_png(const char *path, uint32_t width, uint32_t height, uint8_t red, uint8_t green,
             uint8_t blue);

/* count square pictures of one colour, (shade, number, 7): DIRECTORY/0.png, ... */
void put_class(const char *directory, int count, uint32_t side, uint8_t shade);

/* Sound from outside, its pixels are no zlib stream. */
void put_hollow_png(const char *path);

/* Opens a set, which must succeed. */
void open_set(vit_dataset *set, const char *data, const vit_dataset_options *options);

/* Opening fails with that status, says a and b, and leaves nothing behind. */
void refuse_set(const char *data, const vit_dataset_options *options, vit_status status,
                const char *a, const char *b);

/* Opens a set while the n-th call of the system fails: that leaves nothing behind and says why, or
 * did not need the call; then `check`, or NULL, looks at the set. Returns the status of opening. */
vit_status open_with_fault(const char *data, const vit_dataset_options *options, long n,
                           void (*check)(const vit_dataset *set));

bool has_note(const vit_dataset *set, const char *part);

#endif
