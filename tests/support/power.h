/* Simulates power failures. While power is watched, tests/support/fault.c reports each system call
 * that changes the disk, and from the n-th on they have no effect. power_restore then leaves the
 * files as a disk may have them after a power failure, at worst:
 *
 *     power_watch(n);
 *     ... what writes files ...
 *     bool gone = power_failed();
 *     power_restore(POWER_LOSES_DATA); // and goes on as the next process would
 */
#ifndef VIT_TESTS_SUPPORT_POWER_H
#define VIT_TESTS_SUPPORT_POWER_H

#include <stdbool.h>

/* What was not synced is lost: only the data of files (the file is empty, or all zeros), or also
 * names, renamings and removals since their directory was synced. */
typedef enum power_loss { POWER_LOSES_DATA, POWER_LEAVES_ZEROS, POWER_LOSES_NAMES } power_loss;
#define POWER_LOSSES 3

/* Starts watching: the n-th change and all later ones fail, 0: none. Only for files in the current
 * directory, where removed files are kept in ".power". */
void power_watch(long n);

/* Whether the n-th change has come. */
bool power_failed(void);

/* Ends watching, and takes away what a failure now would lose. */
void power_restore(power_loss loss);

/* ---- for tests/support/fault.c ---- */

/* Counts a call; true: the power is gone, and the call must have no effect. */
bool power_gone(void);
/* A call that has succeeded; open: for writing. */
void power_opened(int fd, const char *path);
void power_wrote(int fd);
void power_synced(int fd);
void power_renamed(const char *from, const char *to);
void power_removed(const char *path);
/* rename or unlink is about to take this file away. */
void power_will_replace(const char *path);

#endif
