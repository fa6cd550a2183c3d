/* vit/compare.h - several trainings side by side: which have one recipe, and a page of them all.
 *
 *     const char *logs[] = {"a.jsonl", "b.jsonl", "c.jsonl"};
 *     const vit_comparison_options options = {.logs = logs, .count = 3, .out = "runs.html"};
 *     if (vit_write_comparison(&options, &error) != VIT_OK)
 *         fprintf(stderr, "%s\n", error.message);
 */
#ifndef VIT_COMPARE_H
#define VIT_COMPARE_H

#include "vit/vit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Trainings by their recipe: those of a group differ in the seed alone. */
typedef struct vit_run_groups {
    size_t runs, count; /* of trainings, and of groups */
    size_t *group;      /* [runs] the group of each; groups are in the order of their first */
    char **titles;      /* [count] what a group has that others have not: "lr 0.002, batch 64"; ""
                           for one group alone */
} vit_run_groups;

/* Groups trainings by the recipes of their logs; those without one by preset, data and number of
 * steps. Freed by vit_run_groups_clear. Errors: MEMORY. */
VIT_API vit_status vit_group_runs(vit_run_groups *out, const vit_log_summary *runs, size_t count,
                                  vit_error *error);
VIT_API void vit_run_groups_clear(vit_run_groups *groups);

typedef struct vit_comparison_options {
    const char *const *logs; /* [count] JSON lines, as vit-train --log writes them; 2 or more */
    size_t count;
    const char *out; /* the page: one HTML file. An existing file that is no page of a training is
                        not replaced: VIT_ERROR_MISMATCH */
} vit_comparison_options;

/* Writes a page with the curves of all trainings, and their figures with means by recipe. */
VIT_API vit_status vit_write_comparison(const vit_comparison_options *options, vit_error *error);

#ifdef __cplusplus
}
#endif

#endif
