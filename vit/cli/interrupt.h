/* SIGINT, SIGTERM and SIGHUP, unless they are ignored: the first one asks the program to stop, a
 * second one ends it at once. */
#ifndef VIT_CLI_INTERRUPT_H
#define VIT_CLI_INTERRUPT_H

void vit_interrupt_catch(void);

/* The signal that came, or 0. A program that it stops exits with 128 + that number. */
int vit_interrupted(void);

#endif
