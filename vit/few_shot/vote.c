#include "vit/few_shot/vote.h"
#include "vit/base/math.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include <math.h>
#include <string.h>

typedef struct unit {
    float *out;
    const float *rows;
    size_t width;
} unit;

static void unit_row(size_t i, int thread, void *context) {
    (void)thread;
    const unit *u = context;
    const float *row = u->rows + i * u->width;
    double squares = 0;
    for (size_t j = 0; j < u->width; j++) squares += (double)row[j] * (double)row[j];
    const double length = squares > 0 ? sqrt(squares) : 1;
    for (size_t j = 0; j < u->width; j++)
        u->out[i * u->width + j] = (float)((double)row[j] / length);
}

void vit_unit_rows(float *out, const float *rows, size_t count, size_t width, int threads) {
    vit_parallel(count * width < 100000 ? 1 : threads, count, unit_row, &(unit){out, rows, width});
}

/* ---- the nearest ---- */

enum { BATCH = 64 }; /* test pictures whose cosines with all training pictures are in memory */

typedef struct search {
    vit_near *nearest;
    size_t *best;         /* [BATCH][k] */
    const float *cosines; /* [BATCH][trained] */
    size_t k, trained;
} search;

static void search_row(size_t row, int thread, void *context) {
    (void)thread;
    const search *s = context;
    const float *cosines = s->cosines + row * s->trained;
    size_t *best = s->best + row * s->k;
    vit_top_k(cosines, s->trained, s->k, best);
    for (size_t i = 0; i < s->k; i++)
        s->nearest[row * s->k + i] = (vit_near){best[i], cosines[best[i]]};
}

vit_status vit_find_nearest(vit_near *nearest, size_t k, const float *test, size_t count,
                            const float *train, size_t trained, size_t width,
                            const vit_kernels *kernels, int threads, vit_error *error) {
    const vit_epilogue plain = vit_epilogue_none();
    vit_exec exec = {.kernels = kernels, .threads = threads};
    float *packed = vit_alloc_unset(vit_packed_size(trained, width), sizeof *packed);
    float *cosines = vit_alloc_unset(BATCH, trained * sizeof *cosines);
    size_t *best = vit_alloc_unset(BATCH, k * sizeof *best);
    exec.room = vit_alloc_unset((size_t)threads, VIT_GEMM_ROOM * sizeof *exec.room);
    vit_status status = VIT_OK;
    if (!packed || !cosines || !best || !exec.room)
        status = vit_fail_memory(error, "cosines", BATCH * trained * sizeof *cosines);
    if (status == VIT_OK) vit_pack_transposed(&exec, packed, train, trained, width, width);
    for (size_t first = 0; first < count && status == VIT_OK; first += BATCH) {
        const size_t rows = vit_min(BATCH, count - first);
        search s = {nearest + first * k, best, cosines, k, trained};
        vit_gemm(&exec, cosines, trained, rows, trained, width,
                 (vit_operand_a){test + first * width, width, 1}, vit_b_packed(packed, width),
                 &plain);
        vit_parallel(threads, rows, search_row, &s);
    }
    vit_free(exec.room);
    vit_free(best);
    vit_free(cosines);
    vit_free(packed);
    return status;
}

void vit_vote(double *votes, size_t classes, const vit_near *nearest, size_t k,
              const size_t *labels) {
    memset(votes, 0, classes * sizeof *votes);
    for (size_t i = 0; i < k; i++)
        votes[labels[nearest[i].index]] +=
            vit_exp((double)nearest[i].cosine / VIT_VOTE_TEMPERATURE);
}
