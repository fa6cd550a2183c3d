/* Records, which are in memory, are read from files when they are used, or are drawn; and what
 * readers share. */
#include "datasets/duplicates.h"
#include "datasets/reader.h"
#include "vit/base/sys.h"
#include "vit/image/likeness.h"
#include "vit/image/prepare/preprocess.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static size_t record_bytes(const vit_dataset *d) {
    return d->height * d->width * d->channels;
}

const uint8_t *vit_record_pixels(const vit_dataset *d, const vit_records *r, size_t index) {
    if (r->drawing || (r->files && index >= r->files->resident)) return NULL;
    return r->pixels + index * record_bytes(d);
}

const char *vit_record_file(const vit_records *r, size_t index) {
    char *const *names = r->files ? r->files->paths : r->names;
    return names ? names[index] : NULL;
}

void vit_dataset_prepare_as(vit_dataset *d, const vit_preparation *p) {
    const vit_operation *normalize = &p->preprocessing.operations[p->preprocessing.count - 1];
    d->height = p->height;
    d->width = p->width;
    d->channels = p->channels;
    d->preprocessing = p->preprocessing;
    d->unrounded = p->unrounded;
    memcpy(d->mean, normalize->mean, sizeof d->mean);
    memcpy(d->std, normalize->std, sizeof d->std);
}

vit_status vit_picture_read(vit_bytes *out, vit_shard_files *shards, const char *path,
                            const vit_place *place, vit_error *error) {
    return place ? vit_shard_readers->read(out, shards, place, path, error)
                 : vit_read_regular(out, path, VIT_IMAGE_MAX_FILE, error);
}

static vit_status prepare(vit_image *ready, const vit_dataset *d, const char *path,
                          const vit_place *place, vit_error *error) {
    vit_bytes file;
    vit_status status = vit_picture_read(&file, d->shard_files, path, place, error);
    if (status != VIT_OK) return status;
    status = vit_preprocess_bytes(ready, file.data, file.size, path, &d->preprocessing, d->height,
                                  d->width, d->channels, d->kernels, error);
    vit_free(file.data);
    return status;
}

vit_status vit_picture_prepare(uint8_t *pixels, const vit_dataset *d, const char *path,
                               const vit_place *place, vit_error *error) {
    vit_image ready;
    const vit_status status = prepare(&ready, d, path, place, error);
    if (status != VIT_OK) return status;
    memcpy(pixels, ready.pixels, record_bytes(d));
    vit_image_free(&ready);
    return VIT_OK;
}

vit_status vit_record_read(const vit_dataset *d, const vit_records *r, size_t index,
                           uint8_t *pixels, vit_error *error) {
    const uint8_t *resident = vit_record_pixels(d, r, index);
    if (r->drawing) {
        r->drawing->draw(pixels, r->drawing, index);
        return VIT_OK;
    }
    if (resident) {
        memcpy(pixels, resident, record_bytes(d));
        return VIT_OK;
    }
    const vit_place *places = r->files->places;
    return vit_picture_prepare(pixels, d, r->files->paths[index], places ? &places[index] : NULL,
                               error);
}

vit_status vit_record_get(const uint8_t **pixels, uint8_t **scratch, const vit_dataset *d,
                          const vit_records *r, size_t index, vit_error *error) {
    *pixels = vit_record_pixels(d, r, index);
    if (*pixels) return VIT_OK;
    if (!*scratch) *scratch = vit_alloc(1, record_bytes(d));
    if (!*scratch) return vit_fail_memory(error, "a picture", record_bytes(d));
    *pixels = *scratch;
    return vit_record_read(d, r, index, *scratch, error);
}

vit_status vit_record_prepare(vit_image *out, const vit_dataset *d, const vit_records *r,
                              size_t index, vit_error *error) {
    *out = (vit_image){.width = d->width, .height = d->height, .channels = d->channels};
    if (d->unrounded && r->files) {
        const vit_place *places = r->files->places;
        return prepare(out, d, r->files->paths[index], places ? &places[index] : NULL, error);
    }
    out->pixels = vit_alloc(1, record_bytes(d));
    if (!out->pixels) return vit_fail_memory(error, "a picture", record_bytes(d));
    const vit_status status = vit_record_read(d, r, index, out->pixels, error);
    if (status != VIT_OK) vit_image_free(out);
    return status;
}

vit_status vit_record_normalize(float *image, uint8_t **scratch, const vit_dataset *d,
                                const vit_records *r, size_t index, const float *table,
                                vit_error *error) {
    const uint8_t *pixels;
    vit_image ready;
    vit_status status;
    if (d->unrounded) {
        status = vit_record_prepare(&ready, d, r, index, error);
        if (status != VIT_OK) return status;
        vit_normalize_prepared(image, &ready, &d->preprocessing, table);
        vit_image_free(&ready);
        return VIT_OK;
    }
    status = vit_record_get(&pixels, scratch, d, r, index, error);
    if (status == VIT_OK) vit_normalize(image, pixels, d->height * d->width, d->channels, table);
    return status;
}

/* ---- texts ---- */

/* Appends the ids of a text; *capacity is the size of out->ids. */
static vit_status add_ids(vit_texts *out, size_t index, size_t *capacity,
                          const vit_vocabulary *vocabulary, const char *text, vit_error *error) {
    const size_t start = out->at[index];
    size_t length;
    vit_status status =
        vit_vocabulary_encode(NULL, &length, VIT_MOST_SIGNS, vocabulary, text, error);
    if (status != VIT_OK) return status;
    if (start + length > *capacity) {
        const size_t more = 2 * (start + length);
        uint32_t *ids = vit_realloc(out->ids, *capacity, more, sizeof *ids);
        if (!ids) return vit_fail_memory(error, "texts", more * sizeof *ids);
        out->ids = ids;
        *capacity = more;
    }
    out->at[index + 1] = start + length;
    return vit_vocabulary_encode(out->ids + start, &length, length, vocabulary, text, error);
}

vit_status vit_texts_encode(vit_texts *out, size_t *most, size_t *reached,
                            const vit_vocabulary *vocabulary, size_t count, vit_put_text *source,
                            const void *context, vit_error *error) {
    vit_string text = {0};
    size_t capacity = 0;
    vit_status status = VIT_OK;
    out->at = vit_alloc(count + 1, sizeof *out->at);
    if (!out->at) return vit_fail_memory(error, "texts", count * sizeof *out->at);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        *reached = i;
        text.length = 0;
        vit_string_add(&text, "%s", ""); /* writes the 0 at its new end */
        source(&text, i, context);
        status = text.failed ? vit_fail_memory(error, "a text", text.length)
                             : add_ids(out, i, &capacity, vocabulary, text.text, error);
        if (status == VIT_OK && out->at[i + 1] - out->at[i] > *most)
            *most = out->at[i + 1] - out->at[i];
    }
    vit_string_free(&text);
    return status;
}

/* ---- mean and deviation ---- */

/* From a histogram, so that neither order nor rounding matters. */
static void measure_channel(float *mean_out, float *std_out, const uint64_t counts[256]) {
    uint64_t n = 0, sum = 0;
    for (size_t v = 0; v < 256; v++) n += counts[v], sum += counts[v] * v;
    double mean = (double)sum / (double)n, squares = 0;
    for (int v = 0; v < 256; v++) squares += (double)counts[v] * (v - mean) * (v - mean);
    *mean_out = (float)(mean / 255);
    *std_out = (float)(sqrt(squares / (double)n) / 255);
    /* Pictures of a single colour have no deviation that one could divide by. */
    if (squares == 0) *std_out = 1;
}

void vit_dataset_measure(vit_dataset *d) {
    const vit_records *r = d->train.count > 0 ? &d->train : &d->test;
    size_t channels = d->channels, pixels = r->count * d->height * d->width;
    uint64_t counts[3][256] = {{0}};
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++) counts[c][r->pixels[i * channels + c]]++;
    for (size_t c = 0; c < channels; c++) measure_channel(&d->mean[c], &d->std[c], counts[c]);
}

/* ---- options and checks ---- */

vit_dataset_options vit_options_without_val(const vit_dataset_options *options) {
    vit_dataset_options o = *options;
    if (o.need & VIT_PART_VAL) o.need |= VIT_PART_TRAIN;
    if (o.want & VIT_PART_VAL) o.want |= VIT_PART_TRAIN;
    o.need &= ~(unsigned)VIT_PART_VAL;
    o.want &= ~(unsigned)VIT_PART_VAL;
    return o;
}

vit_status vit_dataset_check_classes(const vit_dataset *d, const char *where, vit_error *error) {
    if (d->train.count == 0) return VIT_OK;
    bool *seen = vit_alloc(d->classes, sizeof *seen);
    if (!seen) return vit_fail_memory(error, "classes", d->classes);
    for (size_t i = 0; i < d->train.count; i++) seen[d->train.labels[i]] = true;
    size_t class = 0;
    while (class < d->classes && seen[class]) class ++;
    vit_free(seen);
    if (class == d->classes) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: the labels go up to %zu, but no training picture has label %zu: is the "
                    "largest label wrong? If not, --empty-classes allows it",
                    where, d->classes - 1, class);
}

vit_status vit_dataset_need_classes(const vit_dataset *d, vit_error *error) {
    if (d->classes > 0) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: its answers are texts, expected pictures of classes", d->name);
}

/* ---- notes ---- */

vit_status vit_dataset_note(vit_dataset *d, vit_error *error, const char *format, ...) {
    char text[1024];
    va_list arguments;
    if (d->note_count == VIT_MAX_NOTES) return VIT_OK;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    d->notes[d->note_count] = vit_strdup(text);
    if (!d->notes[d->note_count]) return vit_fail_memory(error, "a note", strlen(text));
    d->note_count++;
    return VIT_OK;
}

/* ---- closing ---- */

void vit_names_free(char **names, size_t count) {
    for (size_t i = 0; names && i < count; i++) vit_free(names[i]);
    vit_free(names);
}

void vit_files_free(vit_files *files, size_t count) {
    if (!files) return;
    vit_names_free(files->paths, count);
    vit_free(files->places);
    vit_free(files);
}

void vit_records_free(vit_records *r) {
    vit_files_free(r->files, r->count);
    if (r->drawing) r->drawing->free(r->drawing);
    vit_names_free(r->names, r->count);
    if (r->copies) vit_copies_free(r->copies);
    vit_free(r->copies);
    vit_free(r->pixels);
    vit_free(r->labels);
    vit_free(r->shards);
    vit_free(r->source.ids);
    vit_free(r->source.at);
    vit_free(r->target.ids);
    vit_free(r->target.at);
}

void vit_dataset_close(vit_dataset *dataset) {
    vit_records_free(&dataset->train);
    vit_records_free(&dataset->val);
    if (!dataset->test_is_val) vit_records_free(&dataset->test);
    if (dataset->shard_files) vit_shard_readers->free(dataset->shard_files);
    vit_free(dataset->joined);
    vit_free(dataset->label_memory);
    vit_free(dataset->class_source);
    vit_copy_list_free(&dataset->copies);
    vit_vocabulary_free(&dataset->source_vocabulary);
    vit_vocabulary_free(&dataset->target_vocabulary);
    for (size_t i = 0; i < dataset->note_count; i++) vit_free(dataset->notes[i]);
    *dataset = (vit_dataset){0};
}
