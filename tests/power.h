/* Power failures: what a disk has after one, at worst. While power is watched, tests/fault.c tells
 * of each call that changes the disk, and from the n-th on none does anything. Then the test has
 * the disk as it may be afterwards:
 *
 *     power_watch(n);
 *     ... what writes files ...
 *     bool gone = power_failed();
 *     power_restore(POWER_LOSES_DATA); // and goes on as the next process would
 */
#ifndef VIT_TESTS_POWER_H
#define VIT_TESTS_POWER_H

#include <stdbool.h>

/* What was not synced is lost: the data of a file alone (its name is there, it is empty, or zeros);
 * or also names, renamings and removals since their directory was synced. */
typedef enum power_loss { POWER_LOSES_DATA, POWER_LEAVES_ZEROS, POWER_LOSES_NAMES } power_loss;
#define POWER_LOSSES 3

/* Begins, forgetting what was before; the n-th change and all later ones fail, 0: none. Of the
 * files below the current directory; ".power" in it is where removed ones wait. */
void power_watch(long n);
bool power_failed(void);

/* Ends watching and loses what a failure now would lose. */
void power_restore(power_loss loss);

/* ---- for tests/fault.c ---- */

/* Whether the power is gone, so that this call must do nothing; counts the call. */
bool power_gone(void);
void power_opened(int fd, const char *path); /* for writing */
void power_wrote(int fd);
void power_synced(int fd);
void power_will_replace(const char *path); /* by rename or unlink */
void power_renamed(const char *from, const char *to);
void power_removed(const char *path);

#endif
