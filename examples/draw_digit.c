/* Draws a digit with the library, writes it as a PNG file, ten times enlarged, and prints it as
 * text.
 *
 * usage: draw_digit FILE.png [NUMBER]
 */
#include "vit/vit.h"
#include <stb_image_write.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 28, ZOOM = 10, SEED = 3 }; /* "digits" trains on seed 1 and tests on seed 2 */

static const char usage[] =
    "usage: draw_digit FILE.png [NUMBER]\n"
    "\n"
    "Draws a digit, prints it, and writes it into FILE.png. NUMBER 0 (the default), 1, 2, ...\n"
    "is one of four billion; none of them is in the data set \"digits\".\n";

int main(int argc, char **argv) {
    char *end = NULL;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return 0;
    }
    uint32_t number = argc == 3 ? (uint32_t)strtoul(argv[2], &end, 10) : 0;
    if (argc < 2 || argc > 3 || argv[1][0] == '-' || (end && *end)) {
        fputs(usage, stderr);
        return 2;
    }
    uint8_t pixels[SIDE * SIDE];
    int label = vit_draw_digit(pixels, SEED, number);

    /* Each line of text is two rows of pixels: a character is about twice as high as wide. */
    for (int y = 0; y < SIDE; y += 2) {
        printf("    ");
        for (int x = 0; x < SIDE; x++)
            putchar(" .:*#"[(pixels[y * SIDE + x] + pixels[(y + 1) * SIDE + x]) * 4 / 510]);
        putchar('\n');
    }

    uint8_t large[SIDE * ZOOM * SIDE * ZOOM];
    for (int i = 0; i < SIDE * ZOOM * SIDE * ZOOM; i++)
        large[i] = pixels[i / (SIDE * ZOOM) / ZOOM * SIDE + i % (SIDE * ZOOM) / ZOOM];
    if (!stbi_write_png(argv[1], SIDE * ZOOM, SIDE * ZOOM, 1, large, SIDE * ZOOM)) {
        fprintf(stderr, "draw_digit: %s cannot be written\n", argv[1]);
        return 1;
    }
    printf("A drawn %d, in %s\n", label, argv[1]);
    return 0;
}
