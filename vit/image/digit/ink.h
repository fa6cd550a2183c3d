/* Finding the ink of one digit on a grey picture, for digit.c. */
#ifndef VIT_IMAGE_DIGIT_INK_H
#define VIT_IMAGE_DIGIT_INK_H

#include "vit/image/digit/bits.h"
#include "vit/image/image.h"

/* The longer side of a picture that is searched is within these, except of a tiny one. */
enum { VIT_INK_LEAST = 256, VIT_INK_SIDE = 640 };

/* ---- background.c ---- */

/* Two images of one channel and of the same size. */
typedef struct vit_ink_map {
    vit_image darkness; /* how much darker a pixel is than its background; 255: as much as it can */
    vit_image steps;    /* the contrast within two pixels of it, less what grain and steps of the
                           background itself account for */
} vit_ink_map;

/* steps = the difference of the largest and the smallest grey of the 5 x 5 pixels around each; 0 at
 * the border. The negative of a picture has the same steps. */
vit_status vit_ink_steps(vit_image *steps, const vit_image *grey, vit_error *error);

/* The value that half of the pixels do not exceed. */
unsigned vit_ink_median(const vit_image *image);

/* The two halves of a map, whose images exist. Both compare the picture with its background: the
 * picture without dark parts of at most 2 reach pixels in width. Shadows and tables are wider and
 * belong to the background, as do their edges. scratch: images of the same size.
 *
 * darkness, and ground = the background. *noise = by how much half of the pixels differ from the
 * median darkness, at most. */
vit_status vit_ink_darken(vit_image *darkness, vit_image *ground, unsigned *noise,
                          const vit_image *grey, size_t reach, vit_image scratch[2],
                          const vit_kernels *kernels, vit_error *error);

/* out = the steps of a map, given those of the picture, of which `grain` are due to grain, and the
 * background, whose steps within `reach` are subtracted. */
vit_status vit_ink_discount(vit_image *out, const vit_image *steps, unsigned grain,
                            const vit_image *ground, size_t reach, vit_image scratch[2],
                            const vit_kernels *kernels, vit_error *error);

/* The sum of the squared steps of ink, less grain: none of it can score more. */
uint64_t vit_ink_sum(const vit_image *steps, unsigned grain, const vit_bits *ink);

/* Dilation: each pixel becomes the largest within `reach` rows and columns. */
vit_status vit_ink_widen(vit_image *image, size_t reach, const vit_kernels *kernels,
                         vit_error *error);

/* The largest value of a grey picture. */
unsigned vit_ink_greatest(const vit_image *image);

/* The squared steps of all pixels of at least a darkness, summed, which no choice of them can
 * exceed in score; and of those of them at their edge. */
typedef struct vit_ink_limits {
    uint64_t all[256], edge[256];
    unsigned greatest; /* darkness */
} vit_ink_limits;

/* ink: the pixels of at least some darkness; limits are set from this darkness on. */
vit_status vit_ink_limit(vit_ink_limits *out, const vit_ink_map *map, const vit_bits *ink,
                         vit_error *error);

/* ---- blobs.c ---- */

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

/* The connected parts of a picture, and the runs of ink that they consist of; grows as it is used.
 * Starts as {0}. */
typedef struct vit_ink_blobs {
    struct blob *list;
    struct run *runs;
    size_t count, room, run_count, run_room;
} vit_ink_blobs;

void vit_ink_blobs_free(vit_ink_blobs *blobs);

/* Chooses the digit among ink on a map: sets its box, score and threshold. */
vit_status vit_ink_choose(vit_ink *out, vit_ink_blobs *blobs, const vit_bits *ink,
                          const vit_image *steps, unsigned threshold, vit_error *error);

/* Sets area and peak of what was chosen last. */
void vit_ink_measure(vit_ink *out, const vit_ink_blobs *blobs, const vit_image *darkness);

/* Sets the ink that was not chosen last to 0. */
void vit_ink_clear_others(vit_image *darkness, const vit_ink_blobs *blobs);

/* ---- lines.c ---- */

typedef struct vit_ink_lines {
    vit_bits marks;                /* of what was found last */
    vit_bits turned, turned_marks; /* scratch, and all below */
    vit_bits is_long;
    int16_t *down, *paths;
    uint8_t *is_live;
} vit_ink_lines;

/* For pictures of this size, whose sides are at most VIT_INK_SIDE. Freed by vit_ink_lines_free,
 * also after an error. */
vit_status vit_ink_lines_new(vit_ink_lines *out, size_t width, size_t height, vit_error *error);
void vit_ink_lines_free(vit_ink_lines *lines);

/* lines->marks = printed lines, which are thin and extend over most of the picture, except where
 * thicker ink crosses them. Returns how many there are, horizontal and vertical ones together; if
 * there are none, marks are not set. */
size_t vit_ink_find_lines(vit_ink_lines *lines, const vit_bits *ink, const vit_kernels *kernels);

/* ---- find.c ---- */

/* Searches a grey picture, whose sides are at most VIT_INK_SIDE, for the digit: as dark and as
 * light ink, for strokes of different widths, at several thresholds. *darkness = that of the best
 * attempt, with pixels that are not the digit set to 0; without pixels, and out->score 0, if
 * nothing was found. */
vit_status vit_ink_find(vit_ink *out, vit_image *darkness, const vit_image *grey,
                        const vit_kernels *kernels, vit_error *error);

/* ---- strokes.c ---- */

/* Draws the ink within ink->box white on black, with its longer side `side` and its aspect ratio
 * kept: edges antialiased, strokes neither thinner nor thicker than those of MNIST. */
vit_status vit_ink_draw(vit_image *out, const vit_image *darkness, const vit_ink *ink, size_t side,
                        const vit_kernels *kernels, vit_error *error);

#endif
