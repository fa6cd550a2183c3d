/* Pictures of one bit per pixel, for the search of ink: 64 pixels are looked at at once. */
#ifndef VIT_IMAGE_DIGIT_BITS_H
#define VIT_IMAGE_DIGIT_BITS_H

#include "vit/image/image.h"

typedef struct vit_bits {
    uint64_t *words; /* [height][row]: the first pixel of a word is its lowest bit */
    size_t width, height;
    size_t row; /* words of a row; bits past the width are 0 */
} vit_bits;

typedef struct vit_bounds {
    size_t left, top, right, bottom; /* pixels; right and bottom are exclusive */
} vit_bounds;

/* Zeros; freed by vit_free(out->words). */
vit_status vit_bits_new(vit_bits *out, size_t width, size_t height, vit_error *error);

/* The following fill `out`, whose size is that of the result. */
void vit_bits_copy(vit_bits *out, const vit_bits *in);
void vit_bits_without(vit_bits *out, const vit_bits *in, const vit_bits *less);
void vit_bits_of(vit_bits *out, const vit_image *in, unsigned threshold); /* in >= threshold > 0 */
void vit_bits_turn(vit_bits *out, const vit_bits *in); /* rows and columns exchanged */

/* Sets the pixels of the ones to 0. */
void vit_bits_clear(vit_image *image, const vit_bits *bits);

/* The bounding box of the ones; if there are none, right and bottom are 0. */
vit_bounds vit_bits_box(const vit_bits *bits);

/* *start, *end = the next run of ones in a row, from column *end on; false: there is none. */
bool vit_bits_run(const uint64_t *row, size_t words, size_t *start, size_t *end);

/* A word of 64 bytes that are 0 or 1: a multiplication gathers 8 bytes into 8 bits. */
static inline uint64_t vit_bits_gather(const uint8_t is_one[64]) {
    uint64_t word = 0;
    for (size_t i = 0; i < 64; i += 8) {
        uint64_t group = 0;
        for (size_t k = 0; k < 8; k++) group |= (uint64_t)is_one[i + k] << 8 * k;
        word |= (group * 0x0102040810204080) >> 56 << i;
    }
    return word;
}

/* The bits of word `word` that are columns start .. end - 1. */
static inline uint64_t vit_bits_between(size_t word, size_t start, size_t end) {
    const size_t first = 64 * word, last = first + 64;
    uint64_t bits = start < last && end > first ? ~(uint64_t)0 : 0;
    if (start > first && start < last) bits &= ~(uint64_t)0 << (start - first);
    if (end > first && end < last) bits &= ~(uint64_t)0 >> (last - end);
    return bits;
}

/* The place of the lowest one of a word that is not 0. */
static inline size_t vit_bits_first(uint64_t word) {
    return (size_t)__builtin_ctzll(word);
}

#endif
