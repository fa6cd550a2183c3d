/* vit-classify --stream: frames of a camera or a video, one answer after the other. */
#ifndef VIT_CLI_CLASSIFY_STREAM_H
#define VIT_CLI_CLASSIFY_STREAM_H

#include "vit/cli/classify/answers.h"

typedef enum vit_yuv_matrix { VIT_YUV_BT601, VIT_YUV_BT709, VIT_YUV_COUNT } vit_yuv_matrix;

typedef struct vit_stream_choice {
    bool stream, realtime;
    const char *frames;
    double fps;
    int matrix; /* vit_yuv_matrix */
    uint64_t every;
    vit_optional change;
    double ema, begin, end;
} vit_stream_choice;

extern const char *const vit_yuv_names[]; /* "bt601", "bt709", NULL */

/* streams: vit_option.also of its rows. */
#define VIT_STREAM_OPTIONS(settings, member, streams)                                           \
    {.kind = VIT_OPTION_GROUP, .help = "A stream (docs/stream.md)"},                            \
        {VIT_FLAG("stream", member.stream),                                                     \
         .help = "answer the frames of standard input, or of a file or\n"                       \
                 "FIFO: motion JPEG, YUV4MPEG2, PPM; a JSON line each",                         \
         .also = (streams)},                                                                    \
        {VIT_OPTION(TEXT, "frames", member.frames, "WxH"),                                      \
         .help = "the stream is raw pixels, rgb24; WxH:gray: grey ones", .also = (streams)},    \
        {VIT_OPTION(NUMBER, "fps", member.fps, "R"),                                            \
         .help = "frames a second, of a stream that does not say it", .also = (streams)},       \
        {VIT_OPTION(CHOICE, "matrix", member.matrix, "M"),                                      \
         .help = "the colours of YUV4MPEG2, which does not say which:\n"                        \
                 "bt601, as ffmpeg assumes, or bt709 (default: bt601)",                         \
         .choices = vit_yuv_names, .also = (streams)},                                          \
        {VIT_FLAG("realtime", member.realtime),                                                 \
         .help = "of a camera: where frames come faster than answers,\n"                        \
                 "drop all but the newest (default: the writer waits)",                         \
         .also = (streams)},                                                                    \
        {VIT_OPTION(COUNT, "every", member.every, "N"), .help = "answer only every N-th frame", \
         .min = 1, .max = 1e9, .also = (streams)},                                              \
        {VIT_OPTION(NUMBER, "change", member.change, "X"),                                      \
         .optional = true,                                                                      \
         .help = "answer only frames that differ from the one answered\n"                       \
                 "last by more than X of 1, on average over the pixels\n"                       \
                 "that the network reads",                                                      \
         .from_min = true,                                                                      \
         .max = 1,                                                                              \
         .also = (streams)},                                                                    \
        {VIT_OPTION(NUMBER, "ema", member.ema, "A"),                                            \
         .help = "smooth the logits over time (EMA): A times the\n"                             \
                 "smoothed ones before, 1 - A times the frame's",                               \
         .max = 1, .also = (streams)},                                                          \
        {VIT_OPTION(NUMBER, "begin", member.begin, "P"),                                        \
         .help = "an event of a class begins where its probability\n"                           \
                 "reaches P ...",                                                               \
         .max = 1, .also = (streams)},                                                          \
    {                                                                                           \
        VIT_OPTION(NUMBER, "end", member.end, "P"),                                             \
            .help = "... and ends where it falls below this smaller P", .max = 1,               \
            .also = (streams)                                                                   \
    }

/* What answers. */
typedef struct vit_stream_model {
    const vit_model *model;
    vit_session *session;
    const vit_coverage *coverage;
    double coverage_asked; /* 0: no sets */
    size_t top;
    bool logits;
} vit_stream_model;

/* What the guest that reads streams does; of the list `guests`. */
typedef struct vit_stream_guest {
    /* A sentence if the options contradict each other, or NULL. */
    const char *(*contradiction)(const vit_stream_choice *choice, int operands);
    /* path: the stream, "-": standard input. Returns the exit status. */
    int (*run)(const vit_command *command, const vit_stream_choice *choice,
               const vit_stream_model *model, const char *path);
} vit_stream_guest;

extern const vit_stream_guest *const vit_streams; /* NULL: there is none */

#endif
