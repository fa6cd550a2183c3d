/* SIGINT, SIGTERM and SIGHUP: the first one asks the program to stop, a second one ends it at once.
 * SIGUSR1, which Slurm sends before the time is over and mpirun hands on, counts as SIGTERM. */
#ifndef VIT_CLI_PARTS_INTERRUPT_H
#define VIT_CLI_PARTS_INTERRUPT_H

/* From now on the signals are caught, except those that the program was started to ignore. */
void vit_interrupt_catch(void);

/* After a signal the program may go on for this many seconds; then it ends, whatever it does. */
void vit_interrupt_ends_within(unsigned seconds);

/* The number of the signal that came, or 0. A program that is stopped by it exits with 128 +
 * number.
 */
int vit_interrupted(void);

#endif
