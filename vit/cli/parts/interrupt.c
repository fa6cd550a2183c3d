#include "vit/cli/parts/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t received, grace; /* grace: seconds; 0: any number */

static void on_alarm(int number) {
    _exit(128 + (received != 0 ? received : number));
}

static void on_signal(int number) {
    if (number == SIGUSR1 && received != 0) return; /* it may come from several sides */
    if (received != 0) _exit(128 + number);
    received = number == SIGUSR1 ? SIGTERM : number;
#ifndef _WIN32
    if (grace > 0) alarm((unsigned)grace);
#endif
}

/* System calls go on (SA_RESTART), so that a checkpoint that is being written is finished. Signals
 * are ignored from the start under nohup, and SIGINT in a background job of a shell without job
 * control: these stay ignored. */
void vit_interrupt_catch(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, inherited;
        sigemptyset(&action.sa_mask);
        if (sigaction(signals[i], NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void vit_interrupt_ends_within(unsigned seconds) {
#ifndef _WIN32
    struct sigaction action = {.sa_handler = on_alarm};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    grace = (sig_atomic_t)seconds;
#else
    (void)seconds, (void)on_alarm;
#endif
}

int vit_interrupted(void) {
    return received;
}
