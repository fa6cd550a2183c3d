/* Several trainings side by side: a table, with the mean and the standard deviation of what those
 * of one recipe reached. */
#ifndef VIT_CLI_TRAIN_RUNS_H
#define VIT_CLI_TRAIN_RUNS_H

#include "vit/cli/parts/program.h"
#include "vit/reports.h"

typedef struct vit_run {
    const char *name; /* of its log or its model */
    vit_log_summary summary;
} vit_run;

/* What the guest that compares trainings does; of the list `guests`. */
typedef struct vit_runs_guest {
    /* Print them: as a table; as members "runs" and "groups" of the object that is open, a group
     * for each recipe with "test_top1": {"mean", "deviation"} and so on, which of one recipe alone
     * are members of the object, too. A figure that not all of a group have is null. False, with a
     * message, if it could not be done. */
    bool (*text)(const vit_command *command, const vit_run *runs, size_t count);
    bool (*json)(const vit_command *command, vit_json_out *json, const vit_run *runs, size_t count);
} vit_runs_guest;

extern const vit_runs_guest *const vit_runs; /* NULL: there is none */

#endif
