/* Drawn pictures of 32 x 32 in colour of many kinds, for networks that shall know more than things:
 * patterns (honeycomb, zigzag, rings, crackle, ...) in two colours, surfaces of one colour each,
 * and signs and letters written by hand, turned and placed anywhere.
 *
 * A picture is a function of (kind, random numbers), to the byte, on every machine.
 */
#ifndef VIT_DATASETS_MADE_PATTERNS_H
#define VIT_DATASETS_MADE_PATTERNS_H

#include "vit/base/random.h"
#include <stddef.h>
#include <stdint.h>

#define VIT_PATTERN_SIDE 32
#define VIT_PATTERN_BYTES (3 * VIT_PATTERN_SIDE * VIT_PATTERN_SIDE)

/* How many kinds there are, and what a kind is called; `sign 12` for the signs, which have no
 * names. name: [16]. */
size_t vit_pattern_kinds(void);
void vit_pattern_name(char name[16], size_t kind);

/* pixels [32][32][3] = a picture of this kind. */
void vit_pattern_draw(uint8_t *pixels, size_t kind, vit_random *r);

#endif
