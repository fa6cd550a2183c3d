/* TensorBoard's event files: DIR/events.out.tfevents.TIME.vit.N. Each record is a length and a
 * message "Event" in the Protocol Buffers format, each with a masked CRC-32C; the numbers of the
 * fields are in tensorflow/core/util/event.proto and framework/summary.proto. Every event is
 * appended in one write, so that a training that dies leaves at most one incomplete record, which
 * readers skip.
 *
 * The time of events is the clock's, or SOURCE_DATE_EPOCH where that is set. */
#ifndef VIT_REPORT_TENSORBOARD_H
#define VIT_REPORT_TENSORBOARD_H

#include "vit/base/error.h"

typedef struct vit_tensorboard vit_tensorboard;

/* A new file in `directory`, which is made if need be; other files in it stay. The training
 * continues at step `step`: readers drop what the other files have from there on. Errors: ARGUMENT
 * for a SOURCE_DATE_EPOCH that is not a number, IO, MEMORY. */
vit_status vit_tensorboard_open(vit_tensorboard **out, const char *directory, uint64_t step,
                                vit_error *error);

/* Closes the file and frees *board; takes NULL. IO where what was written may not be on the disk.
 */
vit_status vit_tensorboard_close(vit_tensorboard *board, vit_error *error);

typedef struct vit_scalar {
    const char *tag;
    double value; /* NaN: left out */
} vit_scalar;

/* One event with all scalars. Errors: IO, MEMORY. */
vit_status vit_tensorboard_scalars(vit_tensorboard *board, uint64_t step, const vit_scalar *scalars,
                                   size_t count, vit_error *error);

/* One event with a picture; png: [size] bytes of a PNG of 1, 3 or 4 channels. Errors: IO, MEMORY.
 */
vit_status vit_tensorboard_image(vit_tensorboard *board, uint64_t step, const char *tag,
                                 size_t width, size_t height, size_t channels, const void *png,
                                 size_t size, vit_error *error);

#endif
