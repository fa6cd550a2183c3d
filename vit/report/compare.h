/* Several trainings on a page: their curves, their figures, and which of them have one recipe. */
#ifndef VIT_REPORT_COMPARE_H
#define VIT_REPORT_COMPARE_H

#include "vit/report/log.h"

/* Writes the page as vit_report_write does. names, group: [count] of the logs; titles: [groups].
 * Errors: IO, MEMORY. */
vit_status vit_compare_write(const char *path, const vit_log *logs, const char *const *names,
                             size_t count, const size_t *group, const char *const *titles,
                             size_t groups, vit_error *error);

#endif
