#include "vit/cli/serve/work/gate.h"

#include <errno.h>

#include "vit/cli/serve/work/moment.h"

void serve_gate_init(serve_gate *gate, size_t most, double timeout) {
    *gate = (serve_gate){.free = most, .timeout = timeout};
    pthread_mutex_init(&gate->lock, NULL);
}

void serve_gate_destroy(serve_gate *gate) {
    pthread_mutex_destroy(&gate->lock);
}

static void call_first(serve_gate *gate) {
    if (gate->free > 0 && gate->first) pthread_cond_signal(&gate->first->called);
}

static void remove_place(serve_gate *gate, const serve_gate_place *own) {
    serve_gate_place **link = &gate->first, *before = NULL;
    while (*link != own) before = *link, link = &before->next;
    *link = own->next;
    if (gate->last == own) gate->last = before;
}

/* Waits until it is the first and there is room; false: it took too long. The lock is held. */
static bool wait_for_turn(serve_gate *gate) {
    const struct timespec until = serve_moment(gate->timeout);
    serve_gate_place own = {.next = NULL};
    bool is_late = false;
    if (gate->free > 0 && !gate->first) return true;
    serve_condition_init(&own.called);
    if (gate->last)
        gate->last->next = &own;
    else
        gate->first = &own;
    gate->last = &own;
    while (!is_late && (gate->first != &own || gate->free == 0))
        is_late = pthread_cond_timedwait(&own.called, &gate->lock, &until) == ETIMEDOUT;
    is_late = is_late && (gate->first != &own || gate->free == 0);
    remove_place(gate, &own);
    pthread_cond_destroy(&own.called);
    return !is_late;
}

vit_status serve_gate_enter_some(size_t *some, serve_gate *gate, size_t most, vit_error *error) {
    pthread_mutex_lock(&gate->lock);
    const bool is_in = wait_for_turn(gate);
    *some = !is_in ? 0 : most < gate->free ? most : gate->free;
    gate->free -= *some;
    call_first(gate);
    pthread_mutex_unlock(&gate->lock);
    return is_in ? VIT_OK
                 : vit_fail(error, VIT_ERROR_CANCELLED,
                            "this request had to wait too long: try again later");
}

void serve_gate_leave_some(serve_gate *gate, size_t some) {
    pthread_mutex_lock(&gate->lock);
    gate->free += some;
    call_first(gate);
    pthread_mutex_unlock(&gate->lock);
}

vit_status serve_gate_enter(serve_gate *gate, vit_error *error) {
    size_t some;
    return serve_gate_enter_some(&some, gate, 1, error);
}

void serve_gate_leave(serve_gate *gate) {
    serve_gate_leave_some(gate, 1);
}
