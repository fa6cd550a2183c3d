#include "datasets/duplicates.h"
#include "datasets/reader.h"
#include "vit/base/parallel.h"
#include "vit/base/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 8
#define COLUMNS 9
#define NEAR_BITS 6
#define NEAR_PIXELS 16
#define MOST_PAIRS ((size_t)4 << 30) /* more would take minutes */

static size_t in_memory(const vit_records *r) {
    return r->files ? r->files->resident : r->count;
}

static size_t bytes_of(const vit_dataset *set) {
    return set->height * set->width * set->channels;
}

/* The mean of all pixels and channels in cell (row, column) of ROWS x COLUMNS, times 256. */
static uint32_t cell_mean(const vit_dataset *set, const uint8_t *pixels, size_t row,
                          size_t column) {
    const size_t top = row * set->height / ROWS, left = column * set->width / COLUMNS;
    size_t bottom = (row + 1) * set->height / ROWS, right = (column + 1) * set->width / COLUMNS;
    uint64_t sum = 0;
    if (bottom == top) bottom++;
    if (right == left) right++;
    for (size_t y = top; y < bottom; y++)
        for (size_t x = left * set->channels; x < right * set->channels; x++)
            sum += pixels[y * set->width * set->channels + x];
    return (uint32_t)(sum * 256 / ((bottom - top) * (right - left) * set->channels));
}

typedef struct print {
    uint64_t hash;    /* dHash */
    uint32_t average; /* of all bytes, times 256 */
} print;

static print print_of(const vit_dataset *set, const uint8_t *pixels) {
    print p = {0};
    uint64_t sum = 0;
    for (size_t row = 0; row < ROWS; row++) {
        uint32_t before = cell_mean(set, pixels, row, 0);
        for (size_t column = 1; column < COLUMNS; column++) {
            const uint32_t mean = cell_mean(set, pixels, row, column);
            p.hash = p.hash << 1 | (mean > before);
            before = mean;
        }
    }
    for (size_t i = 0; i < bytes_of(set); i++) sum += pixels[i];
    p.average = (uint32_t)(sum * 256 / bytes_of(set));
    return p;
}

/* Whether pixels differ by at most NEAR_PIXELS on average after the pictures were made equally
 * bright. */
static bool are_near(const vit_dataset *set, const uint8_t *a, const uint8_t *b, print pa,
                     print pb) {
    const size_t size = bytes_of(set);
    const int shift = ((int)pa.average - (int)pb.average) / 256;
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++) sum += (uint64_t)abs(a[i] - b[i] - shift);
    return sum <= NEAR_PIXELS * size;
}

typedef struct search {
    const vit_dataset *set;
    const vit_records *part;
    size_t train_count;
    const print *train, *other;
    uint32_t *found; /* [pictures of the part]: 1 + the training picture that it resembles, or 0 */
    uint8_t *same;   /* [pictures of the part]: whether it equals that one */
} search;

static void search_one(size_t index, int thread, void *context) {
    const search *s = context;
    const size_t size = bytes_of(s->set);
    const uint8_t *pixels = s->part->pixels + index * size;
    (void)thread;
    for (size_t i = 0; i < s->train_count && !s->same[index]; i++) {
        const uint64_t differ = s->train[i].hash ^ s->other[index].hash;
        const uint8_t *theirs = s->set->train.pixels + i * size;
        if (differ != 0 && __builtin_popcountll(differ) > NEAR_BITS) continue;
        const bool same = differ == 0 && memcmp(pixels, theirs, size) == 0;
        const bool flat = s->train[i].hash == 0 || s->other[index].hash == 0;
        if (!same && (flat || s->found[index] ||
                      !are_near(s->set, pixels, theirs, s->other[index], s->train[i])))
            continue;
        s->found[index] = (uint32_t)i + 1;
        s->same[index] = same;
    }
}

typedef struct printing {
    const vit_dataset *set;
    const uint8_t *pixels;
    print *out;
} printing;

static void print_one(size_t index, int thread, void *context) {
    const printing *p = context;
    (void)thread;
    p->out[index] = print_of(p->set, p->pixels + index * bytes_of(p->set));
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

vit_status vit_duplicates_find(vit_duplicates *out, const vit_dataset *set, const vit_records *part,
                               int threads, vit_error *error) {
    const size_t m = in_memory(&set->train), n = in_memory(part);
    size_t pairs;
    *out = (vit_duplicates){0};
    if (m == 0 || n == 0 || !vit_multiply(m, n, &pairs) || pairs > MOST_PAIRS) return VIT_OK;
    print *prints = vit_alloc(m + n, sizeof *prints);
    search s = {.set = set,
                .part = part,
                .train_count = m,
                .train = prints,
                .other = prints ? prints + m : NULL,
                .found = vit_alloc(n, sizeof *s.found),
                .same = vit_alloc(n, 1)};
    const bool room = prints && s.found && s.same;
    if (room) {
        printing train = {set, set->train.pixels, prints}, other = {set, part->pixels, prints + m};
        vit_parallel(threads > 0 ? threads : 1, m, print_one, &train);
        vit_parallel(threads > 0 ? threads : 1, n, print_one, &other);
        vit_parallel(threads > 0 ? threads : 1, n, search_one, &s);
        count(out, &s, n);
    }
    vit_free(prints);
    vit_free(s.found);
    vit_free(s.same);
    return room ? VIT_OK : vit_fail_memory(error, "a search for duplicates", m * sizeof *prints);
}

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
