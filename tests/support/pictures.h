/* For tests of vit/image: pictures of noise, files of tests/fixtures, PNG files made by hand. */
#ifndef VIT_TESTS_SUPPORT_PICTURES_H
#define VIT_TESTS_SUPPORT_PICTURES_H

#include "vit/base/sys.h"
#include "vit/image/image.h"

#include <stdio.h>

/* The bytes that noise() in tests/fixtures/noise.py returns. kind 0: any bytes, 1: 0 and 255. Freed
 * by vit_image_free. */
vit_image noise_picture(size_t width, size_t height, size_t channels, uint32_t kind);

/* The CRC-32 of the pixels. */
uint32_t picture_crc(const vit_image *image);

/* Opens, or reads, a file of tests/fixtures; the test fails if it is missing. */
FILE *open_fixture(const char *name);
vit_bytes read_fixture(const char *name);

/* bytes [limit]: of hex, two digits for each; returns how many. */
size_t parse_hex(const char *hex, uint8_t *bytes, size_t limit);

/* A PNG file that is built chunk by chunk. */
typedef struct png_builder {
    uint8_t bytes[1 << 17];
    size_t size;
} png_builder;

/* Starts the file with its signature and IHDR. */
void png_begin(png_builder *png, uint32_t width, uint32_t height, int depth, int color,
               int interlace);
/* Adds a chunk, with its CRC. */
void png_chunk(png_builder *png, const char *type, const void *data, size_t size);
/* Adds an IDAT chunk with the compressed data. */
void png_data(png_builder *png, const void *data, size_t size);

#endif
