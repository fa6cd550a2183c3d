/* Event files of TensorBoard: DIR/events.out.tfevents.TIME.vit.N, records of a length and bytes,
 * each with a masked CRC-32C, the bytes a protocol buffer "Event" (tensorflow/core/util/event.proto
 * and framework/summary.proto have the numbers of the fields). Every event is one write at the
 * file's end, so that a training that dies leaves at most one cut-off record, which readers leave
 * out.
 *
 * The time of events is the clock's, or SOURCE_DATE_EPOCH where that is set. */
#ifndef VIT_REPORT_TENSORBOARD_H
#define VIT_REPORT_TENSORBOARD_H

#include "vit/base/error.h"

typedef struct vit_tensorboard vit_tensorboard;

/* A new file in `directory`, which is made where it is absent; others that it holds stay. What they
 * have from step `step` on no longer counts: readers drop it, for the training goes on from there.
 * ARGUMENT for a SOURCE_DATE_EPOCH that is no number. */
vit_status vit_tensorboard_open(vit_tensorboard **out, const char *directory, uint64_t step,
                                vit_error *error);

/* Takes NULL. */
vit_status vit_tensorboard_close(vit_tensorboard *board, vit_error *error);

typedef struct vit_scalar {
    const char *tag;
    double value; /* NaN: left out */
} vit_scalar;

/* One event with the scalars. */
vit_status vit_tensorboard_scalars(vit_tensorboard *board, uint64_t step, const vit_scalar *scalars,
                                   size_t count, vit_error *error);

/* A picture, as PNG, of 1, 3 or 4 channels. */
vit_status vit_tensorboard_image(vit_tensorboard *board, uint64_t step, const char *tag,
                                 size_t width, size_t height, size_t channels, const void *png,
                                 size_t size, vit_error *error);

#endif
