/* How often texts are right. */
#include "vit/api/evaluate_text.h"
#include "vit/base/size.h"
#include "vit/image/prepare/preprocess.h"
#include "vit/model/write.h"
#include <math.h>

/* What is written for a record, beside what is right. */
typedef struct judging {
    const vit_text_data *data;
    vit_text_writer *writer;
    size_t samples; /* at once */
    float *images;
    vit_ids *sources;
    vit_written *done;
    size_t *row;     /* [the longest text + 1] of the distances */
    uint8_t *pixels; /* of a record that is not in memory */
} judging;

vit_status vit_check_text_data(const vit_model *m, const vit_dataset *d, vit_error *error) {
    const vit_model_file *f = &m->file;
    const vit_config *c = &f->config;
    if (d->target_vocabulary.count == 0)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the model writes texts, but the answers of %s are classes", d->name);
    if (f->tokenizer.count > 0)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "the model has a tokenizer of its own, which the texts of %s cannot be "
                        "turned into ids with",
                        d->name);
    if (!vit_vocabulary_equal(&f->vocabulary, &d->target_vocabulary) ||
        (c->stem == VIT_STEM_TOKENS &&
         !vit_vocabulary_equal(&f->source_vocabulary, &d->source_vocabulary)))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the texts of %s have other signs than those that the model was trained on",
                        d->name);
    if (d->most_target + 1 > c->decoder.length)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the longest text of %s has %zu signs, the model writes %zu at most",
                        d->name, d->most_target, c->decoder.length - 1);
    if (c->stem == VIT_STEM_TOKENS && d->most_source > c->length)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the longest source of %s has %zu signs, the model reads %zu at most",
                        d->name, d->most_source, c->length);
    return VIT_OK;
}

static size_t record_number(const vit_text_data *t, size_t i) {
    return t->numbers ? t->numbers[i] : i;
}

/* Levenshtein: the fewest signs to insert, delete or replace. row: [b.count + 1]. */
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

/* Adds up the distances of the texts that are wrong; the others have none. */
static vit_status judge(judging *j, const bool *right, size_t *sum, vit_error *error) {
    size_t ready = 0, *places = vit_alloc(j->samples, sizeof *places);
    vit_status status = places ? VIT_OK : vit_fail_memory(error, "answers", j->samples);
    for (size_t i = 0; i < j->data->count && status == VIT_OK; i++) {
        if (!right[i]) {
            places[ready] = record_number(j->data, i);
            status = take(j, places[ready], ready, error);
            ready++;
        }
        if (status != VIT_OK || ready == 0 || (ready < j->samples && i + 1 < j->data->count))
            continue;
        vit_write(j->writer, j->done, j->images, j->sources, ready, 0);
        for (size_t k = 0; k < ready; k++) {
            const vit_ids written = {j->done[k].ids, j->done[k].count};
            const vit_ids truth = vit_texts_get(&j->data->records->target, places[k]);
            *sum += distance(&truth, &written, j->row);
        }
        ready = 0;
    }
    vit_free(places);
    return status;
}

static vit_status make(judging *j, const vit_text_data *t, const vit_exec *exec, vit_error *error) {
    const vit_config *c = &t->network->config;
    const vit_writing how = vit_writing_default(c);
    const size_t pixels = c->height * c->width * c->channels;
    *j = (judging){.data = t, .samples = vit_max(1, 1536 / vit_config_rows(c))};
    j->images = vit_alloc(j->samples, (pixels + 1) * sizeof(float));
    j->sources = vit_alloc(j->samples, sizeof *j->sources);
    j->done = vit_alloc(j->samples, sizeof *j->done);
    j->row = vit_alloc(c->decoder.length + 2, sizeof *j->row);
    if (!j->images || !j->sources || !j->done || !j->row)
        return vit_fail_memory(error, "answers", j->samples * pixels * sizeof(float));
    return vit_text_writer_new(&j->writer, t->network, &how, exec->kernels, exec->threads,
                               j->samples, error);
}

vit_status vit_judge_texts(double *edit_distance, const vit_text_data *t, const bool *right,
                           const vit_exec *exec, vit_error *error) {
    judging j;
    size_t sum = 0, signs = 0;
    vit_status status = make(&j, t, exec, error);
    if (status == VIT_OK) status = judge(&j, right, &sum, error);
    for (size_t i = 0; i < t->count; i++)
        signs += vit_texts_get(&t->records->target, record_number(t, i)).count;
    *edit_distance = signs > 0 ? (double)sum / (double)signs : NAN;
    vit_text_writer_free(j.writer);
    void *const all[] = {j.images, j.sources, j.done, j.row, j.pixels};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) vit_free(all[i]);
    return status;
}
