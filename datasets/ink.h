/* Ink on paper in MNIST's form: strokes through a few control points, every point, the whole shape
 * and the pen a little different each time, fitted into 20x20, the centre of mass in the middle of
 * 28x28. For digits.c and strangers.c: one file of the readers' floor.
 *
 * What is drawn is a function of the random numbers alone, to the byte, on every machine: only
 * operations that IEEE 754 defines and this project's own sine and exponential are used.
 */
#ifndef VIT_DATASETS_INK_H
#define VIT_DATASETS_INK_H

#include "vit/base/random.h"
#include <stdbool.h>
#include <stdint.h>

#define VIT_INK_SIDE 28
#define VIT_INK_BOX 20
#define VIT_INK_PIXELS (VIT_INK_SIDE * VIT_INK_SIDE)

/* How the pen comes to a point: M puts it down there, S passes smoothly, C turns sharply. */
typedef enum vit_pen { END, M, S, C } vit_pen;

typedef struct vit_control {
    vit_pen pen;
    int8_t x, y; /* hundredths of the shape's height, y downwards */
} vit_control;

#define VIT_INK_CONTROLS 24 /* the most of a shape; fewer end with END */

/* A map of the plane: second-order bends, then slant, width and rotation. */
typedef struct vit_hand {
    double bend[6];        /* of x: yy, xy, xx; of y: xx, xy, yy */
    double xx, xy, yx, yy; /* x' = xx x + xy y, y' = yx x + yy y */
    double jitter;         /* of each control point on its own */
} vit_hand;

vit_hand vit_hand_draw(vit_random *r);

/* pixels: [28][28], white on black: what this hand writes with some pen. */
void vit_hand_write(uint8_t *pixels, const vit_control *controls, const vit_hand *hand,
                    vit_random *r);

/* pixels: `ink`, within the middle 20x20 of [28][28], moved so that its centre of mass is in the
 * middle. */
void vit_ink_centre(uint8_t *pixels, const uint8_t *ink);

/* mean + deviation * N(0, 1), cut at 2.5 deviations: rare pictures may be odd, none absurd. */
double vit_ink_spread(vit_random *r, double mean, double deviation);

#endif
