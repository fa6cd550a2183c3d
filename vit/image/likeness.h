/* Near-duplicates: whether two pictures are one that was saved again, mirrored, made brighter, or
 * cropped a little, as the pictures of a burst are. Only pixels decide; no network is asked. */
#ifndef VIT_IMAGE_LIKENESS_H
#define VIT_IMAGE_LIKENESS_H

#include "vit/base/error.h"
#include <stddef.h>
#include <stdint.h>

/* How two pictures are alike; the strongest is the last. */
typedef enum vit_alike {
    VIT_ALIKE_NOT,
    VIT_ALIKE_CROP,     /* one is a crop of the other, or both are of a third one */
    VIT_ALIKE_MIRRORED, /* mirrored, and perhaps saved again */
    VIT_ALIKE_NEAR,     /* saved again, another size, brighter */
    VIT_ALIKE_EXACT,    /* the same digest */
    VIT_ALIKE_COUNT
} vit_alike;

/* "exact", "near", "mirrored", "crop". */
const char *vit_alike_name(vit_alike alike);

#define VIT_LIKENESS_SIDE 32
#define VIT_LIKENESS_CROPS 76

/* What is compared of a picture: a small copy, and hashes of its crops. */
typedef struct vit_likeness {
    uint64_t digest;                        /* of the file or the pixels, by the caller; 0:
                                               not exactly like any other */
    uint64_t hashes[2][VIT_LIKENESS_CROPS]; /* dHash of the crops; [1]: mirrored */
    uint64_t steady[2]; /* the bits of hashes[...][0] where brightness changes by more than noise */
    uint8_t color[VIT_LIKENESS_SIDE * VIT_LIKENESS_SIDE * 3], /* a small copy */
        grey[VIT_LIKENESS_SIDE * VIT_LIKENESS_SIDE];          /* its means over colors */
    float tint[2]; /* mean of red - green and of blue - green */
    bool is_flat;  /* has too little contrast to be compared */
    bool is_photo; /* no grey takes a large part of it: crops can be recognised */
} vit_likeness;

/* *out = that of pixels [height][width][channels], with digest 0; channels: 1 or 3. */
void vit_likeness_of(vit_likeness *out, const uint8_t *pixels, size_t height, size_t width,
                     size_t channels);

/* A digest of bytes for vit_likeness, never 0. */
uint64_t vit_likeness_digest(const void *bytes, size_t size);

/* Near: the correlation of the small copies is at least .99. Crop: that of grey crops of 95 to 85 %
 * of each side is at least .97; only looked for if `crops`. */
vit_alike vit_likeness_compare(const vit_likeness *a, const vit_likeness *b, bool crops);

/* Two pictures that are alike. */
typedef struct vit_copy {
    uint32_t first, second;
    vit_alike alike;
} vit_copy;

/* Pairs of pictures that are alike, by first, then second; and groups: of pictures that pairs
 * connect. An exact copy is in one pair, with the first picture that it equals. */
typedef struct vit_copies {
    vit_copy *pairs; /* [pair_count] */
    size_t pair_count;
    uint32_t
        *group; /* [count] the first picture that each is connected with: itself, if with none */
    size_t count;
    size_t extra; /* pictures that are not the first of their group */
} vit_copies;

/* The result does not depend on `threads`. Crops are looked for among at most VIT_COPIES_CROPS
 * pictures, and beyond VIT_COPIES_MOST only exact copies are found, as every picture is compared
 * with every other. Freed by vit_copies_free, also on failure. Errors: MEMORY. */
#define VIT_COPIES_CROPS 10000
#define VIT_COPIES_MOST 50000
vit_status vit_copies_find(vit_copies *out, const vit_likeness *pictures, size_t count, int threads,
                           vit_error *error);
void vit_copies_free(vit_copies *copies);

/* Takes out the pairs, exact ones left, of groups of more than VIT_COPIES_SCENE pictures, and joins
 * the groups again: these are no copies but pictures of one scene, as a fixed camera takes them.
 * Without memory nothing is taken out. */
#define VIT_COPIES_SCENE 16
void vit_copies_forget_scenes(vit_copies *copies);

#endif
