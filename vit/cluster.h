/* Several processes that compute together: a training or an evaluation on one machine or on many.
 *
 *     vit_cluster *cluster;
 *     if (vit_cluster_open(&cluster, &error) != VIT_OK) ...
 *     const vit_train_options options = {.data = "digits", .out = "m.safetensors",
 *                                        .cluster = cluster};
 *     vit_status status = vit_train(NULL, &options, &error);
 *     vit_cluster_close(cluster, status);
 *
 * The processes, called ranks and numbered from 0, are those that mpirun or srun started together.
 * They make the same calls with the same options, each from the thread that opened the cluster, and
 * share the work: the results have the same bytes for any number of them. Rank 0 writes the files.
 * docs/data-parallel.md has more; vit/vit.h includes this header.
 */
#ifndef VIT_CLUSTER_H
#define VIT_CLUSTER_H

#include "vit/vit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The MPI that the library was built with, "Open MPI 4.1.4"; "": none, a process is alone. */
VIT_API const char *vit_cluster_kind(void);

/* *out: the ranks that this process was started with, or NULL if it is alone. Once in a process,
 * before it makes files or threads. UNSUPPORTED if it was started as one of several, and the
 * library was built without MPI. */
VIT_API vit_status vit_cluster_open(vit_cluster **out, vit_error *error);

/* NULL stands for a process that is alone: 0 of 1. */
VIT_API int vit_cluster_rank(const vit_cluster *cluster);
VIT_API int vit_cluster_size(const vit_cluster *cluster);

/* Whether this rank is to tell the person about an error: of one that all ranks returned, only rank
 * 0 is. */
VIT_API bool vit_cluster_reports(const vit_cluster *cluster);

/* status: what the last call with the cluster returned. Waits for the other ranks. After an error
 * of this rank alone they would wait for it for ever: then it ends the processes of all ranks.
 * Takes NULL. */
VIT_API void vit_cluster_close(vit_cluster *cluster, vit_status status);

#ifdef __cplusplus
}
#endif

#endif
