/* Frames of a stream, one after the other; in real time a thread reads them, and where they come
 * faster than they are taken only the newest is kept. */
#ifndef VIT_CLI_STREAM_LATEST_H
#define VIT_CLI_STREAM_LATEST_H

#include <time.h>

#include "vit/cli/stream/frames.h"

typedef struct vit_latest vit_latest;

/* every: the other frames are passed over. The frames must outlive it. */
vit_status vit_latest_open(vit_latest **out, vit_frames *frames, uint64_t every, bool realtime,
                           vit_error *error);
void vit_latest_close(vit_latest *latest); /* takes NULL */

/* *frame = the next one, until the next call; NULL: the stream has ended, or the program was
 * interrupted. Errors: those of vit_frames_next. */
vit_status vit_latest_next(vit_latest *latest, vit_frame **frame, vit_error *error);

/* Frames so far: all, and those that were passed over and dropped. */
typedef struct vit_latest_counts {
    uint64_t frames, passed_over, dropped;
} vit_latest_counts;
vit_latest_counts vit_latest_count(vit_latest *latest);

/* The time that is so many seconds from now, for pthread_cond_timedwait. */
struct timespec vit_soon(double seconds);

#endif
