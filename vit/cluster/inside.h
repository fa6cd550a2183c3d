/* What the files of this folder know of a cluster: messages that are on their way. */
#ifndef VIT_CLUSTER_INSIDE_H
#define VIT_CLUSTER_INSIDE_H

#include "vit/cluster/cluster.h"
#include "vit/cluster/wire.h"

/* As vit_wire_send and vit_wire_receive, at most VIT_WIRE_MOST bytes. */
vit_status vit_cluster_start_send(vit_cluster *c, vit_message *m, const void *data, size_t bytes,
                                  int to, vit_error *error);
vit_status vit_cluster_start_receive(vit_cluster *c, vit_message *m, void *data, size_t bytes,
                                     int from, vit_error *error);

/* Returns when the message is complete; at once for 0. peer: whose it is. */
vit_status vit_cluster_wait(vit_cluster *c, vit_message *m, int peer, vit_error *error);

/* The error for a rank that cannot be reached: the one that was lost, or `peer`. */
vit_status vit_cluster_fail(vit_cluster *c, int peer, vit_error *error);

/* Counts the time since then as communication. */
void vit_cluster_count(vit_cluster *c, double since);

#endif
