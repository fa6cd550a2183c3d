/* The gate of the server lets threads in in the order in which they came, and
 * waits no longer than it may. */
#include "vit/cli/serve/work/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vit/base/sys.h"

enum { COUNT = 16 };
static serve_gate gate;
static int order[COUNT], entered;
static vit_status statuses[COUNT];

static void *pass(void *number) {
    vit_error error;
    const size_t i = (size_t)(uintptr_t)number;
    statuses[i] = serve_gate_enter(&gate, &error);
    if (statuses[i] != VIT_OK) return NULL;
    order[entered++] = (int)i; /* one thread is inside */
    serve_gate_leave(&gate);
    return NULL;
}

static size_t waiting(void) {
    size_t count = 0;
    pthread_mutex_lock(&gate.lock);
    for (const serve_gate_place *p = gate.first; p; p = p->next) count++;
    pthread_mutex_unlock(&gate.lock);
    return count;
}

/* All come while a thread is inside, which leaves when all wait, or when all gave up. */
static void crowd(double seconds, bool gives_up) {
    pthread_t threads[COUNT];
    vit_error error;
    entered = 0;
    serve_gate_init(&gate, 1, seconds);
    assert_int_equal(serve_gate_enter(&gate, &error), VIT_OK);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, pass, (void *)(uintptr_t)i), 0);
        while (!gives_up && waiting() <= i) vit_nap(.001);
    }
    if (!gives_up) serve_gate_leave(&gate);
    for (size_t i = 0; i < COUNT; i++) pthread_join(threads[i], NULL);
    if (gives_up) serve_gate_leave(&gate);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(statuses[i], gives_up ? VIT_ERROR_CANCELLED : VIT_OK);
    assert_int_equal(gate.free, 1);
    assert_null(gate.first);
    serve_gate_destroy(&gate);
}

static void test_in_order(void **state) {
    (void)state;
    crowd(60, false);
    assert_int_equal(entered, COUNT);
    for (int i = 0; i < COUNT; i++) assert_int_equal(order[i], i);
}

static void test_too_late(void **state) {
    (void)state;
    crowd(.02, true);
    assert_int_equal(entered, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_too_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
