#include "datasets/duplicates.h"
#include "datasets/reader.h"
#include "vit/base/parallel.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/copy_table.h"
#include "vit/formats/csv.h"
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
    uint8_t *alike;  /* [pictures of the part]: how (vit_alike) */
} search;

static void search_one(size_t index, int thread, void *context) {
    const search *s = context;
    (void)thread;
    for (size_t i = 0; i < s->train_count && s->alike[index] != VIT_ALIKE_EXACT; i++) {
        const vit_likeness *a = &s->other[index], *b = &s->train[i];
        const vit_alike alike = s->found[index] && a->digest != b->digest
                                    ? VIT_ALIKE_NOT
                                    : vit_likeness_compare(a, b, s->crops);
        if (alike == VIT_ALIKE_NOT) continue;
        s->found[index] = (uint32_t)i + 1;
        s->alike[index] = (uint8_t)alike;
    }
}

static void count(vit_duplicates *out, const search *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const bool same = s->alike[i] == VIT_ALIKE_EXACT;
        const bool first = same ? out->same == 0 : s->found[i] && out->same + out->near == 0;
        if (first) {
            out->record = i;
            out->train = s->found[i] - 1;
        }
        out->same += same;
        out->near += s->found[i] && !same;
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
                  .alike = vit_alloc(n, 1)};
    const bool room = prints && s->found && s->alike;
    if (room) {
        print_all(prints, set, set->train.pixels, m, threads);
        print_all(prints + m, set, part->pixels, n, threads);
        if (!flat) forget_flat(prints, m + n);
        vit_parallel(threads > 0 ? threads : 1, n, search_one, s);
    }
    vit_free(prints);
    return room ? VIT_OK : vit_fail_memory(error, "a search for copies", m * sizeof *prints);
}

static void clear_search(search *s) {
    vit_free(s->found);
    vit_free(s->alike);
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
    clear_search(&s);
    return status;
}

vit_status vit_duplicates_of_test(vit_copy *copies, const vit_dataset *set, int threads,
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
    for (size_t i = 0; i < m && status == VIT_OK; i++)
        if (s.found[i]) copies[i] = (vit_copy){(uint32_t)i, s.found[i] - 1, (vit_alike)s.alike[i]};
    clear_search(&s);
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

/* r->copies = those among the records in memory, if there are any. */
static vit_status find_within(const vit_dataset *set, vit_records *r, int threads,
                              vit_error *error) {
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
        return VIT_OK;
    }
    if (copies) vit_copies_free(copies);
    vit_free(copies);
    return status;
}

vit_status vit_duplicates_group(vit_dataset *set, int threads, vit_error *error) {
    const vit_status status = find_within(set, &set->train, threads, error);
    return status == VIT_OK && set->train.copies ? note_copies(set, set->train.copies, error)
                                                 : status;
}

/* ---- lists ---- */

vit_status vit_copy_list_add(vit_copy_list *l, const vit_listed_copy *row, vit_error *error) {
    if (!VIT_MAKE_ROOM(l->rows, l->count, l->capacity, "a list of copies", error))
        return VIT_ERROR_MEMORY;
    vit_listed_copy *own = &l->rows[l->count];
    *own = *row;
    own->picture = row->picture ? vit_strdup(row->picture) : NULL;
    own->copy_of = row->copy_of ? vit_strdup(row->copy_of) : NULL;
    if (own->picture && own->copy_of) {
        l->count++;
        return VIT_OK;
    }
    vit_free(own->picture);
    vit_free(own->copy_of);
    return vit_fail_memory(error, "a list of copies", l->count * sizeof *row);
}

void vit_copy_list_free(vit_copy_list *l) {
    for (size_t i = 0; i < l->count; i++) {
        vit_free(l->rows[i].picture);
        vit_free(l->rows[i].copy_of);
    }
    vit_free(l->rows);
    *l = (vit_copy_list){0};
}

/* Adds: record `index` of `r` is a copy of record `of` of `other`. Records in no files have no
 * names. */
static vit_status list_copy(vit_copy_list *l, const vit_records *r, size_t index, const char *split,
                            const vit_records *other, size_t of, const char *of_split,
                            vit_alike alike, vit_error *error) {
    const vit_listed_copy row = {.picture = (char *)vit_record_file(r, index),
                                 .copy_of = (char *)vit_record_file(other, of),
                                 .label = r->labels[index],
                                 .of_label = other->labels[of],
                                 .split = split,
                                 .of_split = of_split,
                                 .alike = alike};
    return row.picture && row.copy_of ? vit_copy_list_add(l, &row, error) : VIT_OK;
}

static vit_status list_between(vit_copy_list *l, const vit_dataset *set, const vit_records *part,
                               const char *name, int threads, vit_error *error) {
    search s;
    if (!part->labels || !set->train.labels || !can_be_searched(set, part)) return VIT_OK;
    vit_status status = search_part(&s, set, part, true, threads, error);
    for (size_t i = 0; i < in_memory(part) && status == VIT_OK; i++)
        if (s.found[i])
            status = list_copy(l, &set->train, s.found[i] - 1, "train", part, i, name,
                               (vit_alike)s.alike[i], error);
    clear_search(&s);
    return status;
}

static vit_status list_within(vit_copy_list *l, const vit_records *r, const char *name,
                              vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; r->copies && i < r->copies->pair_count && status == VIT_OK; i++) {
        const vit_copy *pair = &r->copies->pairs[i];
        status = list_copy(l, r, pair->second, name, r, pair->first, name, pair->alike, error);
    }
    return status;
}

vit_status vit_duplicates_list(vit_dataset *set, int threads, vit_error *error) {
    vit_copy_list *l = &set->copies;
    const bool is_alone = set->train.count == 0;
    vit_records *const one = is_alone ? &set->test : &set->train;
    vit_status status = VIT_OK;
    if (is_alone) status = find_within(set, one, threads, error);
    if (status == VIT_OK) status = list_within(l, one, is_alone ? "test" : "train", error);
    if (status == VIT_OK) status = list_between(l, set, &set->val, "val", threads, error);
    if (status == VIT_OK && !set->test_is_val)
        status = list_between(l, set, &set->test, "test", threads, error);
    return status;
}

/* The name of a class; `number` is room for one without. */
static const char *name_class(const vit_dataset *set, size_t label, char number[32]) {
    snprintf(number, 32, "%zu", label);
    return set->labels ? set->labels[label] : number;
}

static vit_status write_table(const char *path, const vit_dataset *set, vit_error *error) {
    vit_string text = {0};
    char number[2][32];
    vit_string_add(&text, "%s", vit_copy_table_head);
    for (size_t i = 0; i < set->copies.count; i++) {
        const vit_listed_copy *row = &set->copies.rows[i];
        const vit_copy_side picture = {row->picture, row->split,
                                       name_class(set, row->label, number[0])},
                            of = {row->copy_of, row->of_split,
                                  name_class(set, row->of_label, number[1])};
        vit_copy_table_add(&text, &picture, &of, vit_alike_name(row->alike));
    }
    vit_status status = text.failed ? vit_fail_memory(error, "a table", text.length) : VIT_OK;
    if (status == VIT_OK) status = vit_write_file(path, text.text, text.length, error);
    vit_string_free(&text);
    return status;
}

vit_status vit_duplicates_save(const char *path, vit_dataset *set, int threads, vit_error *error) {
    vit_status status = vit_csv_check(path, "near-duplicates", vit_copy_table_head, error);
    if (status == VIT_OK) status = vit_duplicates_list(set, threads, error);
    if (status == VIT_OK) status = write_table(path, set, error);
    if (status != VIT_OK) return status;
    return vit_dataset_note(set, error, "%zu pair%s of copies: %s", set->copies.count,
                            set->copies.count == 1 ? "" : "s", path);
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
