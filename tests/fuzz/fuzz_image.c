/* Decodes arbitrary bytes and prepares what comes out as 28 x 28 grey pixels, by resizing and as a
 * digit.
 *
 *     make fuzz && build/fuzz/fuzz_image -max_len=65536 CORPUS ../shared/images/pngsuite
 */
#include "vit/base/sys.h"
#include "vit/image/codec/decode.h"
#include "vit/image/prepare/preprocess.h"

#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const vit_preprocessing lists[] = {
        {.operations = {{.kind = VIT_OP_GREY},
                        {.kind = VIT_OP_RESIZE, .shorter = 28, .filter = VIT_FILTER_BICUBIC},
                        {.kind = VIT_OP_CENTER_CROP, .height = 28, .width = 28},
                        {.kind = VIT_OP_NORMALIZE, .std = {1, 1, 1}}},
         .count = 4},
        {.operations = {{.kind = VIT_OP_ORIENT},
                        {.kind = VIT_OP_COMPOSITE, .background = {255, 255, 255}},
                        {.kind = VIT_OP_DIGIT},
                        {.kind = VIT_OP_NORMALIZE, .std = {1, 1, 1}}},
         .count = 4},
    };
    vit_image image, prepared;
    if (vit_image_decode(&image, data, size, "fuzz", NULL)) return 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        vit_preprocess(&prepared, &image, &lists[i], 28, 28, 1, NULL, NULL);
        vit_image_free(&prepared);
    }
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
