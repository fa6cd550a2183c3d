/* Several trainings side by side: a table, with the mean and the standard deviation of what they
 * reached. */
#ifndef VIT_CLI_PARTS_RUNS_H
#define VIT_CLI_PARTS_RUNS_H

#include "vit/cli/parts/program.h"

typedef struct vit_run {
    const char *name; /* of its log or its model */
    vit_log_summary summary;
} vit_run;

/* Print them: as a table; as a member "runs" and one for each figure, "test_top1": {"mean",
 * "deviation"}, of the object that is open. A figure that not all of them have is null. */
bool vit_runs_text(const vit_command *command, const vit_run *runs, size_t count);
void vit_runs_json(vit_json_out *json, const vit_run *runs, size_t count);

#endif
