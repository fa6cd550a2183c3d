/* Inside the image floor: finding the ink of one digit on a grey picture. */
#ifndef VIT_IMAGE_DIGIT_INK_H
#define VIT_IMAGE_DIGIT_INK_H

#include "vit/image/image.h"

/* ---- background.c ---- */

/* All of one channel and one size. */
typedef struct vit_ink_map {
    vit_image darkness; /* how much darker than its background a pixel is, of what is possible */
    vit_image steps;    /* by how much the grey differs within two pixels around, less what
                           grain and steps of the ground itself account for */
} vit_ink_map;

/* steps: greatest less least grey of the five by five pixels around; 0 at the border. The same for
 * the negative. */
void vit_ink_steps(vit_image *steps, const vit_image *grey);

/* Fills a map that has its pictures with what stands out darker from the ground: the picture
 * without what is dark and at most 2 reach pixels wide. Shadows and tables are wider and belong to
 * the ground, with their edges. steps: those of grey. *noise: the darkness that half of the pixels
 * do not exceed. */
vit_status vit_ink_compare(vit_ink_map *map, unsigned *noise, const vit_image *grey,
                           const vit_image *steps, size_t reach, vit_error *error);

/* Each pixel becomes the greatest within `reach` rows and columns: light grows. */
vit_status vit_ink_widen(vit_image *image, size_t reach, vit_error *error);

/* The greatest value of a grey picture. */
unsigned vit_ink_greatest(const vit_image *image);

/* ---- blobs.c ---- */

typedef struct vit_box {
    size_t left, top, right, bottom; /* right and bottom are outside */
} vit_box;

/* The smallest box around what is at least `threshold`, above 0; without any, right and bottom are
 * 0. */
vit_box vit_ink_box(const vit_image *image, unsigned threshold);

/* The strokes that seem to be the digit among the pixels of at least `threshold`. */
typedef struct vit_ink {
    vit_box box;
    size_t area; /* its pixels */
    unsigned threshold;
    unsigned peak; /* darkness that a tenth of its pixels exceeds */
    double score;  /* how much it looks like what was meant; 0: there is nothing */
    size_t lines;  /* printed lines that were taken away for it */
} vit_ink;

/* labels: [height][width], becomes 0 below the threshold, 1 for the digit's pixels, 2 for others;
 * queue: scratch of the same size. */
vit_status vit_ink_choose(vit_ink *out, const vit_ink_map *map, unsigned threshold,
                          uint32_t *labels, uint32_t *queue, vit_error *error);

/* ---- lines.c ---- */

/* Sets printed lines, which go over most of the picture and are thin, to 0, but where thicker ink
 * crosses them. *lines: how many there are, down and across together. */
vit_status vit_ink_remove_lines(size_t *lines, vit_image *darkness, unsigned threshold,
                                vit_error *error);

/* ---- find.c ---- */

/* Looks for the digit on a grey picture: against both backgrounds, as dark and as light ink, at
 * several thresholds. darkness: that of the best try, pixels of other things set to 0. out->score
 * is 0 and there is no picture when nothing stands out. */
vit_status vit_ink_find(vit_ink *out, vit_image *darkness, const vit_image *grey, vit_error *error);

/* ---- strokes.c ---- */

/* Draws the ink within `box` white on black, at most `side` by `side`, its shape kept: edges
 * antialiased, strokes no thinner and no thicker than MNIST's are. */
vit_status vit_ink_draw(vit_image *out, const vit_image *darkness, const vit_ink *ink, size_t side,
                        const vit_kernels *kernels, vit_error *error);

#endif
