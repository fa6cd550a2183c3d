#include "vit/image/digit/bits.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"

#include <string.h>

vit_status vit_bits_new(vit_bits *out, size_t width, size_t height, vit_error *error) {
    const size_t row = vit_ceil_div(width, 64);
    *out = (vit_bits){.words = vit_alloc(row * height, 8), width, height, row};
    return out->words ? VIT_OK : vit_fail_memory(error, "digit", row * height * 8);
}

void vit_bits_copy(vit_bits *out, const vit_bits *in) {
    memcpy(out->words, in->words, in->row * in->height * sizeof *in->words);
}

void vit_bits_without(vit_bits *out, const vit_bits *in, const vit_bits *less) {
    for (size_t i = 0; i < in->row * in->height; i++)
        out->words[i] = in->words[i] & ~less->words[i];
}

void vit_bits_clear(vit_image *image, const vit_bits *bits) {
    for (size_t y = 0; y < bits->height; y++) {
        size_t start, end = 0;
        while (vit_bits_run(bits->words + y * bits->row, bits->row, &start, &end))
            memset(image->pixels + y * image->width + start, 0, end - start);
    }
}

static uint64_t word_of(const uint8_t *pixels, unsigned threshold) {
    uint8_t is_one[64];
    const uint8_t least = (uint8_t)threshold;
    for (size_t i = 0; i < 64; i++) is_one[i] = pixels[i] >= least;
    return vit_bits_gather(is_one);
}

void vit_bits_of(vit_bits *out, const vit_image *in, unsigned threshold) {
    for (size_t y = 0; y < in->height; y++) {
        const uint8_t *row = in->pixels + y * in->width;
        uint64_t *words = out->words + y * out->row;
        uint8_t rest[64] = {0};
        for (size_t i = 0; i < in->width / 64; i++) words[i] = word_of(row + 64 * i, threshold);
        if (in->width % 64 == 0) continue;
        memcpy(rest, row + in->width / 64 * 64, in->width % 64);
        words[out->row - 1] = word_of(rest, threshold);
    }
}

/* Exchanges rows and columns of 64 x 64 bits: squares of 32 x 32 beside the diagonal, then of
 * 16 x 16 within each square, and so on (Warren: Hacker's Delight, 7-3). */
static void turn_square(uint64_t square[64]) {
    uint64_t mask = 0xffffffff;
    for (size_t half = 32; half > 0; half /= 2, mask ^= mask << half) {
        for (size_t k = 0; k < 64; k = (k + half + 1) & ~half) {
            const uint64_t other = ((square[k] >> half) ^ square[k + half]) & mask;
            square[k] ^= other << half;
            square[k + half] ^= other;
        }
    }
}

void vit_bits_turn(vit_bits *out, const vit_bits *in) {
    for (size_t y = 0; y < in->height; y += 64) {
        for (size_t i = 0; i < in->row; i++) {
            uint64_t square[64] = {0}, any = 0;
            const size_t rows = vit_min(64, in->height - y),
                         columns = vit_min(64, in->width - 64 * i);
            for (size_t k = 0; k < rows; k++) any |= square[k] = in->words[(y + k) * in->row + i];
            if (any) turn_square(square);
            for (size_t k = 0; k < columns; k++)
                out->words[(64 * i + k) * out->row + y / 64] = square[k];
        }
    }
}

vit_bounds vit_bits_box(const vit_bits *bits) {
    vit_bounds box = {.left = bits->width, .top = bits->height};
    for (size_t y = 0; y < bits->height; y++) {
        const uint64_t *row = bits->words + y * bits->row;
        size_t first = 0, last = bits->row;
        while (first < last && !row[first]) first++;
        if (first == last) continue;
        while (!row[last - 1]) last--;
        const size_t blank = (size_t)__builtin_clzll(row[last - 1]);
        box.left = vit_min(box.left, 64 * first + vit_bits_first(row[first]));
        box.right = vit_max(box.right, 64 * last - blank);
        box.top = vit_min(box.top, y);
        box.bottom = y + 1;
    }
    return box;
}

bool vit_bits_run(const uint64_t *row, size_t words, size_t *start, size_t *end) {
    size_t i = *end / 64;
    if (i >= words) return false;
    uint64_t word = row[i] & ~(uint64_t)0 << *end % 64;
    while (!word)
        if (++i == words)
            return false;
        else
            word = row[i];
    const size_t first = vit_bits_first(word);
    *start = 64 * i + first;
    word = ~(word | (((uint64_t)1 << first) - 1)); /* the zeros after the start */
    while (!word && ++i < words) word = ~row[i];
    *end = i < words ? 64 * i + vit_bits_first(word) : 64 * words;
    return true;
}
