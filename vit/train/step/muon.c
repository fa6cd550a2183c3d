#include "vit/train/step/muon.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/ops/gemm/gemm.h"
#include <math.h>

#define MOMENTUM .95f
#define STEPS 5

typedef struct matrix {
    size_t offset, rows, columns; /* in an array of the table */
    double rate;                  /* factor of the learning rate */
} matrix;

struct vit_muon {
    matrix *list;
    size_t count;
    size_t largest; /* floats of a matrix, at most */
    size_t square;  /* floats of a square with a matrix's shorter side, at most */
    size_t room;    /* floats of a thread's memory */
    float *rooms;   /* [threads][room]; owned */
};

static bool is_asked_for(const vit_recipe *recipe) {
    switch (recipe->optimizer) {
    case VIT_OPTIMIZER_MUON:
        return true;
    case VIT_OPTIMIZER_ADAMW:
    case VIT_OPTIMIZER_COUNT:
        break;
    }
    return false;
}

bool vit_muon_moves(const vit_recipe *recipe, const vit_table *table, size_t row) {
    const vit_parameter *p = &table->rows[row];
    size_t first = 0;
    while (!vit_is_weight(&table->rows[first])) first++;
    return is_asked_for(recipe) && vit_is_weight(p) &&
           (p->of_block || (p->layer == 0 && row > first));
}

static vit_status make_rooms(vit_muon *m, int threads, vit_error *error) {
    for (size_t i = 0; i < m->count; i++) {
        const size_t rows = m->list[i].rows, columns = m->list[i].columns;
        const size_t side = vit_min(rows, columns);
        m->largest = vit_max(m->largest, vit_padded(rows * columns));
        m->square = vit_max(m->square, vit_padded(side * side));
    }
    m->room = VIT_GEMM_ROOM + 2 * m->largest + 3 * m->square;
    m->rooms = vit_alloc_unset(m->room * (size_t)threads, sizeof *m->rooms);
    if (!m->rooms)
        return vit_fail_memory(error, "the optimiser's matrices",
                               m->room * (size_t)threads * sizeof *m->rooms);
    return VIT_OK;
}

vit_status vit_muon_new(vit_muon **out, const vit_table *table, const vit_recipe *recipe,
                        int threads, vit_error *error) {
    *out = NULL;
    if (!is_asked_for(recipe)) return VIT_OK;
    vit_muon *m = vit_alloc(1, sizeof *m);
    if (m) m->list = vit_alloc(table->count, sizeof *m->list);
    if (!m || !m->list) {
        vit_muon_free(m);
        return vit_fail_memory(error, "the optimiser's matrices", table->count * sizeof *m->list);
    }
    for (size_t i = 0; i < table->count; i++) {
        const vit_parameter *p = &table->rows[i];
        if (!vit_muon_moves(recipe, table, i)) continue;
        m->list[m->count++] = (matrix){p->offset, p->shape[0], p->count / p->shape[0],
                                       vit_layer_rate(recipe, table, i)};
    }
    const vit_status status = make_rooms(m, threads, error);
    if (status == VIT_OK)
        *out = m;
    else
        vit_muon_free(m);
    return status;
}

void vit_muon_free(vit_muon *m) {
    if (!m) return;
    vit_free(m->list);
    vit_free(m->rooms);
    vit_free(m);
}

/* A thread's memory for one matrix. */
typedef struct desk {
    vit_exec exec;
    float *x, *next;              /* X [m][n], n <= m, and the next X */
    float *square, *fourth, *sum; /* [n][n]: X^T X, its square, a polynomial of both */
} desk;

static desk desk_of(const vit_muon *m, const vit_kernels *kernels, int thread) {
    float *room = m->rooms + (size_t)thread * m->room, *x = room + VIT_GEMM_ROOM;
    float *squares = x + 2 * m->largest;
    return (desk){{.kernels = kernels, .threads = 1, .room = room},
                  x,
                  x + m->largest,
                  squares,
                  squares + m->square,
                  squares + 2 * m->square};
}

/* X = U S V^T becomes nearly U V^T, with singular values of .7 to 1.2, by STEPS Newton-Schulz steps
 * X <- X (a + b X^T X + c (X^T X)^2), which make S into a S + b S^3 + c S^5. */
static void make_orthonormal(desk *d, size_t m, size_t n) {
    const vit_epilogue none = vit_epilogue_none();
    for (size_t step = 0; step < STEPS; step++) {
        vit_gemm(&d->exec, d->square, n, n, n, m, (vit_operand_a){d->x, 1, n}, vit_b_plain(d->x, n),
                 &none);
        vit_gemm(&d->exec, d->fourth, n, n, n, n, (vit_operand_a){d->square, n, 1},
                 vit_b_plain(d->square, n), &none);
        d->exec.kernels->scale(d->sum, d->square, -4.7750f, n * n);
        d->exec.kernels->scale(d->fourth, d->fourth, 2.0315f, n * n);
        d->exec.kernels->add(d->sum, d->fourth, n * n);
        for (size_t i = 0; i < n; i++) d->sum[i * n + i] += 3.4445f;
        vit_gemm(&d->exec, d->next, n, m, n, n, (vit_operand_a){d->x, n, 1}, vit_b_plain(d->sum, n),
                 &none);
        float *const old = d->x;
        d->x = d->next;
        d->next = old;
    }
}

/* X [m][n] <- X^T */
static void transpose(desk *d, size_t m, size_t n) {
    float *const old = d->x;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) d->next[j * m + i] = old[i * n + j];
    d->x = d->next;
    d->next = old;
}

typedef struct update {
    const vit_muon *muon;
    const vit_kernels *kernels;
    const vit_adamw_state *state;
    double lr, weight_decay;
    float clip;
} update;

/* m = mu m + g; to = g + mu m, divided by its Frobenius norm. */
static void set_direction(const update *u, const matrix *one, float *to) {
    const size_t n = one->rows * one->columns;
    const float *g = u->state->gradient + one->offset;
    float *m = u->state->m + one->offset;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        const float clipped = u->clip * g[i];
        m[i] = MOMENTUM * m[i] + clipped;
        to[i] = clipped + MOMENTUM * m[i];
    }
    for (size_t i = 0; i < n; i += VIT_CHUNK)
        squares += (double)u->kernels->square_sum(to + i, vit_min(n - i, VIT_CHUNK));
    u->kernels->scale(to, to, (float)(1 / (sqrt(squares) + 1e-30)), n);
}

static void move_task(size_t index, int thread, void *context) {
    const update *u = context;
    const matrix *one = &u->muon->list[index];
    const size_t most = vit_max(one->rows, one->columns), least = vit_min(one->rows, one->columns);
    const bool wide = one->rows < one->columns;
    if (!vit_is_updated(u->state, one->offset)) return;
    desk d = desk_of(u->muon, u->kernels, thread);
    set_direction(u, one, d.x);
    if (wide) transpose(&d, one->rows, one->columns);
    make_orthonormal(&d, most, least);
    if (wide) transpose(&d, one->columns, one->rows);
    const double lr = u->lr * one->rate;
    const float keep = (float)(1 - lr * u->weight_decay);
    const float by = (float)(lr * .2 * sqrt((double)most));
    float *w = u->state->values + one->offset;
    for (size_t i = 0; i < most * least; i++) w[i] = keep * w[i] - by * d.x[i];
}

void vit_muon_update(const vit_muon *muon, const vit_kernels *kernels, int threads,
                     const vit_adamw_state *state, const vit_recipe *recipe, double lr,
                     double norm) {
    const update u = {
        muon, kernels, state, lr, recipe->weight_decay, vit_clip_factor(recipe, norm)};
    vit_parallel(threads, muon->count, move_task, (void *)&u);
}
