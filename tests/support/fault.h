/* Makes system calls fail. Every test program is linked so that the library's system calls
 * (FAULT_CALLS in the Makefile) go through tests/support/fault.c, which can make the n-th one fail:
 *
 *     for (long n = 1;; n++) {
 *         fault_arm(n);
 *         vit_status status = vit_read_file(&bytes, path, limit, &error);
 *         fault_disarm();
 *         if (fault_call() == NULL) break; // fewer than n calls: none failed
 *         assert_int_not_equal(status, VIT_OK);
 *     }
 *
 * While it is armed, the calls of the test itself count as well. Any thread may make the calls.
 */
#ifndef VIT_TESTS_SUPPORT_FAULT_H
#define VIT_TESTS_SUPPORT_FAULT_H

#include <stdbool.h>

/* From now on the n-th call fails, once, with an error that fits it: out of memory, disk full, ...
 * With n = 0 calls are only counted. */
void fault_arm(long n);
void fault_disarm(void);

/* The number of calls between fault_arm and fault_disarm. */
long fault_count(void);

/* The name of the call that failed since fault_arm, such as "write"; NULL: none has failed. */
const char *fault_call(void);

/* While on, read and write transfer at most 3 bytes at a time, and every second call of them fails
 * with EINTR, as if interrupted by a signal. */
void fault_trickle(bool on);

#endif
