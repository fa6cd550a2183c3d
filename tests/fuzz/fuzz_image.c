/* Decodes arbitrary bytes and prepares what comes out as 28 x 28 pixels, by resizing and as a
 * digit; then both in one, which must give the same.
 *
 *     make fuzz && build/fuzz/fuzz_image -max_len=65536 CORPUS tests/fixtures/images/pngsuite
 *
 * Seeds of the other formats: the files in tests/fixtures/formats.gz (make_formats.py says how they
 * lie there).
 */
#include "vit/image/codec/decode.h"
#include "vit/image/prepare/preprocess.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed);

#define RESIZED(first)                                                                       \
    {                                                                                        \
        .operations = {{.kind = first},                                                      \
                       {.kind = VIT_OP_RESIZE, .shorter = 32, .filter = VIT_FILTER_BICUBIC}, \
                       {.kind = VIT_OP_CENTER_CROP, .height = 28, .width = 28},              \
                       {.kind = VIT_OP_NORMALIZE, .std = {1, 1, 1}}},                        \
        .count = 4                                                                           \
    }

static const struct {
    size_t channels;
    vit_preprocessing list;
} preparations[] = {
    {1, RESIZED(VIT_OP_GREY)},
    {3, RESIZED(VIT_OP_RGB)},
    {1,
     {.operations = {{.kind = VIT_OP_ORIENT},
                     {.kind = VIT_OP_COMPOSITE, .background = {255, 255, 255}},
                     {.kind = VIT_OP_DIGIT},
                     {.kind = VIT_OP_NORMALIZE, .std = {1, 1, 1}}},
      .count = 4}},
};

/* image: NULL where the bytes cannot be decoded. */
static void prepare(size_t i, const vit_image *image, const uint8_t *data, size_t size) {
    const size_t channels = preparations[i].channels;
    const vit_preprocessing *list = &preparations[i].list;
    vit_image two = {0}, one;
    const bool prepared =
        image && vit_preprocess(&two, image, list, 28, 28, channels, NULL, NULL) == VIT_OK;
    const bool at_once = vit_preprocess_bytes(&one, data, size, "fuzz", list, 28, 28, channels,
                                              NULL, NULL) == VIT_OK;
    if (prepared != at_once) abort();
    if (prepared && memcmp(one.pixels, two.pixels, 28 * 28 * channels) != 0) abort();
    vit_image_free(&one);
    vit_image_free(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_image image;
    const bool decoded = vit_image_decode(&image, data, size, "fuzz", NULL) == VIT_OK;
    for (size_t i = 0; i < sizeof preparations / sizeof *preparations; i++)
        prepare(i, decoded ? &image : NULL, data, size);
    vit_image_free(&image);
    return 0;
}

static size_t get_u32(const uint8_t *p) {
    return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

/* Repairs the check sums of a PNG, which would otherwise end nearly every run at once. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed) {
    (void)seed;
    size = LLVMFuzzerMutate(data, size, limit);
    if (size < 8 || memcmp(data, "\x89PNG\r\n\x1a\n", 8) != 0) return size;
    for (size_t at = 8; size - at >= 12;) {
        size_t length = get_u32(data + at);
        if (length > size - at - 12) break;
        uint8_t *crc = data + at + 8 + length;
        uLong sum = crc32_z(0, data + at + 4, length + 4);
        for (int i = 0; i < 4; i++) crc[i] = (uint8_t)(sum >> (24 - 8 * i));
        at += length + 12;
    }
    return size;
}
