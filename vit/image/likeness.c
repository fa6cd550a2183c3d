#include "vit/image/likeness.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/formats/sha256.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = VIT_LIKENESS_SIDE, AREA = SIDE * SIDE, ROWS = 8, COLUMNS = 9 };

/* Crops: the whole, then EACH of each size, at the places of a grid. */
enum { GRID = 5, EACH = GRID * GRID, SIZES = 3, CROPS = VIT_LIKENESS_CROPS };
static const double sizes[SIZES] = {.95, .9, .85};
_Static_assert(CROPS == 1 + SIZES * EACH, "the whole and the crops");

#define NEAR_BITS 6       /* in which hashes of near pictures may differ */
#define CROP_BITS 10      /* those of crops at the right place */
#define WHOLE_BITS 28     /* those of pictures of which one is a crop of the other */
#define NOISE 1.f         /* grey levels by which plain areas may rise */
#define NEAR_LIKENESS .99 /* correlations */
#define CROP_LIKENESS .97
#define MOST_TINT 12.f /* in which mean colours may differ */
#define LEAST_DEVIATION 2.f
#define PHOTO_SHARE 4 /* of a photo, no three greys in a row take 1/4 */

const char *vit_alike_name(vit_alike alike) {
    static const char *const names[] = {"different", "crop", "mirrored", "near", "exact"};
    VIT_CHECK_ROWS(names, VIT_ALIKE_COUNT);
    return names[alike];
}

uint64_t vit_likeness_digest(const void *bytes, size_t size) {
    uint8_t digest[32];
    uint64_t first;
    vit_sha256_digest(digest, bytes, size);
    memcpy(&first, digest, sizeof first);
    return first != 0 ? first : 1;
}

/* ---- a small grey copy ---- */

/* The mean of the pixels that a cell covers, at least one. */
static void add_cell(double sum[3], const uint8_t *pixels, size_t width, size_t channels,
                     const size_t box[4]) {
    uint64_t sums[3] = {0};
    for (size_t y = box[0]; y < box[1]; y++)
        for (size_t x = box[2]; x < box[3]; x++)
            for (size_t k = 0; k < 3; k++)
                sums[k] += pixels[(y * width + x) * channels + (channels == 3 ? k : 0)];
    for (size_t k = 0; k < 3; k++)
        sum[k] = (double)sums[k] / (double)((box[1] - box[0]) * (box[3] - box[2]));
}

static void shrink(vit_likeness *out, const uint8_t *pixels, size_t height, size_t width,
                   size_t channels) {
    double tint[2] = {0};
    for (size_t i = 0; i < AREA; i++) {
        const size_t y = i / SIDE, x = i % SIDE;
        const size_t top = y * height / SIDE, left = x * width / SIDE;
        const size_t box[] = {top, vit_max(top + 1, (y + 1) * height / SIDE), left,
                              vit_max(left + 1, (x + 1) * width / SIDE)};
        double mean[3];
        add_cell(mean, pixels, width, channels, box);
        for (size_t k = 0; k < 3; k++) out->color[3 * i + k] = (uint8_t)(mean[k] + .5);
        out->grey[i] = (uint8_t)((mean[0] + mean[1] + mean[2]) / 3 + .5);
        tint[0] += mean[0] - mean[1];
        tint[1] += mean[2] - mean[1];
    }
    out->tint[0] = (float)(tint[0] / AREA);
    out->tint[1] = (float)(tint[1] / AREA);
}

static void measure_contrast(vit_likeness *out) {
    size_t counts[258] = {0}, largest = 0;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < AREA; i++) {
        const double x = out->grey[i];
        sum += x;
        squares += x * x;
        counts[out->grey[i] + 1]++;
    }
    for (size_t v = 1; v <= 256; v++)
        largest = vit_max(largest, counts[v - 1] + counts[v] + counts[v + 1]);
    const double variance = squares / AREA - sum / AREA * (sum / AREA);
    out->is_flat = variance < (double)(LEAST_DEVIATION * LEAST_DEVIATION);
    out->is_photo = !out->is_flat && largest * PHOTO_SHARE < AREA;
}

/* ---- crops ---- */

/* Where a crop lies in the grey copy. */
typedef struct crop {
    double left, top, side;
} crop;

static crop crop_of(size_t number) {
    if (number == 0) return (crop){0, 0, SIDE};
    const size_t place = (number - 1) % EACH;
    const double side = SIDE * sizes[(number - 1) / EACH], step = (SIDE - side) / (GRID - 1);
    return (crop){step * (double)(place % GRID), step * (double)(place / GRID), side};
}

/* out[SIDE][SIDE] = the crop, between pixels linear; mirrored: from right to left. */
static void cut(float *out, const vit_likeness *l, size_t number, bool mirrored) {
    const crop c = crop_of(number);
    const double step = c.side / SIDE;
    for (size_t i = 0; i < AREA; i++) {
        const size_t column = mirrored ? SIDE - 1 - i % SIDE : i % SIDE;
        const double y = fmin(SIDE - 1, fmax(0, c.top + ((double)(i / SIDE) + .5) * step - .5));
        const double x = fmin(SIDE - 1, fmax(0, c.left + ((double)column + .5) * step - .5));
        const size_t y0 = (size_t)y, x0 = (size_t)x;
        const size_t y1 = vit_min(y0 + 1, SIDE - 1), x1 = vit_min(x0 + 1, SIDE - 1);
        const double v = y - (double)y0, u = x - (double)x0;
        const uint8_t *g = l->grey;
        out[i] = (float)((1 - v) * ((1 - u) * g[y0 * SIDE + x0] + u * g[y0 * SIDE + x1]) +
                         v * ((1 - u) * g[y1 * SIDE + x0] + u * g[y1 * SIDE + x1]));
    }
}

/* dHash: where brightness rises from left to right in COLUMNS x ROWS means. *steady: the bits where
 * it changes by more than noise. */
static uint64_t hash_of(uint64_t *steady, const float *grey) {
    uint64_t hash = 0;
    *steady = 0;
    for (size_t row = 0; row < ROWS; row++) {
        float before = 0;
        for (size_t column = 0; column < COLUMNS; column++) {
            const size_t left = column * SIDE / COLUMNS, right = (column + 1) * SIDE / COLUMNS;
            float sum = 0;
            for (size_t y = row * SIDE / ROWS; y < (row + 1) * SIDE / ROWS; y++)
                for (size_t x = left; x < right; x++) sum += grey[y * SIDE + x];
            sum /= (float)((right - left) * (SIDE / ROWS));
            if (column > 0) {
                hash = hash << 1 | (sum > before);
                *steady = *steady << 1 | (fabsf(sum - before) >= NOISE);
            }
            before = sum;
        }
    }
    return hash;
}

void vit_likeness_of(vit_likeness *out, const uint8_t *pixels, size_t height, size_t width,
                     size_t channels) {
    float grey[AREA];
    *out = (vit_likeness){0};
    shrink(out, pixels, height, width, channels);
    measure_contrast(out);
    const size_t count = out->is_photo ? CROPS : 1;
    for (size_t mirrored = 0; mirrored < 2; mirrored++)
        for (size_t i = 0; i < count; i++) {
            uint64_t steady;
            cut(grey, out, i, mirrored);
            out->hashes[mirrored][i] = hash_of(&steady, grey);
            if (i == 0) out->steady[mirrored] = steady;
        }
}

/* ---- comparing ---- */

/* Sums over pairs of numbers, and their correlation. */
typedef struct sums {
    double n, a, b, ab, aa, bb;
} sums;

static void add_pair(sums *s, double a, double b) {
    s->n++;
    s->a += a;
    s->b += b;
    s->ab += a * b;
    s->aa += a * a;
    s->bb += b * b;
}

static double correlation(const sums *s) {
    const double va = s->aa - s->a * s->a / s->n, vb = s->bb - s->b * s->b / s->n;
    return va > 0 && vb > 0 ? (s->ab - s->a * s->b / s->n) / sqrt(va * vb) : 0;
}

/* The bits in which hashes differ. */
static int distance(uint64_t a, uint64_t b) {
    uint64_t x = a ^ b;
    x = x - (x >> 1 & 0x5555555555555555u);
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)(x * 0x0101010101010101u >> 56);
}

/* In plain areas, as a sky's, the hashes of copies differ by chance: bits count where the
 * brightness of one picture changes by more than noise. */
static bool are_near(const vit_likeness *a, const vit_likeness *b, bool mirrored) {
    sums s = {0};
    const uint64_t steady = a->steady[0] | b->steady[mirrored];
    const uint64_t x = a->hashes[0][0], y = b->hashes[mirrored][0];
    if (distance(x, y) > WHOLE_BITS || distance(x & steady, y & steady) > NEAR_BITS) return false;
    for (size_t i = 0; i < AREA; i++) {
        const size_t k = mirrored ? i / SIDE * SIDE + SIDE - 1 - i % SIDE : i;
        for (size_t c = 0; c < 3; c++) add_pair(&s, a->color[3 * i + c], b->color[3 * k + c]);
    }
    return correlation(&s) >= NEAR_LIKENESS;
}

static double correlate_crops(const vit_likeness *a, size_t crop_a, const vit_likeness *b,
                              size_t crop_b, bool mirrored) {
    float x[AREA], y[AREA];
    sums s = {0};
    cut(x, a, crop_a, false);
    cut(y, b, crop_b, mirrored);
    for (size_t i = 0; i < AREA; i++) add_pair(&s, (double)x[i], (double)y[i]);
    return correlation(&s);
}

static bool are_same_crops(const vit_likeness *a, size_t crop_a, const vit_likeness *b,
                           size_t crop_b, bool mirrored, double least) {
    return distance(a->hashes[0][crop_a], b->hashes[mirrored][crop_b]) <= CROP_BITS &&
           correlate_crops(a, crop_a, b, crop_b, mirrored) >= least;
}

/* Whether one is a crop of the other, or crops of both at opposite places are alike. The number of
 * a mirrored picture's crop counts its places from the right, as hashes[1] does not. Half of what
 * correlation lacks between the whole pictures must be gone: where crops are no nearer than these,
 * the pictures are of similar things. */
static bool are_crops(const vit_likeness *a, const vit_likeness *b, bool mirrored) {
    if (distance(a->hashes[0][0], b->hashes[mirrored][0]) > WHOLE_BITS) return false;
    const double whole = correlate_crops(a, 0, b, 0, mirrored);
    const double least = fmax(CROP_LIKENESS, 1 - (1 - whole) / 2);
    for (size_t i = 1; i < CROPS; i++) {
        const size_t place = (i - 1) % EACH, first = i - place;
        const size_t row = place / GRID, column = place % GRID;
        const bool moves = row != GRID / 2 || column != GRID / 2;
        const size_t opposite =
            first + (GRID - 1 - row) * GRID + (mirrored ? column : GRID - 1 - column);
        if (are_same_crops(a, i, b, 0, mirrored, least) ||
            are_same_crops(a, 0, b, i, mirrored, least) ||
            (moves && are_same_crops(a, i, b, opposite, mirrored, least)))
            return true;
    }
    return false;
}

vit_alike vit_likeness_compare(const vit_likeness *a, const vit_likeness *b, bool crops) {
    if (a->digest != 0 && a->digest == b->digest) return VIT_ALIKE_EXACT;
    if (a->is_flat || b->is_flat) return VIT_ALIKE_NOT;
    for (size_t k = 0; k < 2; k++)
        if (fabsf(a->tint[k] - b->tint[k]) > MOST_TINT) return VIT_ALIKE_NOT;
    if (are_near(a, b, false)) return VIT_ALIKE_NEAR;
    if (are_near(a, b, true)) return VIT_ALIKE_MIRRORED;
    if (!crops || !a->is_photo || !b->is_photo) return VIT_ALIKE_NOT;
    return are_crops(a, b, false) || are_crops(a, b, true) ? VIT_ALIKE_CROP : VIT_ALIKE_NOT;
}

/* ---- all pairs ---- */

typedef struct search {
    const vit_likeness *pictures;
    size_t count;
    uint32_t *equal;  /* [count] the first picture with the same digest, or itself */
    vit_copy **found; /* [count] the pairs of each picture with later ones */
    size_t *counts, *capacities;
    bool crops, *failed; /* failed: [count] */
} search;

typedef struct digest {
    uint64_t digest;
    uint32_t index;
} digest;

static int compare_digests(const void *a, const void *b) {
    const digest *x = a, *y = b;
    if (x->digest != y->digest) return x->digest < y->digest ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static vit_status find_equal(search *s, vit_error *error) {
    digest *sorted = vit_alloc(s->count, sizeof *sorted);
    if (!sorted) return vit_fail_memory(error, "copies", s->count * sizeof *sorted);
    for (size_t i = 0; i < s->count; i++) sorted[i] = (digest){s->pictures[i].digest, (uint32_t)i};
    qsort(sorted, s->count, sizeof *sorted, compare_digests);
    for (size_t i = 0; i < s->count; i++) {
        const bool same =
            i > 0 && sorted[i].digest != 0 && sorted[i].digest == sorted[i - 1].digest;
        s->equal[sorted[i].index] = same ? s->equal[sorted[i - 1].index] : sorted[i].index;
    }
    vit_free(sorted);
    return VIT_OK;
}

/* Pairs of a picture with later ones, exact copies left out. */
static void search_one(size_t i, int thread, void *context) {
    const search *s = context;
    (void)thread;
    if (s->equal[i] != i) return;
    for (size_t k = i + 1; k < s->count && !s->failed[i]; k++) {
        if (s->equal[k] != k) continue;
        const vit_alike alike = vit_likeness_compare(&s->pictures[i], &s->pictures[k], s->crops);
        if (alike == VIT_ALIKE_NOT) continue;
        if (!VIT_MAKE_ROOM(s->found[i], s->counts[i], s->capacities[i], "copies", NULL))
            s->failed[i] = true;
        else
            s->found[i][s->counts[i]++] = (vit_copy){(uint32_t)i, (uint32_t)k, alike};
    }
}

static int compare_pairs(const void *a, const void *b) {
    const vit_copy *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

/* All pairs in order, the exact ones among them. */
static vit_status list_pairs(vit_copies *out, const search *s, vit_error *error) {
    size_t count = 0, at = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->failed[i]) return vit_fail_memory(error, "copies", s->count);
        count += s->counts[i] + (s->equal[i] != i);
    }
    out->pairs = vit_alloc(count, sizeof *out->pairs);
    if (!out->pairs) return vit_fail_memory(error, "copies", count * sizeof *out->pairs);
    for (size_t i = 0; i < s->count; i++) {
        if (s->counts[i] > 0)
            memcpy(out->pairs + at, s->found[i], s->counts[i] * sizeof *out->pairs);
        at += s->counts[i];
        if (s->equal[i] != i)
            out->pairs[at++] = (vit_copy){s->equal[i], (uint32_t)i, VIT_ALIKE_EXACT};
    }
    out->pair_count = count;
    if (count > 1) qsort(out->pairs, count, sizeof *out->pairs, compare_pairs);
    return VIT_OK;
}

static uint32_t first_of(const uint32_t *group, uint32_t i) {
    while (group[i] != i) i = group[i];
    return i;
}

static void join_groups(vit_copies *out) {
    out->extra = 0;
    for (size_t i = 0; i < out->count; i++) out->group[i] = (uint32_t)i;
    for (size_t i = 0; i < out->pair_count; i++) {
        const uint32_t a = first_of(out->group, out->pairs[i].first);
        const uint32_t b = first_of(out->group, out->pairs[i].second);
        out->group[a > b ? a : b] = a > b ? b : a;
    }
    for (size_t i = 0; i < out->count; i++) {
        out->group[i] = first_of(out->group, (uint32_t)i);
        out->extra += out->group[i] != i;
    }
}

vit_status vit_copies_find(vit_copies *out, const vit_likeness *pictures, size_t count, int threads,
                           vit_error *error) {
    search s = {.pictures = pictures,
                .count = count,
                .equal = vit_alloc(count, sizeof *s.equal),
                .found = vit_alloc(count, sizeof *s.found),
                .counts = vit_alloc(count, sizeof *s.counts),
                .capacities = vit_alloc(count, sizeof *s.capacities),
                .crops = count <= VIT_COPIES_CROPS,
                .failed = vit_alloc(count, sizeof *s.failed)};
    *out = (vit_copies){.count = count, .group = vit_alloc(count, sizeof *out->group)};
    vit_status status = VIT_OK;
    if (!s.equal || !s.found || !s.counts || !s.capacities || !s.failed || !out->group)
        status = vit_fail_memory(error, "copies", count * sizeof *s.found);
    if (status == VIT_OK) status = find_equal(&s, error);
    if (status == VIT_OK && count <= VIT_COPIES_MOST)
        vit_parallel(threads > 0 ? threads : 1, count, search_one, &s);
    if (status == VIT_OK) status = list_pairs(out, &s, error);
    if (status == VIT_OK) join_groups(out);
    for (size_t i = 0; i < count && s.found; i++) vit_free(s.found[i]);
    void *const memory[] = {s.equal, s.found, s.counts, s.capacities, s.failed};
    for (size_t i = 0; i < VIT_COUNT(memory); i++) vit_free(memory[i]);
    return status;
}

void vit_copies_forget_scenes(vit_copies *c) {
    size_t kept = 0;
    uint32_t *members = vit_alloc(c->count, sizeof *members);
    for (size_t i = 0; members && i < c->count; i++) members[c->group[i]]++;
    for (size_t i = 0; members && i < c->pair_count; i++) {
        const vit_copy *p = &c->pairs[i];
        if (p->alike == VIT_ALIKE_EXACT || members[c->group[p->first]] <= VIT_COPIES_SCENE)
            c->pairs[kept++] = *p;
    }
    if (members) c->pair_count = kept;
    vit_free(members);
    join_groups(c);
}

void vit_copies_free(vit_copies *copies) {
    vit_free(copies->pairs);
    vit_free(copies->group);
    *copies = (vit_copies){0};
}
