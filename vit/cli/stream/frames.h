/* A stream of pictures, as ffmpeg and cameras write them: MJPEG, YUV4MPEG2, PPM and PGM, or pixels
 * without any header. No video is decoded. */
#ifndef VIT_CLI_STREAM_FRAMES_H
#define VIT_CLI_STREAM_FRAMES_H

#include "vit/cli/classify/stream.h"

typedef struct vit_frames_options {
    const char *path;      /* "-": standard input */
    const char *raw;       /* "640x480" or "640x480:gray": the stream is such pixels; or NULL */
    double rate;           /* frames a second; 0: as the stream says */
    vit_yuv_matrix matrix; /* of YUV4MPEG2 */
} vit_frames_options;

typedef struct vit_frame {
    uint64_t number; /* from 0, of all in the stream */
    char name[128];  /* "standard input: frame 17", for messages */
    double time;     /* seconds; NaN: the stream has no clock */
    double arrived;  /* by vit_clock, when it was read */
    uint8_t *bytes;  /* [size] as the stream has it; owned, and used again */
    size_t size, capacity;
    vit_error problem; /* status not VIT_OK: why it is damaged */
    uint8_t *pixels;   /* vit_frame_picture's; owned */
    size_t pixel_capacity;
} vit_frame;

void vit_frame_free(vit_frame *frame);

typedef struct vit_frames vit_frames;

/* Reads the beginning of the stream, which says what it is. Freed by vit_frames_close. */
vit_status vit_frames_open(vit_frames **out, const vit_frames_options *options, vit_error *error);
void vit_frames_close(vit_frames *frames);

/* Reads the next frame. *more = false: there is none. A frame whose data are damaged has its
 * problem, and the next one is looked for. FORMAT: the stream ends in the midst of a frame; IO: it
 * cannot be read. */
vit_status vit_frames_next(vit_frames *frames, vit_frame *frame, bool *more, vit_error *error);

/* *picture = the frame, for vit_prepare_values; it points into the frame. MEMORY. */
vit_status vit_frame_picture(vit_picture *picture, const vit_frames *frames, vit_frame *frame,
                             vit_error *error);

/* "motion JPEG", ...: for the person. */
const char *vit_frames_kind(const vit_frames *frames);

#endif
