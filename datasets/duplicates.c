#include "datasets/duplicates.h"
#include "datasets/reader.h"
#include "vit/base/parallel.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/image/likeness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PAIRS ((size_t)4 << 30) /* more would take minutes */

static size_t in_memory(const vit_records *r) {
    return r->files ? r->files->resident : r->count;
}

/* ---- what is compared ---- */

typedef struct printing {
    const vit_dataset *set;
    const uint8_t *pixels;
    vit_likeness *out;
} printing;

static void print_one(size_t index, int thread, void *context) {
    const printing *p = context;
    const vit_dataset *d = p->set;
    const size_t size = d->height * d->width * d->channels;
    const uint8_t *pixels = p->pixels + index * size;
    (void)thread;
    vit_likeness_of(&p->out[index], pixels, d->height, d->width, d->channels);
    p->out[index].digest = vit_likeness_digest(pixels, size);
}

/* out: of the first `count` records. */
static void print_all(vit_likeness *out, const vit_dataset *set, const uint8_t *pixels,
                      size_t count, int threads) {
    printing p = {set, pixels, out};
    vit_parallel(threads > 0 ? threads : 1, count, print_one, &p);
}

/* Pictures of one colour may be of anything: they are no copies. */
static void forget_flat(vit_likeness *prints, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (prints[i].is_flat) prints[i].digest = 0;
}

/* ---- between parts ---- */

typedef struct search {
    size_t train_count;
    bool crops;
    const vit_likeness *train, *other;
    uint32_t *found; /* [pictures of the part]: 1 + the training picture that it resembles, or 0 */
    uint8_t *same;   /* [pictures of the part]: whether it equals that one */
} search;

static void search_one(size_t index, int thread, void *context) {
    const search *s = context;
    (void)thread;
    for (size_t i = 0; i < s->train_count && !s->same[index]; i++) {
        const vit_likeness *a = &s->other[index], *b = &s->train[i];
        const vit_alike alike = s->found[index] && a->digest != b->digest
                                    ? VIT_ALIKE_NOT
                                    : vit_likeness_compare(a, b, s->crops);
        if (alike == VIT_ALIKE_NOT) continue;
        s->found[index] = (uint32_t)i + 1;
        s->same[index] = alike == VIT_ALIKE_EXACT;
    }
}

static void count(vit_duplicates *out, const search *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const bool first = s->same[i] ? out->same == 0 : s->found[i] && out->same + out->near == 0;
        if (first) {
            out->record = i;
            out->train = s->found[i] - 1;
        }
        out->same += s->same[i];
        out->near += s->found[i] && !s->same[i];
    }
}

/* Fills *s; flat: pictures of one colour count if they are equal. */
static vit_status search_part(search *s, const vit_dataset *set, const vit_records *part, bool flat,
                              int threads, vit_error *error) {
    const size_t m = in_memory(&set->train), n = in_memory(part);
    vit_likeness *prints = vit_alloc(m + n, sizeof *prints);
    *s = (search){.train_count = m,
                  .crops = m + n <= VIT_COPIES_CROPS,
                  .train = prints,
                  .other = prints ? prints + m : NULL,
                  .found = vit_alloc(n, sizeof *s->found),
                  .same = vit_alloc(n, 1)};
    const bool room = prints && s->found && s->same;
    if (room) {
        print_all(prints, set, set->train.pixels, m, threads);
        print_all(prints + m, set, part->pixels, n, threads);
        if (!flat) forget_flat(prints, m + n);
        vit_parallel(threads > 0 ? threads : 1, n, search_one, s);
    }
    vit_free(prints);
    return room ? VIT_OK : vit_fail_memory(error, "a search for copies", m * sizeof *prints);
}

static bool can_be_searched(const vit_dataset *set, const vit_records *part) {
    const size_t m = in_memory(&set->train), n = in_memory(part);
    size_t pairs;
    return m > 0 && n > 0 && (set->channels == 1 || set->channels == 3) &&
           vit_multiply(m, n, &pairs) && pairs <= MOST_PAIRS;
}

vit_status vit_duplicates_find(vit_duplicates *out, const vit_dataset *set, const vit_records *part,
                               int threads, vit_error *error) {
    search s;
    *out = (vit_duplicates){0};
    if (!can_be_searched(set, part)) return VIT_OK;
    const vit_status status = search_part(&s, set, part, true, threads, error);
    if (status == VIT_OK) count(out, &s, in_memory(part));
    vit_free(s.found);
    vit_free(s.same);
    return status;
}

vit_status vit_duplicates_of_test(bool *copies, const vit_dataset *set, int threads,
                                  vit_error *error) {
    const size_t m = in_memory(&set->train), n = in_memory(&set->test);
    if (!can_be_searched(set, &set->test)) return VIT_OK;
    const vit_dataset turned = {.height = set->height,
                                .width = set->width,
                                .channels = set->channels,
                                .train = {.count = n, .pixels = set->test.pixels}};
    const vit_records train = {.count = m, .pixels = set->train.pixels};
    search s;
    const vit_status status = search_part(&s, &turned, &train, false, threads, error);
    for (size_t i = 0; i < m && status == VIT_OK; i++) copies[i] = s.found[i] != 0;
    vit_free(s.found);
    vit_free(s.same);
    return status;
}

/* ---- within the training part ---- */

/* A note of how many copies there are, with an example, and one of those in two classes. */
static vit_status note_copies(vit_dataset *set, const vit_copies *c, vit_error *error) {
    const vit_records *r = &set->train;
    const vit_copy *first = &c->pairs[0], *odd = NULL;
    size_t contradictions = 0;
    for (size_t i = c->pair_count; i-- > 0;) {
        if (r->labels[c->pairs[i].first] == r->labels[c->pairs[i].second]) continue;
        contradictions++;
        odd = &c->pairs[i];
    }
    vit_status status = vit_dataset_note(
        set, error,
        "%zu training picture%s of others, such as %s (%s) of %s: copies are held back together",
        c->extra, c->extra == 1 ? " is a copy" : "s are copies", vit_record_file(r, first->second),
        vit_alike_name(first->alike), vit_record_file(r, first->first));
    if (status != VIT_OK || !odd) return status;
    return vit_dataset_note(set, error,
                            "the same picture is in two classes, %zu time%s, such as %s and %s "
                            "(%s): one of them is wrong",
                            contradictions, contradictions == 1 ? "" : "s",
                            vit_record_file(r, odd->first), vit_record_file(r, odd->second),
                            vit_alike_name(odd->alike));
}

vit_status vit_duplicates_group(vit_dataset *set, int threads, vit_error *error) {
    vit_records *r = &set->train;
    const size_t count = in_memory(r);
    if (count < 2 || !r->labels || (set->channels != 1 && set->channels != 3)) return VIT_OK;
    vit_likeness *prints = vit_alloc(count, sizeof *prints);
    vit_copies *copies = vit_alloc(1, sizeof *copies);
    vit_status status = VIT_OK;
    if (!prints || !copies)
        status = vit_fail_memory(error, "a search for copies", count * sizeof *prints);
    if (status == VIT_OK) {
        print_all(prints, set, r->pixels, count, threads);
        forget_flat(prints, count);
        status = vit_copies_find(copies, prints, count, threads, error);
        if (status == VIT_OK) vit_copies_forget_scenes(copies);
    }
    vit_free(prints);
    if (status == VIT_OK && copies->extra > 0) {
        r->copies = copies;
        return note_copies(set, copies, error);
    }
    if (copies) vit_copies_free(copies);
    vit_free(copies);
    return status;
}

/* ---- notes ---- */

static vit_status note_part(vit_dataset *set, const vit_records *part, const char *name,
                            int threads, vit_error *error) {
    vit_duplicates d;
    const vit_status status = vit_duplicates_find(&d, set, part, threads, error);
    if (status != VIT_OK || d.same + d.near == 0) return status;
    if (d.same == 0)
        return vit_dataset_note(set, error,
                                "%zu %s picture%s nearly a training picture, such as %s and %s: "
                                "what is measured on such says nothing of new pictures",
                                d.near, name, d.near == 1 ? " is" : "s are each",
                                vit_record_file(part, d.record),
                                vit_record_file(&set->train, d.train));
    char near[64] = "";
    if (d.near > 0) snprintf(near, sizeof near, ", %zu more nearly", d.near);
    return vit_dataset_note(set, error,
                            "%zu %s picture%s also training picture%s%s, such as %s and %s: what "
                            "is measured on them says nothing of new pictures",
                            d.same, name, d.same == 1 ? " is" : "s are", d.same == 1 ? "" : "s",
                            near, vit_record_file(part, d.record),
                            vit_record_file(&set->train, d.train));
}

vit_status vit_duplicates_note(vit_dataset *set, int threads, vit_error *error) {
    const vit_status status = note_part(set, &set->val, "val", threads, error);
    if (status != VIT_OK || set->test_is_val) return status;
    return note_part(set, &set->test, "test", threads, error);
}
