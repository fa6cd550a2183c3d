/* How a batch is divided among threads, and how the gradients are summed. A slice is a few pictures
 * that one thread takes through the whole network; a lane is a copy of the gradient, to which some
 * of the slices are added.
 *
 *   batch      | slice 0 | slice 1 | slice 2 | slice 3 | slice 4 | ...
 *                   |         |         |         |         |
 *   P = 3        lane 0    lane 1    lane 2    lane 0    lane 1  ...      slice s into lane s mod P
 *
 *   lane 0 = slice 0 + slice 3 + ...      one slice after the other, on whichever thread
 *   sum    = (lane 0 + lane 1) + lane 2
 *
 * The rule: slice size, number of lanes P, the lane of a slice and the order of all sums depend on
 * network and batch, never on threads; so every number of threads gives the same bytes.
 *   - A lane's slices come in order: the chain of a weight's gradient runs over all their rows.
 *   - Lanes are added in order. Where there are more than two and each has one slice, the even ones
 *     are added first, then the odd ones, then both sums:
 *     (lane 0 + lane 2 + ...) + (lane 1 + lane 3 + ...).
 *   - A network too large for P copies of its gradient has fewer lanes, or one, unless the recipe
 *     says how many; then the threads share the tiles and heads inside each operator.
 *   - Each rank (vit/cluster) holds some lanes and computes their slices. Sums go from rank to
 *     rank: along the ranks in one chain; of two chains the even lanes' begins at rank 0, the odd
 *     ones' at the last rank, and they meet between:
 *
 *       rank 0      rank 1       rank 2      rank 3
 *       0 + 2  ->  ... + 4 + 6  ->  ( + )  <-  1 + 3        rank 2 adds 5 and 7, then both sums
 *
 *     They begin with the last layers, while the last slices are still going backward through those
 *     before.
 *   - With bf16_gradients in the recipe every sum, from a lane's own gradient on, is rounded to
 *     bfloat16 (nearest, ties to even): after lane 0, after lane 0 + lane 1, ... So what goes from
 *     rank to rank has 16 bits, wherever the ranks' borders are.
 */
#ifndef VIT_TRAIN_STEP_LANES_H
#define VIT_TRAIN_STEP_LANES_H

#include "vit/cluster/cluster.h"
#include "vit/model/parameters.h"
#include "vit/train/step/adamw.h"
#include <pthread.h>
#include <stdatomic.h>

#define VIT_MOST_LANES 8

typedef struct vit_lanes {
    size_t slice, slices; /* pictures of a slice, slices of a batch */
    size_t count;         /* P */
    size_t chains;        /* that the lanes are added in: 1, or 2 for even and odd ones */
    size_t own;           /* lanes that this rank holds: */
    uint16_t held[VIT_RECIPE_LANES]; /* [own] their numbers, those of the first chain first */
    size_t in_chain[2];              /* how many of them are in each chain */
    int meet;                        /* the rank where the chains meet, or where the one ends */
    size_t workers;                  /* slices that are computed at the same time */
    int inner_threads;               /* threads of each of them, inside an operator */
    bool bf16;                       /* sums are rounded */
    const vit_table *trained;
    vit_cluster *cluster; /* NULL: one process */
    vit_fold *fold;       /* NULL: no sum over ranks */
    float *gradients;     /* [own][table size] */
    vit_gradients *views; /* [own][2]: for a lane's first slice, for the others */
    atomic_size_t *next;  /* [own] of each lane: the slice to compute next, or TAKEN */
    /* What is computed of a step, for the thread that communicates; under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_lock, computes;
    size_t *complete; /* [own] of each lane: where its complete part begins, or table size */
} vit_lanes;

/* Pictures of a slice, for a network whose parameters are `table`; batch and lanes are the
 * recipe's. */
size_t vit_lanes_slice(const vit_config *config, const vit_table *table, size_t batch,
                       size_t lanes);

/* Sets sizes and counts; `lanes` owns nothing yet. ARGUMENT if there are more ranks than lanes. */
vit_status vit_lanes_plan(vit_lanes *lanes, const vit_config *config, const vit_table *table,
                          const vit_recipe *recipe, int threads, vit_cluster *cluster,
                          vit_error *error);

/* The lane that slice `slice` belongs to is this rank's. */
bool vit_lanes_holds(const vit_lanes *lanes, size_t slice);

/* Allocates the gradients and what their sum needs, freed by vit_lanes_free. `trained`: the rows of
 * the table that are not frozen; it must outlive the lanes. */
vit_status vit_lanes_new(vit_lanes *lanes, const vit_config *config, const vit_table *table,
                         const vit_table *trained, vit_error *error);
void vit_lanes_free(vit_lanes *lanes);

/* Computes a slice and adds its gradient to `gradients`; worker < lanes->workers, and no two
 * threads are called with the same one at a time. */
typedef void vit_run_slice(size_t slice, size_t worker, const vit_gradients *gradients,
                           void *context);

/* To be called while `run` computes the slice: its gradients of all parameters of the layers from
 * `layer` on are complete. */
void vit_lanes_passed(vit_lanes *lanes, size_t slice, size_t layer);

/* Calls `run` once for every slice of this rank. Afterwards lanes->gradients has the gradient of
 * each lane; or, of several ranks, its first table size floats have the sum of all lanes of all
 * ranks, which are added while the last slices are computed. To be called in the body of a team
 * (vit_with_team) of one thread more than `threads`, so that one can communicate. IO if a rank is
 * lost. */
vit_status vit_lanes_run(vit_lanes *lanes, vit_run_slice *run, void *context,
                         const vit_kernels *kernels, int threads, vit_error *error);

/* lanes->gradients[0 .. table size - 1] becomes the sum of all lanes, in order: chain i, of
 * `chains`, is ((lane i + lane i + chains) + lane i + 2 chains) + ..., and chains are added in
 * order. *norm is the Euclidean norm of the sum: sums of squares of the chunks, added in double, in
 * table order. */
void vit_lanes_sum(vit_lanes *lanes, double *norm, vit_chunks *chunks, const vit_kernels *kernels,
                   int threads);

#endif
