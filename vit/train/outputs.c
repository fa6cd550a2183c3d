/* Finds out before the first step what would otherwise fail after hours: whether model and
 * checkpoints can be written, and whether the files that are already there may be replaced. */
#include "vit/base/sys.h"
#include "vit/formats/json.h"
#include "vit/train/run.h"
#include <string.h>

/* Opens the file and reserves `size` bytes, which stay taken until *writer is aborted. */
static vit_status try_write(vit_writer **writer, const char *path, size_t size, vit_error *error) {
    const vit_status status = vit_writer_open(writer, path, error);
    return status == VIT_OK ? vit_writer_reserve(*writer, size, error) : status;
}

/* Whether recipe `theirs`, JSON as `ours`, is of this training, perhaps of an earlier step of it.
 * The number of steps does not count where it follows from --minutes or was extended. */
static bool same_training(const vit_run *run, const char *theirs, const char *ours) {
    json_t *a, *b;
    if (vit_json_parse(&a, theirs, strlen(theirs), "", NULL) != VIT_OK) return false;
    if (vit_json_parse(&b, ours, strlen(ours), "", NULL) != VIT_OK) {
        json_decref(a);
        return false;
    }
    static const char *const free_keys[] = {"steps", "best_step", "schedule_steps"};
    const bool any_schedule = run->options->minutes > 0 || run->history.extended_at > 0;
    json_object_del(a, "extended");
    json_object_del(b, "extended");
    for (size_t i = 0; i < (any_schedule ? 3 : 2); i++) {
        json_object_del(a, free_keys[i]);
        json_object_del(b, free_keys[i]);
    }
    const bool same = json_equal(a, b);
    json_decref(a);
    json_decref(b);
    return same;
}

vit_status vit_run_check_out(const vit_run *run, vit_error *error) {
    const char *path = run->options->out;
    vit_error why = {0};
    vit_bytes bytes;
    vit_tensors *file;
    if (vit_path_look(path) != VIT_PATH_FILE) return VIT_OK;
    vit_status status = vit_map_file(&bytes, path, error);
    if (status != VIT_OK) return status;
    const bool empty = bytes.size == 0; /* as mktemp makes them */
    vit_unmap_file(&bytes);
    if (empty) return VIT_OK;
    if (vit_tensors_open(&file, path, &why) != VIT_OK)
        return vit_fail(error, VIT_ERROR_IO,
                        "%s exists and is no model (%.300s): it is not replaced, name another file",
                        path, why.message);
    const char *theirs = vit_tensors_metadata(file, "vit.recipe");
    char *ours = vit_run_recipe(run, vit_run_step(run));
    if (!ours) status = vit_fail_memory(error, "the recipe", 0);
    if (ours && !run->options->overwrite && !(theirs && same_training(run, theirs, ours)))
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "%s exists and was not made by this same training: name another file, or "
                          "replace it (--overwrite)",
                          path);
    vit_free(ours);
    vit_tensors_close(file);
    return status;
}

/* Checkpoints that the directory holds at once, at most: the last two, the best, and a new one. */
#define MOST_CHECKPOINTS 4

static vit_status try_checkpoint(const vit_run *run, vit_writer **writer, vit_error *error) {
    const size_t there = run->saving.checkpoints.count, size = vit_checkpoint_size(run->trainer);
    const size_t more = there < MOST_CHECKPOINTS ? MOST_CHECKPOINTS - there : 1;
    char *path = vit_path_join(run->options->checkpoint, VIT_CHECKPOINT_NEW);
    if (!path) return vit_fail_memory(error, "a file name", strlen(run->options->checkpoint));
    vit_status status = vit_remove_file(path, error); /* left by a process that was killed */
    if (status == VIT_OK) status = try_write(writer, path, more * size, error);
    vit_free(path);
    return status;
}

vit_status vit_run_try_outputs(vit_run *run, vit_error *error) {
    const vit_train_options *o = run->options;
    const size_t size = vit_trainer_get(run->trainer).table->parameters * sizeof(float);
    const bool more = vit_run_step(run) < run->plan.steps;
    vit_writer *model = NULL, *checkpoints = NULL;
    vit_status status = o->out ? vit_run_check_out(run, error) : VIT_OK;
    if (status == VIT_OK && o->out) status = try_write(&model, o->out, size, error);
    if (status == VIT_OK && o->checkpoint && more)
        status = try_checkpoint(run, &checkpoints, error);
    vit_writer_abort(model);
    vit_writer_abort(checkpoints);
    return status;
}
