/* The long arrays of numbers in a JSON body. They are taken out before the rest is parsed, as a
 * parsed number takes thirty times the memory of its text. */
#ifndef VIT_CLI_SERVE_ANSWER_NUMBERS_H
#define VIT_CLI_SERVE_ANSWER_NUMBERS_H

#include "vit/base/text.h"

/* Values that a body may have besides such arrays. */
enum { SERVE_MOST_VALUES = 100000 };

/* *out, which is empty, becomes the body with {"numbers": [OFFSET, SIZE]} in place of each long
 * array of numbers, nested or not, which stands at that place of the body; it stays empty if there
 * is none. The body need not be valid JSON. Returns how many other values there are, at most. */
size_t serve_take_numbers(vit_string *out, const char *body, size_t size);

enum { SERVE_MOST_DIMS = 8 };

/* Sides of nested arrays, the outermost first. */
typedef struct serve_shape {
    size_t dims, sides[SERVE_MOST_DIMS];
} serve_shape;

/* Reads the numbers of an array in order, and gives each to `put`; *shape: that of the nested
 * arrays. False: the text is no array of numbers, its rows differ in length, or `put` has returned
 * false. */
bool serve_read_numbers(const char *text, size_t size, serve_shape *shape,
                        bool (*put)(void *context, double number, bool is_whole), void *context);

#endif
