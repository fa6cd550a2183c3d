/* Ranks: processes of one program that compute together, on one machine or on several, numbered
 * from 0. vit/cluster.h has vit_cluster_open, _rank, _size and _close. A NULL cluster is one
 * process alone: every function here then returns at once.
 *
 * Messages go between pairs of ranks (wire.h); all that is added is added by our own code, in an
 * order that does not depend on the number of ranks. All ranks call the same functions in the same
 * order, each from the thread that opened the cluster. Every function fails with IO, naming rank
 * and host, if another rank cannot be reached any more; after that the cluster can only be closed.
 */
#ifndef VIT_CLUSTER_CLUSTER_H
#define VIT_CLUSTER_CLUSTER_H

#include "vit/base/error.h"

/* What went over the wire so far, from and to this rank, and the seconds in which this rank did
 * nothing but communicate, or wait for others to do so. */
typedef struct vit_traffic {
    uint64_t sent, received; /* bytes */
    uint64_t beside;         /* of `sent`, while this rank computed */
    double seconds;
} vit_traffic;

vit_traffic vit_cluster_traffic(const vit_cluster *c);

/* Whether other threads of this rank compute from now on. Then waiting leaves the processors to
 * them at once, and is not counted. From any thread. */
void vit_cluster_computes(vit_cluster *c, bool computes);

/* How many ranks, this one included, may use the same processors of one machine as this one. */
int vit_cluster_sharing(const vit_cluster *c);

/* Whether all ranks are on one machine, by its name. */
bool vit_cluster_one_machine(const vit_cluster *c);

/* "rank 2 (node7)"; the cluster's own text. */
const char *vit_cluster_name(const vit_cluster *c, int rank);

/* Sends to, or receives from, one rank; the other one calls the other function with the same size.
 */
vit_status vit_cluster_send(vit_cluster *c, const void *data, size_t bytes, int to,
                            vit_error *error);
vit_status vit_cluster_receive(vit_cluster *c, void *data, size_t bytes, int from,
                               vit_error *error);

/* Rank 0's bytes for all. */
vit_status vit_cluster_broadcast(vit_cluster *c, void *data, size_t bytes, vit_error *error);

/* Returns when all ranks have called it. */
vit_status vit_cluster_barrier(vit_cluster *c, vit_error *error);

/* values[i] becomes the sum of all ranks' values[i]. Only for sums that are exact in any order: of
 * whole numbers, or where at most one rank has a value other than 0. */
vit_status vit_cluster_sum(vit_cluster *c, double *values, size_t count, vit_error *error);

/* Block r of data, the bytes at[r] .. at[r + 1] - 1, is rank r's: afterwards all ranks have all
 * blocks. at: [size + 1], ascending. */
vit_status vit_cluster_share(vit_cluster *c, void *data, const size_t *at, vit_error *error);

/* The same, but only rank 0 has all blocks afterwards. */
vit_status vit_cluster_gather(vit_cluster *c, void *data, const size_t *at, vit_error *error);

/* Whether all ranks come here with VIT_OK. If not, all return the status of the first that does
 * not, with its sentence and its name; vit_cluster_reports is then true on rank 0 alone. */
vit_status vit_cluster_agree(vit_cluster *c, vit_status status, vit_error *error);

/* All ranks return rank 0's status and sentence; the work goes on whatever it is. */
vit_status vit_cluster_follow(vit_cluster *c, vit_status status, vit_error *error);

/* A fold: numbers of the ranks are added one after the other. Ranks 0, 1, ... up to `meet` have the
 * terms of a first sum, in this order; ranks size - 1, size - 2, ... down to `meet` those of a
 * second one. Partial sums are handed from rank to rank in pieces, both sums are added where they
 * meet, and the result goes back the same ways:
 *
 *     rank 0 -> rank 1 -> ... -> meet <- ... <- rank size - 1
 *
 * For a single sum, meet is size - 1. The pieces go from the last number to the first, as a
 * backward pass computes gradients:
 *
 *     for (vit_fold_begin(...); vit_fold_next(fold, &first);) {
 *         ... until this rank has its terms from `first` on ...
 *         vit_fold_piece(fold, error);
 *     }
 *     vit_fold_end(fold, error);
 */
typedef struct vit_fold vit_fold;

/* Memory for folds of `count` numbers. bf16: all sums are numbers of bfloat16, and travel in 16
 * bits. *out is to be freed by vit_fold_free; NULL after an error. */
vit_status vit_fold_new(vit_fold **out, vit_cluster *c, size_t count, int meet, bool bf16,
                        vit_error *error);
void vit_fold_free(vit_fold *fold); /* takes NULL */

/* Numbers first .. first + count - 1 of this rank's terms are added to what came before: `low`, a
 * part of the first sum, and `high`, one of the second; NULL: nothing came. Both may be written
 * to. Returns where the sum of all these is: low, high, or memory of the caller's that stays as it
 * is until the result comes. */
typedef const float *vit_fold_add(float *low, float *high, size_t first, size_t count,
                                  void *context);

/* result: [count], on all ranks, after vit_fold_end. It may be the caller's terms. */
vit_status vit_fold_begin(vit_fold *fold, float *result, vit_fold_add *add, void *context,
                          vit_error *error);

/* The first number of the piece that vit_fold_piece adds and hands on next; false: there is none
 * left. */
bool vit_fold_next(const vit_fold *fold, size_t *first);
vit_status vit_fold_piece(vit_fold *fold, vit_error *error);

/* Adds what is left, and returns when all results are here. */
vit_status vit_fold_end(vit_fold *fold, vit_error *error);

#endif
