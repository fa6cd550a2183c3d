/* Errors: a status for the program, one sentence for the person (vit/vit.h lists the statuses).
 *
 *     if (width > limit)
 *         return vit_fail(error, VIT_ERROR_FORMAT, "%s: width is %zu, expected at most %zu",
 *                         path, width, limit);
 */
#ifndef VIT_BASE_ERROR_H
#define VIT_BASE_ERROR_H

#include "vit/vit.h"

/* Writes the sentence into `error` (ignored when NULL) and returns `status`. */
vit_status vit_fail(vit_error *error, vit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, with the system's reason for `number` (an errno value) after the sentence. */
vit_status vit_fail_errno(vit_error *error, int number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "out of memory: WHAT needs N bytes". */
vit_status vit_fail_memory(vit_error *error, const char *what, size_t bytes);

/* Puts "PREFIX: " in front of a message that is already there; returns error's status, or
 * `status` when error is NULL. */
vit_status vit_fail_prefix(vit_error *error, vit_status status, const char *prefix);

#endif
