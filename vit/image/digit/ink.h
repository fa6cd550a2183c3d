/* Finding the ink of one digit on a grey picture, for digit.c. */
#ifndef VIT_IMAGE_DIGIT_INK_H
#define VIT_IMAGE_DIGIT_INK_H

#include "vit/image/image.h"

/* ---- background.c ---- */

/* Two images of one channel and of the same size. */
typedef struct vit_ink_map {
    vit_image darkness; /* how much darker a pixel is than its background; 255: as much as it can */
    vit_image steps;    /* the contrast within two pixels of it, less what grain and steps of the
                           background itself account for */
} vit_ink_map;

/* steps = the difference of the largest and the smallest grey of the 5 x 5 pixels around each; 0 at
 * the border. The negative of a picture has the same steps. */
void vit_ink_steps(vit_image *steps, const vit_image *grey);

/* Fills a map, whose images exist, by comparing the picture with its background: the picture
 * without dark parts of at most 2 reach pixels in width. Shadows and tables are wider and belong to
 * the background, as do their edges. steps: those of grey. *noise = by how much half of the pixels
 * differ from the median darkness, at most. */
vit_status vit_ink_compare(vit_ink_map *map, unsigned *noise, const vit_image *grey,
                           const vit_image *steps, size_t reach, vit_error *error);

/* Dilation: each pixel becomes the largest within `reach` rows and columns. */
vit_status vit_ink_widen(vit_image *image, size_t reach, vit_error *error);

/* The largest value of a grey picture. */
unsigned vit_ink_greatest(const vit_image *image);

/* ---- blobs.c ---- */

typedef struct vit_bounds {
    size_t left, top, right, bottom; /* pixels; right and bottom are exclusive */
} vit_bounds;

/* The bounding box of the pixels of at least `threshold` > 0; if there are none, right and bottom
 * are 0. */
vit_bounds vit_ink_box(const vit_image *image, unsigned threshold);

/* What is taken for the digit among the pixels of at least `threshold`. */
typedef struct vit_ink {
    vit_bounds box;
    size_t area; /* its pixels */
    unsigned threshold;
    unsigned peak; /* the darkness that a tenth of its pixels exceed */
    double score;  /* how much it looks like a digit; 0: nothing was found */
    size_t lines;  /* printed lines that were removed for it */
} vit_ink;

/* Chooses the digit of a map. labels: [height][width], becomes 0 below the threshold, 1 for pixels
 * of the digit, 2 for others; queue: scratch of the same size. */
vit_status vit_ink_choose(vit_ink *out, const vit_ink_map *map, unsigned threshold,
                          uint32_t *labels, uint32_t *queue, vit_error *error);

/* ---- lines.c ---- */

/* Sets printed lines, which are thin and extend over most of the picture, to 0, except where
 * thicker ink crosses them. *lines = how many there are, horizontal and vertical ones together. */
vit_status vit_ink_remove_lines(size_t *lines, vit_image *darkness, unsigned threshold,
                                vit_error *error);

/* ---- find.c ---- */

/* Searches a grey picture for the digit: as dark and as light ink, for strokes of different widths,
 * at several thresholds. *darkness = that of the best attempt, with pixels that are not the digit
 * set to 0; without pixels, and out->score 0, if nothing was found. */
vit_status vit_ink_find(vit_ink *out, vit_image *darkness, const vit_image *grey, vit_error *error);

/* ---- strokes.c ---- */

/* Draws the ink within ink->box white on black, with its longer side `side` and its aspect ratio
 * kept: edges antialiased, strokes neither thinner nor thicker than those of MNIST. */
vit_status vit_ink_draw(vit_image *out, const vit_image *darkness, const vit_ink *ink, size_t side,
                        const vit_kernels *kernels, vit_error *error);

#endif
