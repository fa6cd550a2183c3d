/* Runs a test in an empty directory of its own, as the current directory:
 *
 *     IN_DIRECTORY(test_something),    // among the tests of cmocka_run_group_tests
 */
#ifndef VIT_TESTS_SUPPORT_SCRATCH_H
#define VIT_TESTS_SUPPORT_SCRATCH_H

#include "vit/base/error.h"

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

/* The same in a file system in memory, if there is one: for tests that sync often. */
#define IN_MEMORY(test) cmocka_unit_test_setup_teardown(test, enter_memory, leave_directory)

int enter_directory(void **state);
int enter_memory(void **state);
int leave_directory(void **state);

/* Makes the directories of a path, up to its last '/'. */
void make_way(const char *path);

/* Write a file with these bytes, or this text, and make its directories. */
void put_bytes(const char *path, const void *bytes, size_t size);
void put_file(const char *path, const char *text);

/* The test fails unless the file is exactly this text, of at most 4000 bytes. */
void assert_content(const char *path, const char *expected);

/* The number of files in the current directory, hidden ones included. */
size_t count_entries(void);

/* The test fails unless the error has this status, and a message that contains `a` and `b`. */
void assert_says(const vit_error *error, vit_status status, const char *a, const char *b);

#endif
