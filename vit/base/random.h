/* Random numbers as a pure function of (seed, purpose, epoch, position): Philox 4x32-10.
 * Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011).
 *
 * There is no hidden state: a stream is started where it is needed and gives the same numbers on
 * every machine, whatever was drawn before.
 *
 *     vit_random r = vit_random_start(seed, VIT_RANDOM_AUGMENT, epoch, position);
 *     uint32_t shift = vit_random_below(&r, 5);
 *
 * In which order arguments are computed C leaves to the compiler: at most one draw in a call.
 */
#ifndef VIT_BASE_RANDOM_H
#define VIT_BASE_RANDOM_H

#include <stdint.h>

typedef enum vit_purpose {
    VIT_RANDOM_INIT = 1,      /* position: index of the tensor */
    VIT_RANDOM_SPLIT,         /* which training pictures are held back */
    VIT_RANDOM_SHUFFLE,       /* order of an epoch */
    VIT_RANDOM_AUGMENT,       /* position: in the epoch */
    VIT_RANDOM_DIGITS,        /* drawn digits; position: index of the picture */
    VIT_RANDOM_TEST,          /* tests and benchmarks */
    VIT_RANDOM_DROP_PATH = 7, /* position: in the epoch */
    VIT_RANDOM_MIX,           /* position: in the epoch */
    VIT_RANDOM_FLIP,          /* position: number of the record */
    VIT_RANDOM_STRIPS,        /* rows of digits; position: index of the picture */
    VIT_RANDOM_NUMBERS,       /* numbers in words; position: index of the record */
    VIT_RANDOM_MAP,           /* the map "random", with which others are compared */
    VIT_RANDOM_WRITE,         /* tokens of texts; epoch: of the text, position: in it */
    VIT_RANDOM_STRANGER,      /* position: in the epoch */
    VIT_RANDOM_PACK,          /* order of pictures in shards; epoch: number of the part */
    VIT_RANDOM_MEDLEY,        /* drawn pictures of many kinds; position: index of the picture */
} vit_purpose;

typedef struct vit_random {
    uint32_t key[2], counter[4], block[4];
    int left; /* words of block that are unused */
} vit_random;

/* out = Philox4x32-10(counter, key). */
void vit_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* The stream of random numbers for this purpose and position. */
vit_random vit_random_start(uint64_t seed, vit_purpose purpose, uint32_t epoch, uint32_t position);

uint32_t vit_random_u32(vit_random *r);
uint32_t vit_random_below(vit_random *r, uint32_t n); /* 0 .. n-1, unbiased; n > 0 */
double vit_random_uniform(vit_random *r);             /* [0, 1), 53 bits */
double vit_random_normal(vit_random *r);              /* N(0, 1) */

/* [low, high), uniform */
static inline double vit_random_between(vit_random *r, double low, double high) {
    return low + (high - low) * vit_random_uniform(r);
}

/* order[0..n) becomes a permutation of its elements (Fisher-Yates). */
void vit_random_shuffle(vit_random *r, uint32_t *order, uint32_t n);

#endif
