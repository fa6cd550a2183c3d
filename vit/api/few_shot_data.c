/* Data sets and folders for a teaching, and their test part. */
#include "vit/api/few_shot.h"
#include "vit/base/fpmode.h"
#include "vit/base/math.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/few_shot/numbers.h"
#include "vit/few_shot/vote.h"
#include <stdio.h>
#include <string.h>

enum { WINDOW = 128 };

/* Records that are read on all threads. */
typedef struct reading {
    const vit_dataset *data;
    const vit_records *records;
    size_t first;
    vit_taught_picture *pictures; /* [records], whose likeness is to be computed; or NULL */
    bool hashes;                  /* their SHA-256, too */
    vit_image *images;            /* [WINDOW] */
    vit_error *errors;            /* [WINDOW] */
} reading;

#define MOST_BYTES ((size_t)256 << 20) /* of a picture's file: the library's limit */

static vit_status hash_file(vit_taught_picture *p, const char *path, vit_error *error) {
    vit_bytes bytes;
    const vit_status status = vit_read_regular(&bytes, path, MOST_BYTES, error);
    if (status != VIT_OK) return status;
    vit_sha256_digest(p->digest, bytes.data, bytes.size);
    p->has_digest = true;
    vit_free(bytes.data);
    return VIT_OK;
}

static void read_record(size_t i, int thread, void *context) {
    (void)thread;
    const reading *r = context;
    vit_image_free(&r->images[i]);
    r->errors[i].status =
        vit_record_prepare(&r->images[i], r->data, r->records, r->first + i, &r->errors[i]);
    if (r->errors[i].status == VIT_OK && r->pictures && r->hashes)
        r->errors[i].status = hash_file(&r->pictures[r->first + i],
                                        vit_record_file(r->records, r->first + i), &r->errors[i]);
    if (r->errors[i].status == VIT_OK && r->pictures && vit_record_file(r->records, r->first + i))
        r->pictures[r->first + i].likeness = vit_few_shot_likeness(&r->images[i], 0);
}

/* out: [records][views][width], the first of which has this number in the teaching. pictures:
 * [records], or NULL. */
static vit_status embed_records(float *out, vit_few_shot *t, const vit_dataset *d,
                                const vit_records *records, vit_taught_picture *pictures,
                                size_t number, size_t views, vit_error *error) {
    reading r = {.data = d, .records = records, .pictures = pictures, .hashes = t->keep_lessons};
    const vit_image *ready[WINDOW];
    r.images = vit_alloc(WINDOW, sizeof *r.images);
    r.errors = vit_alloc(WINDOW, sizeof *r.errors);
    vit_status status = VIT_OK;
    for (size_t i = 0; i < WINDOW && r.images; i++) ready[i] = &r.images[i];
    if (!r.images || !r.errors)
        status = vit_fail_memory(error, "pictures", WINDOW * sizeof *r.errors);
    for (r.first = 0; r.first < records->count && status == VIT_OK; r.first += WINDOW) {
        const size_t count = vit_min(WINDOW, records->count - r.first);
        vit_parallel(t->session->threads, count, read_record, &r);
        for (size_t i = 0; i < count && status == VIT_OK; i++)
            if (r.errors[i].status != VIT_OK)
                status = vit_fail(error, r.errors[i].status, "%s", r.errors[i].message);
        if (status == VIT_OK)
            status = vit_few_shot_embed(t, ready, count, number + r.first, views,
                                        out + r.first * views * t->width, error);
    }
    for (size_t i = 0; i < WINDOW && r.images; i++) vit_image_free(&r.images[i]);
    vit_free(r.images);
    vit_free(r.errors);
    return status;
}

/* ---- opening ---- */

/* The data, and which of their parts are learnt from. Without parts, all pictures are. */
typedef struct opened {
    vit_dataset test, train; /* name "": not open */
    const vit_dataset *lessons;
    const vit_records *records;
} opened;

static vit_status open_parts(opened *o, const vit_few_shot *t, const char *data,
                             const vit_arrays *arrays, vit_error *error) {
    const vit_preparation preparation = vit_model_preparation(&t->backbone->file);
    vit_dataset_options options = {.arrays = arrays,
                                   .need = VIT_PART_TEST,
                                   .want = VIT_PART_TEST,
                                   .preparation = &preparation,
                                   .trained_on = "",
                                   .class_column = t->class_column,
                                   .exclude = t->exclude,
                                   .relabel = t->relabel,
                                   .tag_branch = t->tag_branch,
                                   .learns = true,
                                   .empty_classes = t->empty_classes,
                                   .splits_are_classes = t->splits_are_classes,
                                   .threads = t->session->threads,
                                   .kernels = t->session->kernels};
    vit_status status = VIT_ERROR_ARGUMENT;
    if (!t->hold_out) status = vit_dataset_open(&o->test, data, &options, NULL);
    if (status == VIT_OK && o->test.test_is) {
        o->lessons = &o->test;
        o->records = &o->test.test;
        return VIT_OK;
    }
    options.need = options.want = VIT_PART_TRAIN;
    if (t->hold_out) options.want |= VIT_PART_TEST;
    /* A list of corrections that was refused is refused again, whichever part it names. */
    if (t->exclude || t->relabel) options.want |= VIT_PART_TEST | VIT_PART_VAL;
    options.trained_on = NULL;
    status = vit_dataset_open(&o->train, data, &options, error);
    o->lessons = &o->train;
    o->records = &o->train.train;
    return status;
}

static vit_status check_size(const vit_few_shot *t, const vit_dataset *d, vit_error *error) {
    const vit_config *c = &t->backbone->file.config;
    vit_status status = vit_dataset_need_classes(d, error);
    if (status != VIT_OK ||
        (d->height == c->height && d->width == c->width && d->channels == c->channels))
        return status;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "the pictures of %s are %zu x %zu x %zu, the model takes %zu x %zu x %zu: give "
                    "it their size (--size)",
                    d->name, d->height, d->width, d->channels, c->height, c->width, c->channels);
}

/* Lessons are kept of pictures that are files, by whose names and bytes they are known. */
static vit_status check_files(const vit_few_shot *t, const opened *o, vit_error *error) {
    bool files = !o->records->shards;
    for (size_t i = 0; i < o->records->count && files; i++)
        files = vit_record_file(o->records, i) != NULL;
    if (files || !t->keep_lessons) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: lessons are kept of pictures in files of their own, these are records",
                    o->lessons->name);
}

/* labels: [classes of d] = the teaching's numbers of these classes. */
static vit_status map_classes(size_t **labels, vit_few_shot *t, const vit_dataset *d,
                              vit_error *error) {
    char number[32];
    *labels = vit_alloc(d->classes, sizeof **labels);
    if (!*labels) return vit_fail_memory(error, "classes", d->classes * sizeof **labels);
    vit_status status = VIT_OK;
    for (size_t i = 0; i < d->classes && status == VIT_OK; i++) {
        snprintf(number, sizeof number, "%zu", i);
        status = vit_few_shot_label(t, &(*labels)[i], d->labels ? d->labels[i] : number, error);
    }
    return status;
}

static vit_status add_lessons(vit_few_shot *t, const opened *o, vit_error *error) {
    const vit_dataset *d = o->lessons;
    const vit_records *r = o->records;
    const size_t first = t->count;
    size_t *labels = NULL;
    vit_status status = map_classes(&labels, t, d, error);
    if (status == VIT_OK) status = vit_few_shot_reserve(t, r->count, error);
    if (status == VIT_OK)
        status = embed_records(t->features + t->count * t->views * t->width, t, d, r,
                               t->pictures + t->count, t->count, t->views, error);
    if (status == VIT_OK) {
        vit_taught_picture *p = t->pictures + t->count;
        for (size_t i = 0; i < r->count && status == VIT_OK; i++, p++) {
            const char *file = vit_record_file(r, i);
            p->name = file ? vit_strdup(file) : NULL;
            if (file && !p->name) status = vit_fail_memory(error, "a name", strlen(file));
            t->labels[t->count++] = labels[r->labels[i]];
        }
    }
    for (size_t i = t->count; i < first + r->count && status != VIT_OK && i < t->room; i++) {
        vit_free(t->pictures[i].likeness);
        t->pictures[i].likeness = NULL;
    }
    vit_free(labels);
    return status;
}

static vit_status add_test(vit_few_shot *t, const vit_dataset *d, vit_error *error) {
    size_t *labels = NULL;
    vit_free(t->test);
    vit_free(t->test_labels);
    t->test_count = 0;
    t->test = vit_alloc_unset(d->test.count, t->width * sizeof *t->test);
    t->test_labels = vit_alloc(d->test.count, sizeof *t->test_labels);
    vit_status status = VIT_OK;
    if (!t->test || !t->test_labels)
        status = vit_fail_memory(error, "features", d->test.count * t->width * sizeof *t->test);
    if (status == VIT_OK) status = map_classes(&labels, t, d, error);
    if (status == VIT_OK) status = embed_records(t->test, t, d, &d->test, NULL, 0, 1, error);
    for (size_t i = 0; i < d->test.count && status == VIT_OK; i++)
        t->test_labels[i] = labels[d->test.labels[i]];
    if (status == VIT_OK) t->test_count = d->test.count;
    vit_free(labels);
    return status;
}

vit_status vit_few_shot_add_data(vit_few_shot *t, const char *data, const vit_arrays *arrays,
                                 vit_note *note, void *user, vit_error *error) {
    VIT_ENTRY;
    opened o = {0};
    vit_status status = data || arrays ? open_parts(&o, t, data, arrays, error)
                                       : vit_fail(error, VIT_ERROR_ARGUMENT, "no data was named");
    if (status == VIT_OK) status = check_size(t, o.lessons, error);
    if (status == VIT_OK) status = check_files(t, &o, error);
    for (size_t i = 0; status == VIT_OK && note && i < o.lessons->note_count; i++)
        note(o.lessons->notes[i], user);
    if (status == VIT_OK) {
        t->keep_direction = t->keep_direction || o.lessons->has_characters;
        status = add_lessons(t, &o, error);
    }
    const vit_dataset *tested = t->hold_out ? &o.train : &o.test;
    if (status == VIT_OK && o.lessons == &o.train && tested->test.count > 0)
        status = add_test(t, tested, error);
    if (status == VIT_OK) {
        snprintf(t->data, sizeof t->data, "%s", o.lessons->name);
        snprintf(t->checksum, sizeof t->checksum, "%s", o.lessons->checksum);
        memcpy(t->corrected, o.lessons->corrected, sizeof t->corrected);
    }
    vit_few_shot_changed(t);
    vit_dataset_close(&o.test);
    vit_dataset_close(&o.train);
    return status;
}

/* ---- tests ---- */

/* Whether the label is among the first five; *first: whether it is the first. */
static bool rank(bool *first, const double *scores, size_t classes, size_t label) {
    size_t before = 0;
    for (size_t k = 0; k < classes; k++)
        before += scores[k] > scores[label] || (scores[k] == scores[label] && k < label);
    *first = before == 0;
    return before < 5;
}

/* scores: [class_count] of test picture i, by the neighbours or by the head. */
static void score(double *scores, float *logits, const vit_few_shot *t, size_t i,
                  const vit_near *near, size_t k) {
    if (k > 0) {
        vit_vote(scores, t->class_count, near + i * k, k, t->labels);
        return;
    }
    vit_few_shot_logits(t, t->test + i * t->width, logits);
    for (size_t j = 0; j < t->learnt_classes; j++) scores[j] = (double)logits[j];
    for (size_t j = t->learnt_classes; j < t->class_count; j++) scores[j] = -1e300;
}

static vit_status find_neighbours(vit_near *near, size_t k, vit_few_shot *t, vit_error *error) {
    float *test = vit_alloc_unset(t->test_count, t->width * sizeof *test);
    const int threads = t->session->threads;
    vit_status status = test ? vit_few_shot_units(t, error)
                             : vit_fail_memory(error, "features", t->test_count * t->width * 4);
    if (status == VIT_OK) {
        vit_unit_rows(test, t->test, t->test_count, t->width, threads);
        status = vit_find_nearest(near, k, test, t->test_count, t->units, t->count, t->width,
                                  t->session->kernels, threads, error);
    }
    vit_free(test);
    return status;
}

vit_status vit_few_shot_test(vit_few_shot *t, size_t k, vit_tested *out, vit_error *error) {
    VIT_ENTRY;
    vit_near *near = vit_alloc(t->test_count * k, sizeof *near);
    double *scores = vit_alloc(t->class_count, sizeof *scores);
    float *logits = vit_alloc(t->class_count, sizeof *logits);
    vit_status status = VIT_OK;
    size_t five = 0;
    *out = (vit_tested){0};
    if (!near || !scores || !logits) status = vit_fail_memory(error, "votes", t->test_count * k);
    if (status == VIT_OK && t->test_count == 0)
        status = vit_fail(error, VIT_ERROR_ARGUMENT, "%s has no test part to answer",
                          t->data[0] ? t->data : "the teaching");
    if (status == VIT_OK && k > t->count)
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "%zu neighbours, but there are %zu training pictures", k, t->count);
    if (status == VIT_OK)
        status = k > 0 ? find_neighbours(near, k, t, error) : vit_few_shot_needs_head(t, error);
    for (size_t i = 0; i < t->test_count && status == VIT_OK; i++) {
        bool first;
        score(scores, logits, t, i, near, k);
        five += rank(&first, scores, t->class_count, t->test_labels[i]);
        out->correct += first;
    }
    if (status == VIT_OK) {
        out->images = t->test_count;
        out->top1 = (double)out->correct / (double)out->images;
        out->top5 = (double)five / (double)out->images;
        vit_wilson(&out->low, &out->high, out->correct, out->images);
    }
    vit_free(near);
    vit_free(scores);
    vit_free(logits);
    return status;
}
