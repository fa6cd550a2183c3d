/* Dealing: the numbers 0 .. count - 1 go in chunks to whichever rank is free. A rank asks rank 0
 * for its next chunk before it begins with one, so that it need not wait for rank 0, which answers
 * between its own chunks. */
#ifndef VIT_CLUSTER_DEAL_H
#define VIT_CLUSTER_DEAL_H

#include "vit/cluster/cluster.h"

typedef struct vit_deal vit_deal;

/* All ranks, with the same count; until vit_deal_end they do nothing else together. A process alone
 * gets everything as one chunk. *out is to be closed by vit_deal_close; NULL after an error. */
vit_status vit_deal_open(vit_deal **out, vit_cluster *cluster, uint64_t count, vit_error *error);

/* The numbers *first .. *end - 1 are this rank's next; its chunks ascend. *first == *end: there are
 * no more. */
vit_status vit_deal_next(vit_deal *deal, uint64_t *first, uint64_t *end, vit_error *error);

/* Takes all chunks that are left, so that the others do not wait for a rank that has failed.
 * status: of what this rank did with its chunks. Returns it, or if it is OK what went wrong here.
 */
vit_status vit_deal_end(vit_deal *deal, vit_status status, vit_error *error);

/* On rank 0, after vit_deal_end: which rank had the chunk that begins at *first; *first becomes the
 * next chunk's, or count. */
int vit_deal_owner(const vit_deal *deal, uint64_t *first);

/* On all ranks, after vit_deal_end: data has `size` bytes for each number; every rank has those of
 * its own chunks, and afterwards all of them. */
vit_status vit_deal_unite(const vit_deal *deal, void *data, size_t size, vit_error *error);

/* Takes NULL. */
void vit_deal_close(vit_deal *deal);

#endif
