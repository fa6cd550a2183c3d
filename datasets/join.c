/* Joining sets with pictures of the same size and the same classes. */
#include "datasets/reader.h"
#include "vit/base/sha256.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"

#include <stdio.h>
#include <string.h>

static vit_status check_alike(const vit_dataset *a, const vit_dataset *b, vit_error *error) {
    if (a->height != b->height || a->width != b->width || a->channels != b->channels)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s and %s cannot be joined: pictures of %zux%zux%zu and of %zux%zux%zu",
                        a->name, b->name, a->height, a->width, a->channels, b->height, b->width,
                        b->channels);
    if (a->classes != b->classes)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s and %s cannot be joined: %zu and %zu classes", a->name, b->name,
                        a->classes, b->classes);
    for (size_t i = 0; a->labels && b->labels && i < a->classes; i++)
        if (strcmp(a->labels[i], b->labels[i]) != 0)
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "%s and %s cannot be joined: class %zu is \"%s\" and \"%s\"", a->name,
                            b->name, i, a->labels[i], b->labels[i]);
    if (a->train.files || b->train.files)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s and %s cannot be joined: one of them is too large for memory", a->name,
                        b->name);
    return VIT_OK;
}

/* Appends the training pictures of b to those of a. */
static vit_status append_records(vit_dataset *a, const vit_dataset *b, vit_error *error) {
    const size_t record = a->height * a->width * a->channels;
    const size_t count = a->train.count + b->train.count;
    uint8_t *pixels = vit_alloc(count, record);
    uint16_t *labels = vit_alloc(count, sizeof *labels);
    if (!pixels || !labels) {
        vit_free(pixels);
        vit_free(labels);
        return vit_fail_memory(error, "joined data sets", count * record);
    }
    memcpy(pixels, a->train.pixels, a->train.count * record);
    memcpy(pixels + a->train.count * record, b->train.pixels, b->train.count * record);
    memcpy(labels, a->train.labels, a->train.count * sizeof *labels);
    memcpy(labels + a->train.count, b->train.labels, b->train.count * sizeof *labels);
    vit_names_free(a->train.names, a->train.count);
    a->train.names = NULL;
    vit_free(a->train.pixels);
    vit_free(a->train.labels);
    a->train.pixels = pixels;
    a->train.labels = labels;
    a->train.count = count;
    return VIT_OK;
}

static vit_status join_names(vit_dataset *a, const vit_dataset *b, vit_error *error) {
    vit_sha256 hash;
    vit_text joined = {0};
    vit_text_add(&joined, "%s%s %s", a->joined ? a->joined : " ", a->joined ? "" : a->checksum,
                 b->checksum);
    if (joined.failed) return vit_fail_memory(error, "checksums", 3 * sizeof a->checksum);
    vit_free(a->joined);
    a->joined = joined.text;
    vit_sha256_start(&hash);
    vit_sha256_add(&hash, a->checksum, strlen(a->checksum));
    vit_sha256_add(&hash, b->checksum, strlen(b->checksum));
    vit_sha256_hex(&hash, a->checksum);
    const size_t used = strlen(a->name);
    snprintf(a->name + used, sizeof a->name - used, "+%s", b->name);
    return VIT_OK;
}

vit_status vit_dataset_join(vit_dataset *a, const vit_dataset *b, vit_error *error) {
    vit_status status = check_alike(a, b, error);
    if (status == VIT_OK && b->train.count > 0) status = append_records(a, b, error);
    for (size_t i = 0; i < b->note_count && status == VIT_OK; i++)
        status = vit_dataset_note(a, error, "%s", b->notes[i]);
    return status == VIT_OK ? join_names(a, b, error) : status;
}
