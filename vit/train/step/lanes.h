/* How the slices of a batch go through the threads, and their gradients into one.
 *
 *   batch      | slice 0 | slice 1 | slice 2 | slice 3 | slice 4 | ...
 *                   |         |         |         |         |
 *   P = 3        lane 0    lane 1    lane 2    lane 0    lane 1  ...      slice s into lane s mod P
 *
 *   lane 0 = slice 0 + slice 3 + ...      one slice after the other, whichever thread has it
 *   sum    = (lane 0 + lane 1) + lane 2
 *
 * The rule: the size of a slice, P, a slice's lane and the order of all sums follow from network
 * and batch, never from the threads; so every number of threads gives the same bytes.
 *   - A slice goes forward and backward through the whole network on one thread.
 *   - A lane takes its slices in order: a chain of matrix products over their rows.
 *   - Lanes are added in order; where each has one slice and there are more than two, in two
 *     chains: (lane 0 + lane 2 + ...) + (lane 1 + lane 3 + ...).
 *   - Then one or two threads add each slice to its chain at once, for two copies of the gradient
 *     instead of P: a tile of dW is a product from +0, added as it is stored, and what is no weight
 *     is made apart and added. That is the same sum as long as a weight is one product of at most
 *     VIT_ONE_BLOCK rows.
 *   - A network too large for P copies has fewer lanes, or one; then the threads share the tiles
 *     and heads inside each operator.
 */
#ifndef VIT_TRAIN_STEP_LANES_H
#define VIT_TRAIN_STEP_LANES_H

#include "vit/model/parameters.h"
#include "vit/train/step/adamw.h"
#include <stdatomic.h>

#define VIT_MOST_LANES 8

typedef struct vit_lanes {
    size_t slice, slices; /* pictures of a slice, slices of a batch */
    size_t count,
        chains;        /* P, with chains where slices are added at once; what lanes are summed in */
    bool adds;         /* each slice is added to its chain at once */
    size_t workers;    /* slices at a time */
    int inner_threads; /* of each of them, inside an operator */
    size_t copies;     /* of the gradient */
    const vit_table *trained;
    float *gradients;     /* [copies][table size]; of slices that are added at once, the second half
                             is for what is no weight */
    vit_gradients *views; /* [count][2]: for the lane's first slice, for the others */
    atomic_size_t next[VIT_MOST_LANES]; /* of each lane: the slice to run, or TAKEN */
} vit_lanes;

/* Pictures of a slice of a batch of a network whose parameters are `table`. */
size_t vit_lanes_slice(const vit_config *config, const vit_table *table, size_t batch);

/* Sizes and counts; `lanes` owns nothing yet. */
void vit_lanes_plan(vit_lanes *lanes, const vit_config *config, const vit_table *table,
                    size_t batch, int threads);

/* The memory. `trained`: those rows of the table that get gradients; it must outlive the lanes. */
vit_status vit_lanes_new(vit_lanes *lanes, const vit_config *config, const vit_table *table,
                         const vit_table *trained, vit_error *error);
void vit_lanes_free(vit_lanes *lanes);

/* Calls run(slice, worker, gradients, context) once for every slice; it adds the slice's gradient
 * to `gradients`. worker < lanes->workers. */
typedef void vit_run_slice(size_t slice, size_t worker, const vit_gradients *gradients,
                           void *context);
void vit_lanes_run(vit_lanes *lanes, const vit_kernels *kernels, vit_run_slice *run, void *context);

/* gradients: [lanes][table size]; lane 0 becomes the sum of `chains` chains, of which number i is
 * ((lane i + lane i + chains) + lane i + 2 chains) + ... Returns the Euclidean norm: the chunks'
 * sums added in double, in table order. */
double vit_sum_lanes(vit_chunks *chunks, const vit_kernels *kernels, int threads, float *gradients,
                     size_t lanes, size_t chains);

#endif
