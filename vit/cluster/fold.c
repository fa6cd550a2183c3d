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
    int rank; /* -1: none */
    float *buffers;
    vit_message in[DEPTH];
    vit_message *out; /* [pieces] results */
} source;

typedef struct fold {
    vit_cluster *cluster;
    float *result;
    size_t count, piece, pieces;
    int to;           /* who gets this rank's partial sums; -1: the sums meet here */
    size_t lag;       /* pieces that this rank is ahead of the results that come back */
    source low, high; /* of the first sum, of the second */
    vit_message out[DEPTH];
    vit_message *results; /* [pieces] that come back */
    vit_fold_add *add;
    void *context;
    vit_error *error;
} fold;

static size_t size_of(const fold *f, size_t piece) {
    return vit_min(f->piece, f->count - piece * f->piece);
}

static vit_status expect(fold *f, source *s, size_t piece) {
    if (s->rank < 0 || piece >= f->pieces) return VIT_OK;
    const size_t slot = piece % DEPTH;
    return vit_cluster_start_receive(f->cluster, &s->in[slot], s->buffers + slot * f->piece,
                                     size_of(f, piece) * sizeof(float), s->rank, f->error);
}

/* Once this rank's part of a piece has left, its memory takes a later one's, and the piece's own
 * place the result. */
static vit_status settle(fold *f, size_t piece) {
    vit_status status = vit_cluster_wait(f->cluster, &f->out[piece % DEPTH], f->to, f->error);
    if (status == VIT_OK) status = expect(f, &f->low, piece + DEPTH);
    if (status == VIT_OK) status = expect(f, &f->high, piece + DEPTH);
    if (status != VIT_OK || f->to < 0) return status;
    return vit_cluster_start_receive(f->cluster, &f->results[piece], f->result + piece * f->piece,
                                     size_of(f, piece) * sizeof(float), f->to, f->error);
}

static vit_status take(fold *f, source *s, size_t piece, float **part) {
    const size_t slot = piece % DEPTH;
    *part = s->rank < 0 ? NULL : s->buffers + slot * f->piece;
    return s->rank < 0 ? VIT_OK : vit_cluster_wait(f->cluster, &s->in[slot], s->rank, f->error);
}

/* Adds this rank's terms of a piece to what came, and hands the sum on. */
static vit_status add_piece(fold *f, size_t piece) {
    const size_t first = piece * f->piece, n = size_of(f, piece);
    float *low, *high;
    vit_status status = take(f, &f->low, piece, &low);
    if (status == VIT_OK) status = take(f, &f->high, piece, &high);
    if (status != VIT_OK) return status;
    const float *sum = f->add(low, high, first, n, f->context);
    if (f->to >= 0)
        return vit_cluster_start_send(f->cluster, &f->out[piece % DEPTH], sum, n * sizeof *sum,
                                      f->to, f->error);
    if (sum != f->result + first) memcpy(f->result + first, sum, n * sizeof *sum);
    return VIT_OK;
}

static vit_status pass_on(fold *f, source *s, size_t piece) {
    if (s->rank < 0) return VIT_OK;
    return vit_cluster_start_send(f->cluster, &s->out[piece], f->result + piece * f->piece,
                                  size_of(f, piece) * sizeof(float), s->rank, f->error);
}

static vit_status return_piece(fold *f, size_t piece) {
    vit_status status = vit_cluster_wait(f->cluster, &f->results[piece], f->to, f->error);
    if (status == VIT_OK) status = pass_on(f, &f->low, piece);
    return status == VIT_OK ? pass_on(f, &f->high, piece) : status;
}

static vit_status run(fold *f) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < DEPTH && status == VIT_OK; i++) {
        status = expect(f, &f->low, i);
        if (status == VIT_OK) status = expect(f, &f->high, i);
    }
    const size_t rounds = f->pieces + vit_max(f->lag, SETTLED);
    for (size_t t = 0; t < rounds && status == VIT_OK; t++) {
        if (t >= SETTLED && t - SETTLED < f->pieces) status = settle(f, t - SETTLED);
        if (status == VIT_OK && t < f->pieces) status = add_piece(f, t);
        if (status == VIT_OK && t >= f->lag && t - f->lag < f->pieces)
            status = return_piece(f, t - f->lag);
    }
    for (size_t i = 0; i < f->pieces && status == VIT_OK; i++) {
        if (f->low.rank >= 0)
            status = vit_cluster_wait(f->cluster, &f->low.out[i], f->low.rank, f->error);
        if (status == VIT_OK && f->high.rank >= 0)
            status = vit_cluster_wait(f->cluster, &f->high.out[i], f->high.rank, f->error);
    }
    return status;
}

vit_status vit_cluster_fold(vit_cluster *c, float *result, size_t count, int meet,
                            vit_fold_add *add, void *context, vit_error *error) {
    const double start = vit_clock();
    const int rank = vit_cluster_rank(c), size = vit_cluster_size(c);
    fold f = {.cluster = c, .result = result, .count = count, .add = add, .context = context};
    f.error = error;
    f.piece = vit_min(vit_max(vit_ceil_div(count, PIECES), LEAST), MOST);
    f.pieces = vit_ceil_div(count, f.piece);
    f.low.rank = rank > 0 && rank <= meet ? rank - 1 : -1;
    f.high.rank = rank + 1 < size && rank >= meet ? rank + 1 : -1;
    f.to = rank < meet ? rank + 1 : rank > meet ? rank - 1 : -1;
    const size_t distance = (size_t)(rank < meet ? meet - rank : rank - meet);
    f.lag = distance == 0 ? 0 : 2 * distance + AHEAD;
    float *buffers = vit_alloc_unset(2 * DEPTH * f.piece, sizeof *buffers);
    vit_message *messages = vit_alloc(3 * f.pieces, sizeof *messages);
    vit_status status = VIT_OK;
    if (!buffers || !messages)
        status = vit_fail_memory(error, "a sum over ranks", 2 * DEPTH * f.piece * sizeof(float));
    if (status == VIT_OK) {
        f.low.buffers = buffers;
        f.high.buffers = buffers + DEPTH * f.piece;
        f.low.out = messages;
        f.high.out = messages + f.pieces;
        f.results = messages + 2 * f.pieces;
        status = run(&f);
    }
    vit_free(buffers);
    vit_free(messages);
    if (c) vit_cluster_count(c, start);
    return status;
}
