#include "vit/base/random.h"

#include <math.h>
#include <string.h>

#include "vit/base/math.h"

/* One round: two 32x32 -> 64-bit products, their halves crossed over and mixed with the key. */
static void philox_round(uint32_t c[4], const uint32_t key[2]) {
    uint64_t p0 = (uint64_t)0xD2511F53u * c[0];
    uint64_t p1 = (uint64_t)0xCD9E8D57u * c[2];
    c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ key[0];
    c[1] = (uint32_t)p1;
    c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ key[1];
    c[3] = (uint32_t)p0;
}

void vit_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    uint32_t c[4], k[2] = {key[0], key[1]};
    memcpy(c, counter, sizeof c);
    for (int round = 0; round < 10; round++) {
        philox_round(c, k);
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    memcpy(out, c, sizeof c);
}

vit_random vit_random_start(uint64_t seed, vit_purpose purpose, uint32_t epoch, uint32_t position) {
    return (vit_random){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .counter = {0, position, epoch, (uint32_t)purpose},
    };
}

uint32_t vit_random_u32(vit_random *r) {
    if (r->left == 0) {
        vit_philox(r->block, r->counter, r->key);
        r->counter[0]++;
        r->left = 4;
    }
    return r->block[4 - r->left--];
}

/* The high half of u32 * n is nearly uniform in 0..n-1. It is exactly so once the 2^32 mod n
 * smallest low halves are refused: then each result has as many products. */
uint32_t vit_random_below(vit_random *r, uint32_t n) {
    uint64_t product = (uint64_t)vit_random_u32(r) * n;
    if ((uint32_t)product < n) {
        uint32_t refused = -n % n;
        while ((uint32_t)product < refused) product = (uint64_t)vit_random_u32(r) * n;
    }
    return (uint32_t)(product >> 32);
}

double vit_random_uniform(vit_random *r) {
    uint64_t high = vit_random_u32(r) >> 6;
    uint64_t low = vit_random_u32(r) >> 5;
    return (double)(high << 27 | low) * 0x1p-53;
}

/* Box and Muller's, with the cosine only, so that a stream needs no memory of a second number. */
double vit_random_normal(vit_random *r) {
    double radius = sqrt(-2 * vit_log(1 - vit_random_uniform(r)));
    return radius * vit_cos(2 * VIT_PI * vit_random_uniform(r));
}

void vit_random_shuffle(vit_random *r, uint32_t *order, uint32_t n) {
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = vit_random_below(r, i);
        uint32_t other = order[j];
        order[j] = order[i - 1];
        order[i - 1] = other;
    }
}
