/* YUV4MPEG2: its headers, and the colours of its planes. */
#ifndef VIT_CLI_STREAM_YUV_H
#define VIT_CLI_STREAM_YUV_H

#include "vit/cli/stream/frames.h"

typedef struct vit_yuv {
    size_t width, height;
    size_t across, down; /* pixels that share a sample of U and V; 0: there are none */
    bool is_full;        /* Y, U and V have all of 0 to 255, not 16 to 235 and 240 */
    bool is_limited;     /* the header says that they have not */
    double rate;         /* frames a second; 0: not said */
    vit_yuv_matrix matrix;
} vit_yuv;

/* Reads the line "YUV4MPEG2 W640 H480 F25:1 C420jpeg XCOLORRANGE=LIMITED", without its newline.
 * FORMAT, UNSUPPORTED for colours that are not read: 420jpeg, 420mpeg2, 420paldv, 420, 422, 444 and
 * mono are. */
vit_status vit_yuv_parse(vit_yuv *out, const char *line, vit_error *error);

/* The bytes of a frame; 0: more than memory has. */
size_t vit_yuv_size(const vit_yuv *yuv);

/* rgb: [height][width][3]; of mono [height][width]. Each sample of U and V counts for the pixels
 * that share it; the result is rounded to the nearest level. */
void vit_yuv_convert(uint8_t *rgb, const vit_yuv *yuv, const uint8_t *planes);

#endif
