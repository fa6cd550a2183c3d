#include "vit/few_shot/matrix.h"
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include <math.h>
#include <string.h>

/* ---- products: a tile of 4 x 8 outputs is kept in registers ---- */

enum { TILE_ROWS = 4, TILE_COLUMNS = 8, TASK_ROWS = 16, DEPTH = 128 };

typedef struct product {
    double *c;
    size_t m, n, first, depth; /* of this block of k: its first row, and how many */
    const vit_matrix *a, *b;
    double *panels; /* [n / 8][depth][8] of B */
    bool upper;     /* only what is on or above the diagonal is wanted */
} product;

static double element(const vit_matrix *x, size_t i, size_t j) {
    if (x->doubles) return x->doubles[i * x->row + j * x->column];
    const double value = (double)x->floats[i * x->row + j * x->column];
    /* Of a transposed operand rows are what columns were. */
    const size_t sample = x->column == 1 ? i : j, feature = x->column == 1 ? j : i;
    return (value - (x->shift ? x->shift[feature] : 0)) * (x->scale ? x->scale[sample] : 1);
}

static void pack_panel(size_t index, int thread, void *context) {
    (void)thread;
    const product *p = context;
    double *panel = p->panels + index * p->depth * TILE_COLUMNS;
    const size_t from = index * TILE_COLUMNS;
    for (size_t k = 0; k < p->depth; k++)
        for (size_t j = 0; j < TILE_COLUMNS; j++)
            panel[k * TILE_COLUMNS + j] =
                from + j < p->n ? element(p->b, p->first + k, from + j) : 0;
}

static void pack_rows(double *out, const product *p, size_t from) {
    for (size_t k = 0; k < p->depth; k++)
        for (size_t i = 0; i < TILE_ROWS; i++)
            out[k * TILE_ROWS + i] = from + i < p->m ? element(p->a, from + i, p->first + k) : 0;
}

static void tile(double sums[TILE_ROWS][TILE_COLUMNS], const double *a, const double *b,
                 size_t depth) {
    for (size_t k = 0; k < depth; k++, a += TILE_ROWS, b += TILE_COLUMNS)
        for (size_t i = 0; i < TILE_ROWS; i++)
            for (size_t j = 0; j < TILE_COLUMNS; j++) sums[i][j] += a[i] * b[j];
}

/* The part of a tile that is within the matrix, from C or back. */
static void move_tile(double sums[TILE_ROWS][TILE_COLUMNS], const product *p, size_t row,
                      size_t column, bool back) {
    const size_t rows = vit_min(TILE_ROWS, p->m - row);
    const size_t columns = vit_min(TILE_COLUMNS, p->n - column);
    for (size_t i = 0; i < rows; i++) {
        double *c = p->c + (row + i) * p->n + column;
        memcpy(back ? c : sums[i], back ? sums[i] : c, columns * sizeof *c);
    }
}

static void product_task(size_t index, int thread, void *context) {
    (void)thread;
    const product *p = context;
    double rows[TASK_ROWS / TILE_ROWS][DEPTH * TILE_ROWS];
    const size_t top = index * TASK_ROWS, bottom = vit_min(top + TASK_ROWS, p->m);
    const size_t panels = vit_ceil_div(p->n, TILE_COLUMNS);
    for (size_t i = top; i < bottom; i += TILE_ROWS) pack_rows(rows[(i - top) / TILE_ROWS], p, i);
    for (size_t j = p->upper ? top / TILE_COLUMNS : 0; j < panels; j++)
        for (size_t i = top; i < bottom; i += TILE_ROWS) {
            double sums[TILE_ROWS][TILE_COLUMNS] = {{0}};
            move_tile(sums, p, i, j * TILE_COLUMNS, false);
            tile(sums, rows[(i - top) / TILE_ROWS], p->panels + j * p->depth * TILE_COLUMNS,
                 p->depth);
            move_tile(sums, p, i, j * TILE_COLUMNS, true);
        }
}

/* Threads that wait for each other cost more than this many multiply-adds. */
#define WORTH_THREADS ((size_t)4 << 20)

static vit_status multiply(double *c, size_t m, size_t n, size_t k, const vit_matrix *a,
                           const vit_matrix *b, bool upper, int most, vit_error *error) {
    const int threads = m * n * k < WORTH_THREADS ? 1 : most;
    const size_t panels = vit_ceil_div(n, TILE_COLUMNS);
    product p = {.c = c, .m = m, .n = n, .a = a, .b = b, .upper = upper};
    p.panels = vit_alloc_unset(panels, DEPTH * TILE_COLUMNS * sizeof *p.panels);
    if (!p.panels)
        return vit_fail_memory(error, "a product", panels * DEPTH * TILE_COLUMNS * sizeof *c);
    memset(c, 0, m * n * sizeof *c);
    for (p.first = 0; p.first < k; p.first += DEPTH) {
        p.depth = vit_min(DEPTH, k - p.first);
        vit_parallel(threads, panels, pack_panel, &p);
        vit_parallel(threads, vit_ceil_div(m, TASK_ROWS), product_task, &p);
    }
    vit_free(p.panels);
    return VIT_OK;
}

vit_status vit_matrix_product(double *c, size_t m, size_t n, size_t k, const vit_matrix *a,
                              const vit_matrix *b, int threads, vit_error *error) {
    return multiply(c, m, n, k, a, b, false, threads, error);
}

vit_status vit_matrix_gram(double *c, size_t k, size_t n, const vit_matrix *a, bool outer,
                           int threads, vit_error *error) {
    vit_matrix turned = *a;
    const size_t size = outer ? k : n;
    turned.row = a->column;
    turned.column = a->row;
    const vit_status status = multiply(c, size, size, outer ? n : k, outer ? a : &turned,
                                       outer ? &turned : a, true, threads, error);
    for (size_t i = 0; i < size && status == VIT_OK; i++)
        for (size_t j = 0; j < i; j++) c[i * size + j] = c[j * size + i];
    return status;
}

/* ---- eigenvalues ---- */

/* A symmetric matrix on its way to a diagonal one. Elements j of rows are shared among tasks in
 * chunks, so that each is one chain however many threads there are. */
enum { CHUNK = 64, MOST_SWEEPS = 60 };

typedef struct reduction {
    double *a;                     /* [n][n] */
    size_t n, at;                  /* `at`: rows and columns from here on are reduced */
    double *v, *p, factor;         /* a reflection I - factor v v^T, and what it makes */
    double *q;                     /* [n][n] */
    const double *cosines, *sines; /* of a sweep, for the rows low .. high */
    size_t low, high;
} reduction;

static size_t chunks_of(size_t count) {
    return vit_ceil_div(count, CHUNK);
}

/* p = factor A v, by chunks of its elements. */
static void multiply_chunk(size_t index, int thread, void *context) {
    (void)thread;
    const reduction *r = context;
    const size_t first = r->at + index * CHUNK, last = vit_min(first + CHUNK, r->n);
    for (size_t j = first; j < last; j++) r->p[j] = 0;
    for (size_t i = r->at; i < r->n; i++) {
        const double *row = r->a + i * r->n;
        const double factor = r->factor * r->v[i];
        for (size_t j = first; j < last; j++) r->p[j] += factor * row[j];
    }
}

/* A -= v w^T + w v^T, w being in p, by chunks of its rows. */
static void update_chunk(size_t index, int thread, void *context) {
    (void)thread;
    const reduction *r = context;
    const size_t first = r->at + index * CHUNK, last = vit_min(first + CHUNK, r->n);
    for (size_t i = first; i < last; i++) {
        double *row = r->a + i * r->n;
        const double v = r->v[i], w = r->p[i];
        for (size_t j = r->at; j < r->n; j++) row[j] -= v * r->p[j] + w * r->v[j];
    }
}

/* Q = (I - factor v v^T) Q, by chunks of its columns. */
static void reflect_chunk(size_t index, int thread, void *context) {
    (void)thread;
    const reduction *r = context;
    const size_t first = r->at + index * CHUNK, last = vit_min(first + CHUNK, r->n);
    double sums[CHUNK] = {0};
    for (size_t i = r->at; i < r->n; i++)
        for (size_t j = first; j < last; j++) sums[j - first] += r->v[i] * r->q[i * r->n + j];
    for (size_t i = r->at; i < r->n; i++) {
        const double factor = r->factor * r->v[i];
        for (size_t j = first; j < last; j++) r->q[i * r->n + j] -= factor * sums[j - first];
    }
}

/* Finds the reflection that leaves of x: [count] only its first element, which it returns. v is
 * x with another first element; factor 0: there is nothing to do. */
static double reflection(double *v, double *factor, const double *x, size_t stride, size_t count) {
    double largest = 0, squares = 0;
    *factor = 0;
    for (size_t i = 0; i < count; i++) {
        v[i] = x[i * stride];
        largest = fmax(largest, fabs(v[i]));
    }
    if (largest == 0 || count < 2) return v[0];
    for (size_t i = 0; i < count; i++) {
        v[i] /= largest;
        squares += v[i] * v[i];
    }
    const double norm = v[0] > 0 ? -sqrt(squares) : sqrt(squares);
    const double half = squares - v[0] * norm;
    v[0] -= norm;
    if (half > 0) *factor = 1 / half;
    return norm * largest;
}

/* diagonal: [n], beside: [n - 1] = the tridiagonal matrix; the vectors of the reflections are kept
 * in the rows of A that are done. factors: [n]. */
static void reduce(reduction *r, double *diagonal, double *beside, double *factors, int threads) {
    for (size_t k = 0; k + 1 < r->n; k++) {
        r->at = k + 1;
        const size_t count = r->n - r->at, chunks = chunks_of(count);
        diagonal[k] = r->a[k * r->n + k];
        beside[k] = reflection(r->v + r->at, &r->factor, r->a + k * r->n + r->at, 1, count);
        factors[k] = r->factor;
        const int shared = count * count < WORTH_THREADS / 16 ? 1 : threads;
        if (r->factor != 0) {
            double along = 0;
            vit_parallel(shared, chunks, multiply_chunk, r);
            for (size_t i = r->at; i < r->n; i++) along += r->p[i] * r->v[i];
            for (size_t i = r->at; i < r->n; i++) r->p[i] -= r->factor / 2 * along * r->v[i];
            vit_parallel(shared, chunks, update_chunk, r);
        }
        memcpy(r->a + k * r->n + r->at, r->v + r->at, count * sizeof *r->v);
    }
    diagonal[r->n - 1] = r->a[r->n * r->n - 1];
}

/* Q = the product of all reflections. */
static void gather(reduction *r, const double *factors, int threads) {
    for (size_t i = 0; i < r->n; i++) r->q[i * r->n + i] = 1;
    for (size_t k = r->n - 1; k-- > 0;) {
        r->at = k + 1;
        r->factor = factors[k];
        memcpy(r->v + r->at, r->a + k * r->n + r->at, (r->n - r->at) * sizeof *r->v);
        if (r->factor != 0) vit_parallel(threads, chunks_of(r->n - r->at), reflect_chunk, r);
    }
}

/* Turns neighbouring rows of A, which are the eigenvectors so far, by chunks of their columns. */
static void turn_chunk(size_t index, int thread, void *context) {
    (void)thread;
    const reduction *r = context;
    const size_t first = index * CHUNK, last = vit_min(first + CHUNK, r->n);
    for (size_t i = r->high; i-- > r->low;) {
        double *x = r->a + i * r->n, *y = x + r->n;
        const double c = r->cosines[i], s = r->sines[i];
        for (size_t j = first; j < last; j++) {
            const double f = y[j];
            y[j] = s * x[j] + c * f;
            x[j] = c * x[j] - s * f;
        }
    }
}

/* One sweep of QL with an implicit shift over the rows low .. high; turns: [2][n]. */
static void sweep(double *d, double *e, size_t low, size_t high, double *cosines, double *sines) {
    double g = (d[low + 1] - d[low]) / (2 * e[low]);
    const double root = sqrt(g * g + 1);
    double s = 1, c = 1, p = 0;
    g = d[high] - d[low] + e[low] / (g + (g < 0 ? -root : root));
    for (size_t i = high; i-- > low;) {
        const double f = s * e[i], b = c * e[i], r = sqrt(f * f + g * g);
        if (i + 1 < high) e[i + 1] = r;
        if (r == 0) { /* what follows is apart already */
            s = 0;
            c = 1;
        } else {
            s = f / r;
            c = g / r;
        }
        const double h = d[i + 1] - p, t = (d[i] - h) * s + 2 * c * b;
        p = s * t;
        d[i + 1] = h + p;
        g = c * t - b;
        cosines[i] = c;
        sines[i] = s;
    }
    d[low] -= p;
    e[low] = g;
}

static bool diagonalise(reduction *r, double *d, double *e, double *turns, int threads) {
    double largest = 0;
    for (size_t i = 0; i < r->n; i++)
        largest = fmax(largest, fabs(d[i]) + (i + 1 < r->n ? fabs(e[i]) : 0));
    r->cosines = turns;
    r->sines = turns + r->n;
    for (r->low = 0; r->low < r->n; r->low++)
        for (int tries = 0;; tries++) {
            for (r->high = r->low; r->high + 1 < r->n; r->high++)
                if (fabs(e[r->high]) <= 0x1p-52 * largest) break;
            if (r->high == r->low) break;
            if (tries == MOST_SWEEPS) return false;
            sweep(d, e, r->low, r->high, turns, turns + r->n);
            vit_parallel(threads, chunks_of(r->n), turn_chunk, r);
        }
    return true;
}

static void transpose(double *out, const double *in, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) out[j * n + i] = in[i * n + j];
}

/* The largest value first, each with its row of a. */
static void sort(double *a, double *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t best = i;
        for (size_t j = i + 1; j < n; j++)
            if (values[j] > values[best]) best = j;
        if (best == i) continue;
        const double value = values[i];
        values[i] = values[best];
        values[best] = value;
        for (size_t j = 0; j < n; j++) {
            const double other = a[i * n + j];
            a[i * n + j] = a[best * n + j];
            a[best * n + j] = other;
        }
    }
}

typedef struct eigen {
    reduction r;
    double *values, *rooms; /* [n], [5][n] */
    int threads;
    bool converged;
} eigen;

static void find_eigen(void *context) {
    eigen *e = context;
    const size_t n = e->r.n;
    double *beside = e->rooms, *turns = e->rooms + n, *factors = e->rooms + 3 * n;
    reduce(&e->r, e->values, beside, factors, e->threads);
    gather(&e->r, factors, e->threads);
    transpose(e->r.a, e->r.q, n);
    e->converged = diagonalise(&e->r, e->values, beside, turns, e->threads);
    if (e->converged) sort(e->r.a, e->values, n);
}

vit_status vit_matrix_eigen(double *a, double *values, size_t n, int threads, vit_error *error) {
    eigen e = {.r = {.a = a, .n = n},
               .values = values,
               .threads = n * n * n < 16 * WORTH_THREADS ? 1 : threads};
    e.r.q = vit_alloc(n, n * sizeof *a);
    e.rooms = vit_alloc(6, n * sizeof *a);
    vit_status status =
        e.r.q && e.rooms ? VIT_OK : vit_fail_memory(error, "eigenvectors", n * n * sizeof *a);
    if (status == VIT_OK) {
        e.r.v = e.rooms + 4 * n;
        e.r.p = e.rooms + 5 * n;
        vit_with_team(e.threads, find_eigen, &e);
        if (!e.converged)
            status = vit_fail(error, VIT_ERROR_ARGUMENT,
                              "the features of the pictures are not finite, or too large");
    }
    vit_free(e.r.q);
    vit_free(e.rooms);
    return status;
}

/* ---- a small system ---- */

bool vit_matrix_solve(double *a, size_t n, double *b, size_t count) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0)) return false;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    for (size_t c = 0; c < count; c++) {
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < i; k++) b[i * count + c] -= a[i * n + k] * b[k * count + c];
            b[i * count + c] /= a[i * n + i];
        }
        for (size_t i = n; i-- > 0;) {
            for (size_t k = i + 1; k < n; k++) b[i * count + c] -= a[k * n + i] * b[k * count + c];
            b[i * count + c] /= a[i * n + i];
        }
    }
    return true;
}
