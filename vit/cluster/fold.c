#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cluster/inside.h"

#include <string.h>

/* Floats of a piece: small enough that ranks work at the same time, and that MPI sends it without
 * first asking the receiver (up to 64 KiB over TCP); large enough that a message's own cost does
 * not count. */
#define LEAST ((size_t)1 << 12)
#define MOST ((size_t)15 << 10)
#define PIECES 16

#define DEPTH 4   /* pieces that a rank has memory for, of each partial sum */
#define SETTLED 2 /* a piece's memory is used again this many pieces later */
#define AHEAD 7   /* pieces on their way to the next rank and back: they cover the line's delay */

/* A neighbour that partial sums come from, and that results go to. */
typedef struct source {
    int rank;         /* -1: none */
    float *parts;     /* [DEPTH][piece] */
    uint16_t *halves; /* [DEPTH][piece] as they travel in bfloat16 */
    vit_message in[DEPTH];
    vit_message *out; /* [pieces] results */
} source;

/* Piece 0 has the last numbers. */
struct vit_fold {
    vit_cluster *cluster;
    size_t count, piece, pieces;
    int to;           /* who gets this rank's partial sums; -1: the sums meet here */
    size_t lag;       /* pieces that this rank is ahead of the results that come back */
    source low, high; /* of the first sum, of the second */
    vit_message out[DEPTH];
    vit_message *messages; /* memory of all `out` of the sources, and of: */
    vit_message *results;  /* [pieces] that come back */
    float *memory;         /* of the sources' parts */
    uint16_t *halves;      /* NULL: numbers travel as floats. [count] results; then those of the
                              sources, and of: */
    uint16_t *leaving;     /* [DEPTH][piece] this rank's partial sums */
    float *result;         /* of the fold that goes on */
    vit_fold_add *add;
    void *context;
    size_t round; /* pieces begun, and after the last rounds in which results come */
};

static size_t first_of(const vit_fold *f, size_t piece) {
    return (f->pieces - 1 - piece) * f->piece;
}

static size_t size_of(const vit_fold *f, size_t piece) {
    return vit_min(f->piece, f->count - first_of(f, piece));
}

static size_t bytes_of(const vit_fold *f, size_t piece) {
    return size_of(f, piece) * (f->halves ? sizeof *f->halves : sizeof *f->result);
}

/* ---- bfloat16: the upper halves of floats ---- */

static void narrow(uint16_t *to, const float *from, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, from + i, sizeof bits);
        to[i] = (uint16_t)(bits >> 16);
    }
}

static void widen(float *to, const uint16_t *from, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)from[i] << 16;
        memcpy(to + i, &bits, sizeof bits);
    }
}

/* ---- a piece's way ---- */

/* Where the result of a piece comes from or goes to. */
static void *result_of(const vit_fold *f, size_t piece) {
    const size_t first = first_of(f, piece);
    return f->halves ? (void *)(f->halves + first) : (void *)(f->result + first);
}

static vit_status expect(vit_fold *f, source *s, size_t piece, vit_error *error) {
    if (s->rank < 0 || piece >= f->pieces) return VIT_OK;
    const size_t slot = piece % DEPTH, at = slot * f->piece;
    void *place = f->halves ? (void *)(s->halves + at) : (void *)(s->parts + at);
    return vit_cluster_start_receive(f->cluster, &s->in[slot], place, bytes_of(f, piece), s->rank,
                                     error);
}

/* Once this rank's part of a piece has left, its memory takes a later one's, and the piece's own
 * place the result. */
static vit_status settle(vit_fold *f, size_t piece, vit_error *error) {
    vit_status status = vit_cluster_wait(f->cluster, &f->out[piece % DEPTH], f->to, error);
    if (status == VIT_OK) status = expect(f, &f->low, piece + DEPTH, error);
    if (status == VIT_OK) status = expect(f, &f->high, piece + DEPTH, error);
    if (status != VIT_OK || f->to < 0) return status;
    return vit_cluster_start_receive(f->cluster, &f->results[piece], result_of(f, piece),
                                     bytes_of(f, piece), f->to, error);
}

/* *part: what came of a piece; NULL: nothing comes. */
static vit_status take(vit_fold *f, source *s, size_t piece, float **part, vit_error *error) {
    const size_t slot = piece % DEPTH, at = slot * f->piece;
    *part = s->rank < 0 ? NULL : s->parts + at;
    if (s->rank < 0) return VIT_OK;
    const vit_status status = vit_cluster_wait(f->cluster, &s->in[slot], s->rank, error);
    if (status == VIT_OK && f->halves) widen(*part, s->halves + at, size_of(f, piece));
    return status;
}

/* Adds this rank's terms of a piece to what came, and hands the sum on. */
static vit_status add_piece(vit_fold *f, size_t piece, vit_error *error) {
    const size_t first = first_of(f, piece), n = size_of(f, piece), slot = piece % DEPTH;
    float *low, *high;
    vit_status status = take(f, &f->low, piece, &low, error);
    if (status == VIT_OK) status = take(f, &f->high, piece, &high, error);
    if (status != VIT_OK) return status;
    const float *sum = f->add(low, high, first, n, f->context);
    if (f->to < 0) {
        if (sum != f->result + first) memcpy(f->result + first, sum, n * sizeof *sum);
        if (f->halves) narrow(f->halves + first, sum, n);
        return VIT_OK;
    }
    uint16_t *leaving = f->halves ? f->leaving + slot * f->piece : NULL;
    if (leaving) narrow(leaving, sum, n);
    return vit_cluster_start_send(f->cluster, &f->out[slot],
                                  leaving ? (const void *)leaving : (const void *)sum,
                                  bytes_of(f, piece), f->to, error);
}

static vit_status pass_on(vit_fold *f, source *s, size_t piece, vit_error *error) {
    if (s->rank < 0) return VIT_OK;
    return vit_cluster_start_send(f->cluster, &s->out[piece], result_of(f, piece),
                                  bytes_of(f, piece), s->rank, error);
}

static vit_status return_piece(vit_fold *f, size_t piece, vit_error *error) {
    const size_t first = first_of(f, piece);
    vit_status status = vit_cluster_wait(f->cluster, &f->results[piece], f->to, error);
    if (status == VIT_OK && f->halves && f->to >= 0)
        widen(f->result + first, f->halves + first, size_of(f, piece));
    if (status == VIT_OK) status = pass_on(f, &f->low, piece, error);
    return status == VIT_OK ? pass_on(f, &f->high, piece, error) : status;
}

/* In round t this rank adds to piece t, and is done with earlier ones. */
static vit_status next_round(vit_fold *f, vit_error *error) {
    const size_t t = f->round++;
    vit_status status = VIT_OK;
    if (t >= SETTLED && t - SETTLED < f->pieces) status = settle(f, t - SETTLED, error);
    if (status == VIT_OK && t < f->pieces) status = add_piece(f, t, error);
    if (status == VIT_OK && t >= f->lag && t - f->lag < f->pieces)
        status = return_piece(f, t - f->lag, error);
    return status;
}

/* ---- the fold ---- */

vit_status vit_fold_begin(vit_fold *f, float *result, vit_fold_add *add, void *context,
                          vit_error *error) {
    vit_status status = VIT_OK;
    f->result = result;
    f->add = add;
    f->context = context;
    f->round = 0;
    for (size_t i = 0; i < DEPTH && status == VIT_OK; i++) {
        status = expect(f, &f->low, i, error);
        if (status == VIT_OK) status = expect(f, &f->high, i, error);
    }
    return status;
}

bool vit_fold_next(const vit_fold *f, size_t *first) {
    if (f->round >= f->pieces) return false;
    *first = first_of(f, f->round);
    return true;
}

vit_status vit_fold_piece(vit_fold *f, vit_error *error) {
    const double start = vit_clock();
    const vit_status status = next_round(f, error);
    vit_cluster_count(f->cluster, start);
    return status;
}

vit_status vit_fold_end(vit_fold *f, vit_error *error) {
    const double start = vit_clock();
    const size_t rounds = f->pieces + vit_max(f->lag, SETTLED);
    vit_status status = VIT_OK;
    while (f->round < rounds && status == VIT_OK) status = next_round(f, error);
    for (size_t i = 0; i < f->pieces && status == VIT_OK; i++) {
        if (f->low.rank >= 0)
            status = vit_cluster_wait(f->cluster, &f->low.out[i], f->low.rank, error);
        if (status == VIT_OK && f->high.rank >= 0)
            status = vit_cluster_wait(f->cluster, &f->high.out[i], f->high.rank, error);
    }
    vit_cluster_count(f->cluster, start);
    return status;
}

vit_status vit_fold_new(vit_fold **out, vit_cluster *c, size_t count, int meet, bool bf16,
                        vit_error *error) {
    const int rank = vit_cluster_rank(c), size = vit_cluster_size(c);
    *out = NULL;
    vit_fold *f = vit_alloc(1, sizeof *f);
    if (!f) return vit_fail_memory(error, "a sum over ranks", sizeof *f);
    f->cluster = c;
    f->count = count;
    f->piece = vit_min(vit_max(vit_ceil_div(count, PIECES), LEAST), MOST);
    f->pieces = vit_ceil_div(count, f->piece);
    f->low.rank = rank > 0 && rank <= meet ? rank - 1 : -1;
    f->high.rank = rank + 1 < size && rank >= meet ? rank + 1 : -1;
    f->to = rank < meet ? rank + 1 : rank > meet ? rank - 1 : -1;
    const size_t distance = (size_t)(rank < meet ? meet - rank : rank - meet);
    f->lag = distance == 0 ? 0 : 2 * distance + AHEAD;
    const size_t buffer = DEPTH * f->piece, halves = count + 3 * buffer;
    f->memory = vit_alloc_unset(2 * buffer, sizeof *f->memory);
    f->messages = vit_alloc(3 * f->pieces, sizeof *f->messages);
    f->halves = bf16 ? vit_alloc_unset(halves, sizeof *f->halves) : NULL;
    if (!f->memory || !f->messages || (bf16 && !f->halves)) {
        vit_fold_free(f);
        return vit_fail_memory(error, "a sum over ranks",
                               2 * buffer * sizeof(float) + (bf16 ? 2 * halves : 0));
    }
    f->low.parts = f->memory;
    f->high.parts = f->memory + buffer;
    f->low.out = f->messages;
    f->high.out = f->messages + f->pieces;
    f->results = f->messages + 2 * f->pieces;
    if (bf16) {
        f->leaving = f->halves + count;
        f->low.halves = f->leaving + buffer;
        f->high.halves = f->low.halves + buffer;
    }
    *out = f;
    return VIT_OK;
}

void vit_fold_free(vit_fold *f) {
    if (!f) return;
    vit_free(f->memory);
    vit_free(f->messages);
    vit_free(f->halves);
    vit_free(f);
}
