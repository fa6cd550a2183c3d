/* The medley: pictures of 32 x 32 in colour of more than a hundred kinds, to train networks whose
 * features are good for other kinds. Every second record is a picture of CIFAR-10, the others are
 * drawn (patterns.h). A drawn picture is a function of (seed, index), to the byte, on every
 * machine; it is drawn whenever it is used.
 */
#include "datasets/made/patterns.h"
#include "datasets/reader.h"
#include "vit/base/random.h"
#include "vit/base/sys.h"
#include "vit/formats/sha256.h"

#include <stdio.h>
#include <string.h>

/* Must be changed whenever the pictures change: it is part of the checksum. */
#define VERSION 1
#define TRAIN_SEED 1
#define TEST_SEED 2
#define TEST_COUNT 4000

static const char medley_name[] = "medley";

typedef struct medley {
    vit_drawing drawing;   /* must be the first */
    vit_records published; /* owned */
    uint64_t seed;
} medley;

static void draw(uint8_t *pixels, const vit_drawing *drawing, size_t index) {
    const medley *m = (const medley *)drawing;
    if (index % 2 == 0) {
        memcpy(pixels, m->published.pixels + index / 2 * VIT_PATTERN_BYTES, VIT_PATTERN_BYTES);
        return;
    }
    vit_random r = vit_random_start(m->seed, VIT_RANDOM_MEDLEY, 0, (uint32_t)index);
    vit_pattern_draw(pixels, index / 2 % vit_pattern_kinds(), &r);
}

static void free_medley(vit_drawing *drawing) {
    medley *m = (medley *)drawing;
    vit_free(m->published.pixels);
    vit_free(m->published.labels);
    vit_free(m);
}

/* A part of at most this many records. Takes the published ones, which are in memory. */
static vit_status make_part(vit_records *records, vit_records *published, size_t classes,
                            uint64_t seed, size_t most, vit_error *error) {
    if (published->count == 0) return VIT_OK;
    const size_t count = 2 * published->count < most ? 2 * published->count : most;
    medley *m = vit_alloc(1, sizeof *m);
    records->labels = vit_alloc(count, sizeof *records->labels);
    if (!m || !records->labels) {
        vit_free(m);
        return vit_fail_memory(error, medley_name, count * sizeof *records->labels);
    }
    for (size_t i = 0; i < count; i += 2) {
        records->labels[i] = published->labels[i / 2];
        records->labels[i + 1] = (uint16_t)(classes + i / 2 % vit_pattern_kinds());
    }
    *m = (medley){.drawing = {draw, free_medley}, .published = *published, .seed = seed};
    *published = (vit_records){0}; /* they belong to the medley now */
    records->drawing = &m->drawing;
    records->count = count;
    return VIT_OK;
}

static vit_status name_classes(vit_dataset *out, const vit_dataset *source, vit_error *error) {
    const size_t kinds = vit_pattern_kinds(), classes = source->classes + kinds;
    const char **labels = vit_alloc(1, classes * (sizeof *labels + 16));
    if (!labels) return vit_fail_memory(error, "names", classes * 24);
    char *text = (char *)(labels + classes);
    for (size_t i = 0; i < classes; i++, text += 16) {
        labels[i] = text;
        if (i < source->classes)
            snprintf(text, 16, "%s", source->labels[i]);
        else
            vit_pattern_name(text, i - source->classes);
    }
    out->label_memory = (void *)labels;
    out->labels = labels;
    out->classes = classes;
    return VIT_OK;
}

static vit_status make(vit_dataset *out, vit_dataset *source, vit_error *error) {
    const size_t published = source->classes;
    char text[160];
    const int length =
        snprintf(text, sizeof text, "medley %d seed %d %s", VERSION, TRAIN_SEED, source->checksum);
    vit_sha256_of(out->checksum, text, (size_t)length);
    snprintf(out->name, sizeof out->name, "%s", medley_name);
    out->preset = "features";
    out->height = out->width = VIT_PATTERN_SIDE;
    out->channels = 3;
    memcpy(out->mean, source->mean, sizeof out->mean);
    memcpy(out->std, source->std, sizeof out->std);
    vit_status status = name_classes(out, source, error);
    if (status == VIT_OK)
        status = make_part(&out->train, &source->train, published, TRAIN_SEED, SIZE_MAX, error);
    if (status == VIT_OK)
        status = make_part(&out->test, &source->test, published, TEST_SEED, TEST_COUNT, error);
    return status;
}

static bool is_called(const char *name) {
    return strcmp(name, medley_name) == 0;
}

/* The pictures of CIFAR-10, which is looked for as ever, and as many drawn ones of other kinds. */
static vit_status open_set(vit_dataset *out, const char *name, const vit_dataset_options *options,
                           vit_error *error) {
    (void)name;
    vit_dataset_options o = vit_options_without_val(options);
    vit_dataset source;
    o.preparation = NULL;
    vit_status status = vit_dataset_open(&source, "cifar10", &o, error);
    if (status != VIT_OK) return status;
    if (source.height != VIT_PATTERN_SIDE || source.width != VIT_PATTERN_SIDE ||
        source.channels != 3 || !source.labels)
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "%s: needs CIFAR-10's pictures of %dx%dx3, %s has %zux%zux%zu",
                          medley_name, VIT_PATTERN_SIDE, VIT_PATTERN_SIDE, source.name,
                          source.height, source.width, source.channels);
    if (status == VIT_OK) status = make(out, &source, error);
    vit_dataset_close(&source);
    return status;
}

static const char *const names[] = {"medley", NULL};
const vit_named_set vit_medley_sets = {names, is_called, open_set};
