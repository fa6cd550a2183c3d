/* One process: there are no messages, and nobody to watch. */
#include "vit/cluster/launched.h"
#include "vit/cluster/watch.h"
#include "vit/cluster/wire.h"

const char *vit_wire_kind(void) {
    return "";
}

vit_status vit_wire_open(int *rank, int *size, vit_error *error) {
    *rank = 0;
    *size = 1;
    if (vit_launched_size() < 2) return VIT_OK;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "this is one of %d processes that were started together, but it was built "
                    "without MPI: build with make MPI=1, or start one process",
                    vit_launched_size());
}

void vit_wire_close(void) {
}

/* There is no cluster whose ranks could be ended. */
void vit_wire_abort(int exit_status) {
    (void)exit_status;
}

bool vit_wire_send(vit_message *out, const void *data, size_t bytes, int to) {
    (void)out, (void)data, (void)bytes, (void)to;
    return false;
}

bool vit_wire_receive(vit_message *out, void *data, size_t bytes, int from) {
    (void)out, (void)data, (void)bytes, (void)from;
    return false;
}

bool vit_wire_test(vit_message *message, bool *complete) {
    (void)message, (void)complete;
    return false;
}

vit_status vit_watch_listen(vit_watch **out, vit_watch_place *place, int size, vit_error *error) {
    *out = NULL;
    *place = (vit_watch_place){0};
    return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%d ranks without MPI", size);
}

vit_status vit_watch_join(vit_watch **out, const vit_watch_place *place, int rank,
                          vit_error *error) {
    (void)place;
    *out = NULL;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED, "rank %d without MPI", rank);
}

vit_status vit_watch_accept(vit_watch *watch, vit_error *error) {
    (void)watch;
    return vit_fail(error, VIT_ERROR_UNSUPPORTED, "ranks without MPI");
}

vit_status vit_watch_start(vit_watch *watch, vit_error *error) {
    return vit_watch_accept(watch, error);
}

int vit_watch_lost(const vit_watch *watch) {
    (void)watch;
    return -1;
}

void vit_watch_leave(vit_watch *watch) {
    (void)watch;
}

void vit_watch_free(vit_watch *watch) {
    (void)watch;
}
