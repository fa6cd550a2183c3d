/* Messages between ranks, as MPI has them. All of its calls are in wire_mpi.c. */
#ifndef VIT_CLUSTER_WIRE_H
#define VIT_CLUSTER_WIRE_H

#include "vit/base/error.h"

#define VIT_WIRE_MOST ((size_t)1 << 24) /* bytes of one message, at most */

/* A message that is on its way; 0: none. */
typedef uint64_t vit_message;

/* "Open MPI 4.1.4"; "": there are no messages. */
const char *vit_wire_kind(void);

/* Joins the ranks that a launcher started. *size is 1, and nothing else was done, if there was no
 * launcher. */
vit_status vit_wire_open(int *rank, int *size, vit_error *error);

/* Ends the messages of all ranks, which all call this. */
void vit_wire_close(void);

/* Ends the processes of all ranks at once, this one among them, through MPI. */
void vit_wire_abort(int exit_status);

/* Start a message; `data` belongs to it until it is complete. False if that is not possible. */
bool vit_wire_send(vit_message *out, const void *data, size_t bytes, int to);
bool vit_wire_receive(vit_message *out, void *data, size_t bytes, int from);

/* *complete = whether the message is, after which *message is 0. False: it is lost. */
bool vit_wire_test(vit_message *message, bool *complete);

#endif
