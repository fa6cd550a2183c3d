#include "vit/train/measure/edit_distance.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/model/run/generate.h"
#include <math.h>

/* Writing texts, `samples` at once, and comparing them with the right ones. */
typedef struct judging {
    const vit_answered_records *data;
    vit_generator *writer;
    size_t samples;      /* at once */
    float *images;       /* [samples][height][width][channels], normalised */
    vit_ids *sources;    /* [samples] */
    vit_generated *done; /* [samples] what was written */
    size_t *row;         /* [the longest text + 1], for `distance` */
    uint8_t *pixels;     /* for vit_record_get */
} judging;

static size_t record_number(const vit_answered_records *t, size_t i) {
    return t->numbers ? t->numbers[i] : i;
}

/* Levenshtein's edit distance: the fewest signs to insert, delete or replace. row: [b->count + 1].
 */
static size_t distance(const vit_ids *a, const vit_ids *b, size_t *row) {
    for (size_t j = 0; j <= b->count; j++) row[j] = j;
    for (size_t i = 1; i <= a->count; i++) {
        size_t corner = row[0]; /* of the row before, one to the left */
        row[0] = i;
        for (size_t j = 1; j <= b->count; j++) {
            const size_t above = row[j], same = a->ids[i - 1] == b->ids[j - 1];
            row[j] = vit_min(corner + !same, vit_min(above, row[j - 1]) + 1);
            corner = above;
        }
    }
    return row[b->count];
}

/* Puts the input of a record, picture or text, at place `at` of the samples. */
static vit_status take(judging *j, size_t number, size_t at, vit_error *error) {
    const vit_dataset *d = j->data->data;
    const size_t pixels = d->height * d->width;
    const vit_records *r = j->data->records;
    const uint8_t *found;
    if (r->source.at) j->sources[at] = vit_texts_get(&r->source, number);
    if (pixels == 0 || !j->images) return VIT_OK;
    const vit_status status = vit_record_get(&found, &j->pixels, d, r, number, error);
    if (status == VIT_OK)
        vit_normalize(j->images + at * pixels * d->channels, found, pixels, d->channels,
                      j->data->table[0]);
    return status;
}

/* *sum += the distances of all texts that are not known to be right, whose distance is 0. */
static vit_status add_distances(judging *j, const bool *right, size_t *sum, vit_error *error) {
    size_t ready = 0, *numbers = vit_alloc(j->samples, sizeof *numbers);
    vit_status status = numbers ? VIT_OK : vit_fail_memory(error, "answers", j->samples);
    for (size_t i = 0; i < j->data->count && status == VIT_OK; i++) {
        if (!right[i]) {
            numbers[ready] = record_number(j->data, i);
            status = take(j, numbers[ready], ready, error);
            ready++;
        }
        if (status != VIT_OK || ready == 0 || (ready < j->samples && i + 1 < j->data->count))
            continue;
        vit_generate(j->writer, j->done, j->images, j->sources, ready, 0);
        for (size_t k = 0; k < ready; k++) {
            const vit_ids written = {j->done[k].ids, j->done[k].count};
            const vit_ids truth = vit_texts_get(&j->data->records->target, numbers[k]);
            *sum += distance(&truth, &written, j->row);
        }
        ready = 0;
    }
    vit_free(numbers);
    return status;
}

static vit_status judging_init(judging *j, const vit_answered_records *t, const vit_exec *exec,
                               vit_error *error) {
    const vit_config *c = &t->network->config;
    const vit_generation how = vit_generation_default(c);
    const size_t pixels = c->height * c->width * c->channels;
    *j = (judging){.data = t, .samples = vit_max(1, 1536 / vit_config_rows(c))};
    j->images = vit_alloc(j->samples, (pixels + 1) * sizeof(float));
    j->sources = vit_alloc(j->samples, sizeof *j->sources);
    j->done = vit_alloc(j->samples, sizeof *j->done);
    j->row = vit_alloc(c->decoder.length + 2, sizeof *j->row);
    if (!j->images || !j->sources || !j->done || !j->row)
        return vit_fail_memory(error, "answers", j->samples * pixels * sizeof(float));
    return vit_generator_new(&j->writer, t->network, &how, exec->kernels, exec->threads, j->samples,
                             error);
}

vit_status vit_edit_distance(double *edit_distance, const vit_answered_records *t,
                             const bool *right, const vit_exec *exec, vit_error *error) {
    judging j;
    size_t sum = 0, signs = 0;
    vit_status status = judging_init(&j, t, exec, error);
    if (status == VIT_OK) status = add_distances(&j, right, &sum, error);
    for (size_t i = 0; i < t->count; i++)
        signs += vit_texts_get(&t->records->target, record_number(t, i)).count;
    *edit_distance = signs > 0 ? (double)sum / (double)signs : NAN;
    vit_generator_free(j.writer);
    void *const all[] = {j.images, j.sources, j.done, j.row, j.pixels};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) vit_free(all[i]);
    return status;
}

const vit_text_distance vit_edit_distances = {vit_edit_distance};
