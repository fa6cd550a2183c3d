#include "vit/report/tensorboard.h"
#include "vit/base/append.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/protobuf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct vit_tensorboard {
    vit_append *file;
    bool has_time; /* SOURCE_DATE_EPOCH */
    double time;
};

/* ---- records ---- */

/* CRC-32C (RFC 3720, polynomial 0x1edc6f41, lowest bit first), masked as in TensorFlow's TFRecord
 * files.
 */
static uint32_t masked_crc(const void *bytes, size_t size) {
    const uint8_t *b = bytes;
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= b[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

/* Appends the event to the file as one record: its length and the bytes, each followed by its
 * masked CRC. Frees the event. */
static vit_status put(vit_tensorboard *b, vit_string *event, vit_error *error) {
    vit_string record = {0};
    vit_protobuf_fixed(&record, event->length, 8);
    if (!record.failed) vit_protobuf_fixed(&record, masked_crc(record.text, 8), 4);
    vit_string_add_bytes(&record, event->text, event->length);
    vit_protobuf_fixed(&record, masked_crc(event->text, event->length), 4);
    const vit_status status = event->failed || record.failed
                                  ? vit_fail_memory(error, "an event of TensorBoard", event->length)
                                  : vit_append_put(b->file, record.text, record.length, error);
    vit_string_free(&record);
    vit_string_free(event);
    return status;
}

/* Field numbers of the messages Event, SessionLog, Summary, Summary.Value and Summary.Image. */
enum { EVENT_TIME = 1, EVENT_STEP = 2, EVENT_VERSION = 3, EVENT_SUMMARY = 5, EVENT_SESSION = 7 };
enum { SESSION_STATUS = 1, SESSION_START = 1 }; /* the field, and the value of it */
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_NUMBER = 2, VALUE_IMAGE = 4 };
enum { IMAGE_HEIGHT = 1, IMAGE_WIDTH = 2, IMAGE_CHANNELS = 3, IMAGE_PNG = 4 };

/* The beginning of an event: its time and step. */
static vit_string event_at(const vit_tensorboard *b, uint64_t step) {
    vit_string event = {0};
    vit_protobuf_double(&event, EVENT_TIME, b->has_time ? b->time : vit_wall_clock());
    if (step > 0) vit_protobuf_int(&event, EVENT_STEP, (int64_t)step);
    return event;
}

vit_status vit_tensorboard_scalars(vit_tensorboard *b, uint64_t step, const vit_scalar *scalars,
                                   size_t count, vit_error *error) {
    vit_string event = event_at(b, step), summary = {0};
    for (size_t i = 0; i < count; i++) {
        vit_string value = {0};
        if (isnan(scalars[i].value)) continue;
        vit_protobuf_string(&value, VALUE_TAG, scalars[i].tag);
        vit_protobuf_float(&value, VALUE_NUMBER, (float)scalars[i].value);
        vit_protobuf_message(&summary, SUMMARY_VALUE, &value);
    }
    if (summary.length == 0 && !summary.failed) {
        vit_string_free(&event);
        return VIT_OK;
    }
    vit_protobuf_message(&event, EVENT_SUMMARY, &summary);
    return put(b, &event, error);
}

vit_status vit_tensorboard_image(vit_tensorboard *b, uint64_t step, const char *tag, size_t width,
                                 size_t height, size_t channels, const void *png, size_t size,
                                 vit_error *error) {
    vit_string event = event_at(b, step), summary = {0}, value = {0}, image = {0};
    vit_protobuf_int(&image, IMAGE_HEIGHT, (int64_t)height);
    vit_protobuf_int(&image, IMAGE_WIDTH, (int64_t)width);
    vit_protobuf_int(&image, IMAGE_CHANNELS, (int64_t)channels);
    vit_protobuf_bytes(&image, IMAGE_PNG, png, size);
    vit_protobuf_string(&value, VALUE_TAG, tag);
    vit_protobuf_message(&value, VALUE_IMAGE, &image);
    vit_protobuf_message(&summary, SUMMARY_VALUE, &value);
    vit_protobuf_message(&event, EVENT_SUMMARY, &summary);
    return put(b, &event, error);
}

/* ---- the file ---- */

/* The first event names the file's format, the second the step at which the training starts. */
static vit_status put_head(vit_tensorboard *b, uint64_t step, vit_error *error) {
    vit_string first = event_at(b, 0), second = event_at(b, step), session = {0};
    vit_protobuf_string(&first, EVENT_VERSION, "brain.Event:2");
    vit_protobuf_int(&session, SESSION_STATUS, SESSION_START);
    vit_protobuf_message(&second, EVENT_SESSION, &session);
    const vit_status status = put(b, &first, error);
    if (status == VIT_OK) return put(b, &second, error);
    vit_string_free(&second);
    return status;
}

/* A new file under the first free name; TensorBoard reads files in the order of their names. */
static vit_status make_file(vit_tensorboard *b, const char *directory, vit_error *error) {
    const double now = b->has_time ? b->time : vit_wall_clock();
    for (unsigned n = 0; n < 1000; n++) {
        vit_string path = {0};
        vit_string_add(&path, "%s/events.out.tfevents.%010.0f.vit.%03u", directory, now, n);
        const vit_status status = path.failed
                                      ? vit_fail_memory(error, "a file name", strlen(directory))
                                      : vit_append_new(&b->file, path.text, error);
        vit_string_free(&path);
        if (status != VIT_OK || b->file) return status;
    }
    return vit_fail(error, VIT_ERROR_IO, "%s has 1000 event files of the same second", directory);
}

vit_status vit_tensorboard_open(vit_tensorboard **out, const char *directory, uint64_t step,
                                vit_error *error) {
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    uint64_t seconds = 0;
    *out = NULL;
    if (epoch && *epoch && !vit_parse_u64(epoch, &seconds))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "SOURCE_DATE_EPOCH is '%.100s', expected seconds since 1970", epoch);
    vit_tensorboard *b = vit_alloc(1, sizeof *b);
    if (!b) return vit_fail_memory(error, "event files", sizeof *b);
    b->has_time = epoch && *epoch;
    b->time = (double)seconds;
    vit_status status = vit_make_directories(directory, error);
    if (status == VIT_OK) status = make_file(b, directory, error);
    if (status == VIT_OK) status = put_head(b, step, error);
    if (status == VIT_OK) {
        *out = b;
        return VIT_OK;
    }
    vit_append_close(b->file, NULL);
    vit_free(b);
    return status;
}

vit_status vit_tensorboard_close(vit_tensorboard *b, vit_error *error) {
    if (!b) return VIT_OK;
    const vit_status status = vit_append_close(b->file, error);
    vit_free(b);
    return status;
}
