#include "vit/cli/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t received;

static void on_signal(int number) {
    if (received != 0) {
        _exit(128 + number);
    }
    received = number;
}

/* Calls under way go on (SA_RESTART): a checkpoint being written is finished. */
void vit_interrupt_catch(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int vit_interrupted(void) {
    return received;
}
