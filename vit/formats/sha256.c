#include "vit/formats/sha256.h"

#include "vit/base/cpu.h"
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n) {
    return x >> n | x << (32 - n);
}

/* w[0..64): the block's 16 words, each of the others a mixture of four before it. */
static void schedule(uint32_t w[64], const uint8_t block[64]) {
    for (int i = 0; i < 16; i++) {
        const uint8_t *b = block + 4 * i;
        w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        uint32_t s0 = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3;
        uint32_t s1 = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

static void compress(uint32_t state[8], const uint8_t block[64]) {
    uint32_t w[64];
    schedule(w, block);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
        uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        uint32_t t = h + s1 + choice + round_constants[i] + w[i];
        h = g, g = f, f = e, e = d + t;
        d = c, c = b, b = a, a = t + s0 + majority;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

/* Blocks that are compressed at once, at least, by the processor's instructions for SHA-256: asking
 * it takes longer than to compress a few. */
enum { MANY = 64 };

#if defined(__x86_64__)

/* The same of `count` blocks, one after the other. The instructions keep the state as a, b, e, f
 * and c, d, g, h, four words of the schedule in a register, and do two rounds each. */
__attribute__((target("sha,sse4.1"))) static void compress_many(uint32_t state[8],
                                                                const uint8_t *data, size_t count) {
    const __m128i bytes = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)state), 0xb1);
    __m128i high =
        _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; count > 0; count--, data += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; i++)
            w[i] =
                _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)data + i), bytes);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            const __m128i last = w[(i + 3) % 4];
            if (i >= 4) {
                const __m128i seventh = _mm_alignr_epi8(last, w[(i + 2) % 4], 4);
                const __m128i sum =
                    _mm_add_epi32(_mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]), seventh);
                w[i % 4] = _mm_sha256msg2_epu32(sum, last);
            }
            const __m128i *constants = (const __m128i *)(const void *)(round_constants + 4 * i);
            const __m128i added = _mm_add_epi32(w[i % 4], _mm_loadu_si128(constants));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(high, low, 8));
}

#else

static void compress_many(uint32_t state[8], const uint8_t *data, size_t count) {
    for (; count > 0; count--, data += 64) compress(state, data);
}

#endif

void vit_sha256_start(vit_sha256 *hash) {
    /* The first 32 bits of the fractions of the square roots of the first eight primes. */
    *hash = (vit_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                   0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void vit_sha256_add(vit_sha256 *hash, const void *bytes, size_t size) {
    const uint8_t *data = bytes;
    size_t held = hash->length % 64;
    hash->length += size;
    if (held > 0 && held + size >= 64) {
        memcpy(hash->block + held, data, 64 - held);
        compress(hash->state, hash->block);
        data += 64 - held, size -= 64 - held, held = 0;
    }
    if (held == 0 && size >= 64 * MANY && vit_cpu_has_sha()) {
        compress_many(hash->state, data, size / 64);
        data += size / 64 * 64, size %= 64;
    }
    for (; held == 0 && size >= 64; data += 64, size -= 64) compress(hash->state, data);
    if (size > 0) memcpy(hash->block + held, data, size);
}

void vit_sha256_end(vit_sha256 *hash, uint8_t digest[32]) {
    uint64_t bits = hash->length * 8;
    uint8_t padding[72] = {0x80};
    size_t zeros = (119 - hash->length % 64) % 64; /* so that 8 bytes are left of the last block */
    for (int i = 0; i < 8; i++) padding[1 + zeros + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    vit_sha256_add(hash, padding, 1 + zeros + 8);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void vit_sha256_digits(char hex[65], const uint8_t digest[32]) {
    for (int i = 0; i < 32; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[64] = 0;
}

void vit_sha256_hex(vit_sha256 *hash, char hex[65]) {
    uint8_t digest[32];
    vit_sha256_end(hash, digest);
    vit_sha256_digits(hex, digest);
}

void vit_sha256_digest(uint8_t digest[32], const void *bytes, size_t size) {
    vit_sha256 hash;
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, bytes, size);
    vit_sha256_end(&hash, digest);
}

void vit_sha256_of(char hex[65], const void *bytes, size_t size) {
    vit_sha256 hash;
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, bytes, size);
    vit_sha256_hex(&hash, hex);
}
