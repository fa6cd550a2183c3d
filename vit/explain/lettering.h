/* Words on pictures: capitals, digits and a few signs, five pixels wide and seven high. */
#ifndef VIT_EXPLAIN_LETTERING_H
#define VIT_EXPLAIN_LETTERING_H

#include <stddef.h>
#include <stdint.h>

enum { VIT_GLYPH_WIDTH = 6, VIT_GLYPH_HEIGHT = 7 }; /* with the space behind it */

/* Draws the text on a picture of `width` pixels of three bytes, from the pixel `rgb` on, in letters
 * of one shade of grey. What does not fit into `room` pixels is left out; a character without a
 * shape is a question mark. */
void vit_lettering_draw(uint8_t *rgb, size_t width, size_t room, const char *text, uint8_t shade);

#endif
