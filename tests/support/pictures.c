#include "tests/support/pictures.h"
#include "tests/support/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

vit_image noise_picture(size_t width, size_t height, size_t channels, uint32_t kind) {
    size_t count = width * height * channels;
    uint32_t state = (uint32_t)(1000003 * width + 1009 * height + 13 * channels) + kind;
    vit_image image = {
        .pixels = vit_alloc(count, 1), .width = width, .height = height, .channels = channels};
    assert_non_null(image.pixels);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525U + 1013904223U;
        image.pixels[i] = (uint8_t)(kind ? 255U * (state >> 31) : state >> 24);
    }
    return image;
}

uint32_t picture_crc(const vit_image *image) {
    return (uint32_t)crc32_z(0, image->pixels, image->width * image->height * image->channels);
}

static void fixture_path(char path[512], const char *name) {
    snprintf(path, 512, "tests/fixtures/%s", name);
}

FILE *open_fixture(const char *name) {
    char path[512];
    fixture_path(path, name);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("%s is missing", path);
    return file;
}

vit_bytes read_fixture(const char *name) {
    char path[512];
    vit_bytes bytes = {0};
    vit_error error;
    fixture_path(path, name);
    if (vit_read_file(&bytes, path, 1 << 20, &error)) fail_msg("%s", error.message);
    return bytes;
}

size_t parse_hex(const char *hex, uint8_t *bytes, size_t limit) {
    size_t count = 0;
    unsigned value = 0;
    while (count < limit && sscanf(hex + 2 * count, "%2x", &value) == 1)
        bytes[count++] = (uint8_t)value;
    return count;
}

static void put_u32(uint8_t *p, uint32_t value) {
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(value >> (24 - 8 * i));
}

void png_chunk(png_builder *png, const char *type, const void *data, size_t size) {
    uint8_t *p = png->bytes + png->size;
    assert_true(png->size + size + 12 <= sizeof png->bytes);
    put_u32(p, (uint32_t)size);
    memcpy(p + 4, type, 4);
    if (size) memcpy(p + 8, data, size);
    put_u32(p + 8 + size, (uint32_t)crc32_z(0, p + 4, size + 4));
    png->size += size + 12;
}

void png_begin(png_builder *png, uint32_t width, uint32_t height, int depth, int color,
               int interlace) {
    uint8_t header[13] = {0};
    memcpy(png->bytes, "\x89PNG\r\n\x1a\n", 8);
    png->size = 8;
    put_u32(header, width);
    put_u32(header + 4, height);
    header[8] = (uint8_t)depth;
    header[9] = (uint8_t)color;
    header[12] = (uint8_t)interlace;
    png_chunk(png, "IHDR", header, sizeof header);
}

void png_data(png_builder *png, const void *data, size_t size) {
    uLongf room = compressBound((uLong)size);
    uint8_t *packed = vit_alloc(room, 1);
    assert_non_null(packed);
    assert_int_equal(compress2(packed, &room, data, (uLong)size, 9), Z_OK);
    png_chunk(png, "IDAT", packed, room);
    vit_free(packed);
}
