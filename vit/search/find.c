/* The most similar pictures: a pass over all with integers, whose error has a bound, then those
 * that may be among the best exactly. */
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/kernels/dots.h"
#include "vit/search/layout.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A query of 16-bit numbers: features are about query[i] * scale, and the rest is not longer than
 * `rest`. */
typedef struct question {
    double *features; /* [width], of length 1 */
    int16_t *query;   /* [stride] */
    double scale, rest;
} question;

static vit_status ask(question *q, const vit_index *index, const float *features,
                      vit_error *error) {
    const size_t width = index->width;
    double sum = 0, most = 0, rest = 0;
    *q = (question){.features = vit_alloc(width, sizeof *q->features),
                    .query = vit_alloc(index->stride, sizeof *q->query)};
    if (!q->features || !q->query) return vit_fail_memory(error, "a query", width * 10);
    for (size_t i = 0; i < width; i++) {
        const double x = (double)features[i];
        sum += x * x;
        if (fabs(x) > most) most = fabs(x);
    }
    if (!(sum > 0) || !isfinite(sum))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "the features of the query have no direction: they are all 0, or not "
                        "finite");
    const double limit = fmin(32767, floor(2147483647.0 / 128 / (double)index->stride));
    q->scale = most / sqrt(sum) / limit;
    for (size_t i = 0; i < width; i++) {
        q->features[i] = (double)features[i] / sqrt(sum);
        q->query[i] = (int16_t)lrint(q->features[i] / q->scale);
        const double left = q->features[i] - q->query[i] * q->scale;
        rest += left * left;
    }
    q->rest = sqrt(rest);
    return VIT_OK;
}

/* ---- the first pass ---- */

typedef struct pass {
    const vit_index *index;
    const question *question;
    vit_dots *dots;
    float *scores; /* [rows]; -FLT_MAX: gone */
    float *best;   /* [block] the largest of them */
    int32_t *sums; /* [rows] */
} pass;

static void score_block(size_t block, int thread, void *context) {
    const pass *p = context;
    const vit_index_block *b = &p->index->blocks[block];
    (void)thread;
    p->dots(p->sums + b->first, b->vectors, p->index->stride, b->rows, p->question->query,
            p->index->stride);
    float best = -FLT_MAX;
    for (size_t i = 0; i < b->rows; i++) {
        const double score =
            (double)p->sums[b->first + i] * p->question->scale * (double)b->entries[i].scale;
        const float here = p->index->gone[b->first + i] ? -FLT_MAX : (float)score;
        p->scores[b->first + i] = here;
        best = here > best ? here : best;
    }
    p->best[block] = best;
}

/* ---- the best ---- */

/* Whether a comes after b among answers. */
static bool is_after(const vit_hit *a, const vit_hit *b) {
    return a->score < b->score || (a->score == b->score && a->row > b->row);
}

static int compare_hits(const void *a, const void *b) {
    return is_after(a, b) ? 1 : is_after(b, a) ? -1 : 0;
}

/* Keeps the best `most` in a heap whose first is the last among them. */
static void keep(vit_hit *heap, size_t *count, size_t most, vit_hit hit) {
    size_t i;
    if (*count < most) {
        for (i = (*count)++; i > 0 && is_after(&hit, &heap[(i - 1) / 2]); i = (i - 1) / 2)
            heap[i] = heap[(i - 1) / 2];
        heap[i] = hit;
        return;
    }
    if (most == 0 || !is_after(&heap[0], &hit)) return;
    i = 0;
    for (size_t child; (child = 2 * i + 1) < most; i = child) {
        if (child + 1 < most && is_after(&heap[child + 1], &heap[child])) child++;
        if (!is_after(&heap[child], &hit)) break;
        heap[i] = heap[child];
    }
    heap[i] = hit;
}

/* The score of a row, computed in double. */
static float exact(const vit_index *index, const vit_index_block *b, size_t row,
                   const question *q) {
    const int8_t *vector = b->vectors + (row - b->first) * index->stride;
    double sum = 0;
    for (size_t i = 0; i < index->width; i++) sum += vector[i] * q->features[i];
    return (float)(sum * (double)b->entries[row - b->first].scale);
}

/* The best of all rows that may be better than the last of the first pass's best: its scores are
 * wrong by less than `bound`, the rest of the query times a length of 1, and rounding. */
static void choose(vit_hit *hits, size_t *count, size_t most, const pass *p) {
    const vit_index *index = p->index;
    const double bound = p->question->rest + 1e-6;
    double least = -FLT_MAX;
    for (int again = 0; again < 2; again++) {
        *count = 0;
        for (size_t k = 0; k < index->count; k++) {
            const vit_index_block *b = &index->blocks[k];
            if (*count == most && most > 0 && !again && p->best[k] < hits[0].score) continue;
            if ((double)p->best[k] < least) continue;
            for (size_t i = b->first; i < b->first + b->rows; i++) {
                const float score = p->scores[i];
                if (score == -FLT_MAX || (double)score < least) continue;
                keep(hits, count, most,
                     (vit_hit){i, again ? exact(index, b, i, p->question) : score});
            }
        }
        least = *count > 0 ? (double)hits[0].score - 2 * bound : 0;
    }
    qsort(hits, *count, sizeof *hits, compare_hits);
    for (size_t i = 0; i < *count; i++) hits[i].score = fminf(hits[i].score, 1);
}

vit_status vit_index_find(vit_hit *hits, size_t *count, const vit_index *index,
                          const float *features, size_t most, int threads, vit_cpu highest,
                          vit_error *error) {
    question q;
    *count = 0;
    vit_status status = ask(&q, index, features, error);
    pass p = {.index = index, .question = &q, .dots = vit_dots_choose(highest)->dots};
    if (status == VIT_OK) {
        p.scores = vit_alloc_unset(index->rows, sizeof *p.scores);
        p.sums = vit_alloc_unset(index->rows, sizeof *p.sums);
        p.best = vit_alloc_unset(index->count, sizeof *p.best);
        if (!p.scores || !p.sums || !p.best)
            status = vit_fail_memory(error, "a search", index->rows * 8);
    }
    if (status == VIT_OK) {
        vit_parallel(threads, index->count, score_block, &p);
        choose(hits, count, vit_min(most, index->pictures), &p);
    }
    vit_free(p.scores);
    vit_free(p.sums);
    vit_free(p.best);
    vit_free(q.features);
    vit_free(q.query);
    return status;
}

/* ---- pairs ---- */

#define MOST_PAIRS ((size_t)10000000)

typedef struct pairing {
    const vit_index *index;
    vit_dots *dots;
    double least;
    int16_t *queries; /* [threads][stride] */
    int32_t *sums;    /* [threads][largest block] */
    size_t largest;
    vit_similar **found; /* [block] the pairs whose first is in it */
    size_t *counts, *capacities;
    bool failed;
} pairing;

/* The cosine of two rows: lengths are 1 but for rounding, and equal rows have 1. */
static double cosine(const pairing *p, const vit_index_block *a, size_t i, const vit_index_block *b,
                     size_t k, int32_t sum) {
    const size_t stride = p->index->stride;
    const double score = (double)sum * (double)a->entries[i].scale * (double)b->entries[k].scale;
    if (score < 1 - 1e-6) return score;
    return memcmp(a->vectors + i * stride, b->vectors + k * stride, stride) == 0 ? 1
                                                                                 : fmin(score, 1);
}

/* Pairs of one row with all later ones in a block. */
static void pair_row(pairing *p, size_t block, size_t i, const vit_index_block *b, int thread) {
    const vit_index_block *a = &p->index->blocks[block];
    const int8_t *vector = a->vectors + i * p->index->stride;
    int16_t *query = p->queries + (size_t)thread * p->index->stride;
    int32_t *sums = p->sums + (size_t)thread * p->largest;
    for (size_t k = 0; k < p->index->stride; k++) query[k] = (int16_t)vector[k];
    p->dots(sums, b->vectors, p->index->stride, b->rows, query, p->index->stride);
    for (size_t k = a == b ? i + 1 : 0; k < b->rows; k++) {
        const double score = cosine(p, a, i, b, k, sums[k]);
        if (score < p->least || p->index->gone[b->first + k]) continue;
        if (p->counts[block] >= MOST_PAIRS || !VIT_MAKE_ROOM(p->found[block], p->counts[block],
                                                             p->capacities[block], "pairs", NULL)) {
            p->failed = true;
            return;
        }
        p->found[block][p->counts[block]++] =
            (vit_similar){a->first + i, b->first + k, (float)score};
    }
}

static void pair_block(size_t block, int thread, void *context) {
    pairing *p = context;
    const vit_index_block *a = &p->index->blocks[block];
    for (size_t i = 0; i < a->rows; i++)
        for (size_t k = block; k < p->index->count && !p->index->gone[a->first + i]; k++)
            pair_row(p, block, i, &p->index->blocks[k], thread);
}

/* The lists of the blocks as one. */
static vit_status join(vit_similar **out, size_t *count, const pairing *p, vit_error *error) {
    size_t all = 0;
    for (size_t i = 0; i < p->index->count; i++) all += p->counts[i];
    if (p->failed || all > MOST_PAIRS)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "more than %zu pairs of pictures are as similar as %.3f: ask for a higher "
                        "similarity",
                        MOST_PAIRS, p->least);
    *out = vit_alloc_unset(all, sizeof **out);
    if (!*out) return vit_fail_memory(error, "pairs", all * sizeof **out);
    for (size_t i = 0; i < p->index->count; i++) {
        if (p->counts[i] > 0) memcpy(*out + *count, p->found[i], p->counts[i] * sizeof **out);
        *count += p->counts[i];
    }
    return VIT_OK;
}

vit_status vit_index_pairs(vit_similar **out, size_t *count, const vit_index *index, double least,
                           int threads, vit_cpu highest, vit_error *error) {
    pairing p = {.index = index, .dots = vit_dots_choose(highest)->dots, .least = least};
    vit_status status = VIT_OK;
    *out = NULL;
    *count = 0;
    for (size_t i = 0; i < index->count; i++) p.largest = vit_max(p.largest, index->blocks[i].rows);
    p.queries = vit_alloc((size_t)threads, index->stride * sizeof *p.queries);
    p.sums = vit_alloc((size_t)threads, p.largest * sizeof *p.sums);
    p.found = vit_alloc(index->count, sizeof *p.found);
    p.counts = vit_alloc(index->count, sizeof *p.counts);
    p.capacities = vit_alloc(index->count, sizeof *p.capacities);
    if (!p.queries || !p.sums || !p.found || !p.counts || !p.capacities)
        status = vit_fail_memory(error, "pairs", (size_t)threads * p.largest * sizeof *p.sums);
    if (status == VIT_OK) {
        vit_parallel(threads, index->count, pair_block, &p);
        status = join(out, count, &p, error);
    }
    for (size_t i = 0; p.found && i < index->count; i++) vit_free(p.found[i]);
    void *const all[] = {p.queries, p.sums, p.found, p.counts, p.capacities};
    for (size_t i = 0; i < VIT_COUNT(all); i++) vit_free(all[i]);
    return status;
}
