/* For the tests of the image floor: pictures of noise, the fixtures' files, PNG files by hand. */
#ifndef TESTS_PICTURES_H
#define TESTS_PICTURES_H

#include "vit/base/sys.h"
#include "vit/image/image.h"

#include <stdio.h>

/* The same bytes as noise() in tests/fixtures/noise.py; kind 0: bytes, 1: 0 and 255. */
vit_image noise_picture(size_t width, size_t height, size_t channels, uint32_t kind);

uint32_t picture_crc(const vit_image *image);

/* A file of tests/fixtures; fails the test where it is missing. */
FILE *open_fixture(const char *name);
vit_bytes read_fixture(const char *name);

/* The path of a file beside the data: $VIT_DATA/../images/NAME. */
void shared_image_path(char path[512], const char *name);
bool file_exists(const char *path);

/* hex: two digits a byte; returns the number of bytes. */
size_t parse_hex(const char *hex, uint8_t *bytes, size_t limit);

/* A PNG file that grows by chunks. */
typedef struct png_builder {
    uint8_t bytes[1 << 17];
    size_t size;
} png_builder;

void png_begin(png_builder *png, uint32_t width, uint32_t height, int depth, int color,
               int interlace);
void png_chunk(png_builder *png, const char *type, const void *data, size_t size);
/* An IDAT chunk of `data`, compressed. */
void png_data(png_builder *png, const void *data, size_t size);

#endif
