/* Drawing strokes like those of MNIST, for digits.c, strangers.c and patterns.c: curves through a
 * few control points, with random variations of every point, of the whole shape and of the pen,
 * fitted into 20 x 20 pixels, with the centre of mass in the middle of 28 x 28.
 *
 * A picture is a function of the random numbers, to the byte, on every machine: only operations
 * that IEEE 754 defines and this project's own sine and exponential are used.
 */
#ifndef VIT_DATASETS_MADE_PEN_H
#define VIT_DATASETS_MADE_PEN_H

#include "vit/base/random.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIT_INK_SIDE 28
#define VIT_INK_BOX 20
#define VIT_INK_PIXELS (VIT_INK_SIDE * VIT_INK_SIDE)

/* How the pen comes to a point: M puts it down there, S passes smoothly, C turns sharply; END ends
 * the list of points. */
typedef enum vit_pen { END, M, S, C } vit_pen;

typedef struct vit_control {
    vit_pen pen;
    int8_t x, y; /* hundredths of the shape's height, y downwards */
} vit_control;

#define VIT_INK_CONTROLS 24 /* the most points of a shape */

/* A handwriting: how it distorts shapes, by second-order bends, then slant, width and rotation. */
typedef struct vit_hand {
    double bend[6];        /* coefficients of yy, xy, xx for x; of xx, xy, yy for y */
    double xx, xy, yx, yy; /* x' = xx x + xy y, y' = yx x + yy y */
    double jitter;         /* deviation of each control point by itself */
} vit_hand;

/* The points of a letter or sign that is no digit, VIT_INK_CONTROLS of them; index < VIT_SIGNS. */
#define VIT_SIGNS 66
const vit_control *vit_sign(size_t index);

/* A random handwriting. */
vit_hand vit_hand_draw(vit_random *r);

/* pixels [28][28], white on black = the shape in this handwriting with a random pen. */
void vit_hand_write(uint8_t *pixels, const vit_control *controls, const vit_hand *hand,
                    vit_random *r);

/* pixels [28][28] = the ink, which is in the middle 20 x 20 of [28][28], moved so that its centre
 * of mass is in the middle. */
void vit_ink_centre(uint8_t *pixels, const uint8_t *ink);

#endif
