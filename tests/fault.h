/* Failures on demand. Every test program is linked so that the library's calls of the system
 * (FAULT_CALLS in the Makefile) go through tests/fault.c, which can make the n-th one fail:
 *
 *     for (long n = 1;; n++) {
 *         fault_arm(n);
 *         vit_status status = vit_read_file(&bytes, path, limit, &error);
 *         fault_disarm();
 *         if (fault_call() == NULL) break; // fewer than n calls: none failed
 *         assert_int_not_equal(status, VIT_OK);
 *     }
 *
 * The calls of the test itself count too while it is armed. Any thread may make the calls.
 */
#ifndef VIT_TESTS_FAULT_H
#define VIT_TESTS_FAULT_H

#include <stdbool.h>

/* From now on the n-th call fails, once: out of memory, disk full or what else fits the call.
 * With n = 0 they are only counted. */
void fault_arm(long n);
void fault_disarm(void);

/* Calls since fault_arm, up to fault_disarm. */
long fault_count(void);

/* The name of the call that failed since fault_arm, such as "write"; NULL when none did. */
const char *fault_call(void);

/* While on, read and write transfer at most 3 bytes at a time, and every other call of them is
 * interrupted by a signal (EINTR). */
void fault_trickle(bool on);

#endif
