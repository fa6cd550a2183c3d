/* Joining sets with pictures of the same size and the same classes. */
#include "datasets/reader.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/sha256.h"
#include "vit/image/likeness.h"
#include "vit/text/match.h"

#include <stdio.h>
#include <string.h>

static vit_status check_alike(const vit_dataset *a, const vit_dataset *b, vit_error *error) {
    if (a->height != b->height || a->width != b->width || a->channels != b->channels)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "%s and %s cannot be joined: pictures of %zux%zux%zu and of %zux%zux%zu",
                        a->name, b->name, a->height, a->width, a->channels, b->height, b->width,
                        b->channels);
    if (a->classes == 0 || b->classes == 0)
        return vit_fail(
            error, VIT_ERROR_UNSUPPORTED,
            "%s and %s cannot be joined: their answers must be classes, those of %s are "
            "texts",
            a->name, b->name, a->classes == 0 ? a->name : b->name);
    if (a->train.files || b->train.files)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s and %s cannot be joined: one of them is too large for memory", a->name,
                        b->name);
    return VIT_OK;
}

/* Finds the classes of b among those of a: MISMATCH if one of them is not there. */
static vit_status match_classes(vit_match *match, vit_dataset *a, const vit_dataset *b,
                                vit_error *error) {
    const vit_classes first = {a->labels, a->classes}, second = {b->labels, b->classes};
    char text[256], number[32];
    vit_status status = vit_match_classes(match, &second, &first, error);
    if (status == VIT_OK && match->lost > 0) {
        vit_classes_shown(text, &first);
        status =
            vit_fail(error, VIT_ERROR_MISMATCH,
                     "%s and %s cannot be joined: the class \"%s\" of %s is none of the %zu of "
                     "%s, %s",
                     a->name, b->name, vit_class_name(&second, match->first_lost, number), b->name,
                     a->classes, a->name, text);
    }
    if (status == VIT_OK && vit_match_said(text, match, b->name, a->name))
        status = vit_dataset_note(a, error, "%s", text);
    return status;
}

/* Appends the training pictures of b to those of a. */
static vit_status append_records(vit_dataset *a, const vit_dataset *b, const vit_match *match,
                                 vit_error *error) {
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
    for (size_t i = 0; i < b->train.count; i++)
        labels[a->train.count + i] = (uint16_t)match->to[b->train.labels[i]];
    if (a->train.copies) vit_copies_free(a->train.copies); /* of one of the sets alone */
    vit_free(a->train.copies);
    a->train.copies = NULL;
    vit_names_free(a->train.names, a->train.count);
    a->train.names = NULL;
    vit_free(a->train.shards); /* all are in memory: they need not be read as a stream */
    a->train.shards = NULL;
    vit_free(a->train.pixels);
    vit_free(a->train.labels);
    a->train.pixels = pixels;
    a->train.labels = labels;
    a->train.count = count;
    return VIT_OK;
}

static vit_status join_names(vit_dataset *a, const vit_dataset *b, vit_error *error) {
    vit_sha256 hash;
    vit_string joined = {0};
    vit_string_add(&joined, "%s%s %s", a->joined ? a->joined : " ", a->joined ? "" : a->checksum,
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
    vit_match match = {0};
    vit_status status = check_alike(a, b, error);
    if (status == VIT_OK) status = match_classes(&match, a, b, error);
    if (status == VIT_OK && b->train.count > 0) status = append_records(a, b, &match, error);
    vit_match_free(&match);
    for (size_t i = 0; i < b->note_count && status == VIT_OK; i++)
        status = vit_dataset_note(a, error, "%s", b->notes[i]);
    return status == VIT_OK ? join_names(a, b, error) : status;
}
