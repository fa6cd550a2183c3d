#include "tests/support/few_digits.h"

#define PIXELS (28 * 28)
#define TRAIN 500
#define TEST 50

const vit_arrays *few_digits(void) {
    static uint8_t pixels[(TRAIN + TEST) * PIXELS];
    static int64_t labels[TRAIN + TEST];
    static const vit_arrays arrays = {.height = 28,
                                      .width = 28,
                                      .channels = 1,
                                      .train = {pixels, labels, TRAIN},
                                      .test = {pixels + TRAIN * PIXELS, labels + TRAIN, TEST}};
    for (uint32_t i = 0; i < TRAIN + TEST; i++)
        labels[i] = vit_draw_digit(pixels + i * PIXELS, 1, i);
    return &arrays;
}
