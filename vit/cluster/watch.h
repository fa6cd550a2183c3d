/* Watches whether the other ranks are alive, beside the messages of MPI, which waits for a dead
 * rank for ever: a thread of each rank holds a TCP connection to rank 0, over which both send a
 * sign of life every few seconds. A connection that ends, or is silent for half a minute, is lost,
 * and rank 0 tells all others which. */
#ifndef VIT_CLUSTER_WATCH_H
#define VIT_CLUSTER_WATCH_H

#include "vit/base/error.h"

typedef struct vit_watch vit_watch;

/* Where rank 0 waits for the connections, for vit_watch_join of the others. */
typedef struct vit_watch_place {
    char addresses[16][48]; /* numeric, of its interfaces; "" ends them */
    uint16_t port;
    uint8_t secret[16]; /* the others show it */
} vit_watch_place;

/* On rank 0: begins to listen. Then vit_watch_accept waits until all others have joined. */
vit_status vit_watch_listen(vit_watch **out, vit_watch_place *place, int size, vit_error *error);
vit_status vit_watch_accept(vit_watch *watch, vit_error *error);

/* On the others. */
vit_status vit_watch_join(vit_watch **out, const vit_watch_place *place, int rank,
                          vit_error *error);

/* Starts the thread. */
vit_status vit_watch_start(vit_watch *watch, vit_error *error);

/* The rank that was lost; -1: none. From any thread. */
int vit_watch_lost(const vit_watch *watch);

/* Ends the thread, and tells the others that this rank ends as it should. Once all have, the
 * connections may end. Both take NULL. */
void vit_watch_leave(vit_watch *watch);
void vit_watch_free(vit_watch *watch);

#endif
