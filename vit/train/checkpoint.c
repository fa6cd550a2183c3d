#include "vit/train/checkpoint.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/weights/model_file.h"
#include <stdio.h>
#include <string.h>

/* Arrays of a trainer: weights, moments and average. */
#define GROUPS 4

#define FILE_NAME "checkpoint.safetensors"

/* The identity as metadata, and what a person calls each part. */
enum { CONFIG, RECIPE, DATA, INIT, SEED, SCHEDULE, PARTS };
static const char *const keys[] = {"vit.config", "vit.train",    "vit.data", "vit.init",
                                   "vit.seed",   "vit.schedule", "vit.step"};
static const char *const what[] = {"network",      "recipe", "data (checksum)",
                                   "--init model", "seed",   "number of steps"};
VIT_CHECK_ROWS(keys, PARTS + 1); /* and the step */
VIT_CHECK_ROWS(what, PARTS);

typedef struct parts {
    char *text[PARTS]; /* all but DATA and INIT are owned */
    char numbers[3][32];
} parts;

static vit_status parts_new(parts *p, const vit_identity *identity, vit_error *error) {
    p->text[CONFIG] = vit_config_write(&identity->preset->config);
    p->text[RECIPE] = vit_recipe_write(&identity->preset->recipe);
    p->text[DATA] = (char *)identity->data;
    p->text[INIT] = (char *)identity->init;
    p->text[SEED] = p->numbers[0];
    p->text[SCHEDULE] = p->numbers[1];
    snprintf(p->numbers[0], sizeof p->numbers[0], "%llu", (unsigned long long)identity->seed);
    snprintf(p->numbers[1], sizeof p->numbers[1], "%llu", (unsigned long long)identity->schedule);
    if (p->text[CONFIG] && p->text[RECIPE]) return VIT_OK;
    return vit_fail_memory(error, "a checkpoint's description", 0);
}

static void parts_free(parts *p) {
    vit_free(p->text[CONFIG]);
    vit_free(p->text[RECIPE]);
}

/* ---- writing ---- */

static vit_status write_state(const char *path, const vit_trainer_state *s, parts *p,
                              vit_error *error) {
    const struct {
        const char *prefix;
        const vit_table *table;
        const float *values;
    } groups[GROUPS] = {{"", s->table, s->values},
                        {"adamw.m.", s->trained, s->m},
                        {"adamw.v.", s->trained, s->v},
                        {"ema.", s->table, s->average}};
    const size_t most = GROUPS * s->table->count;
    size_t count = 0;
    char *names[GROUPS] = {0};
    vit_metadata metadata[PARTS + 1];
    vit_status status = VIT_OK;
    vit_tensor *tensors = vit_alloc(most, sizeof *tensors);
    if (!tensors) return vit_fail_memory(error, "a checkpoint", most * sizeof *tensors);
    for (size_t i = 0; i < PARTS; i++) metadata[i] = (vit_metadata){keys[i], p->text[i]};
    snprintf(p->numbers[2], sizeof p->numbers[2], "%llu", (unsigned long long)s->step);
    metadata[PARTS] = (vit_metadata){keys[PARTS], p->numbers[2]};
    for (size_t i = 0; i < GROUPS && groups[i].values && status == VIT_OK; i++) {
        status = vit_table_tensors(tensors + count, &names[i], groups[i].table, groups[i].values,
                                   groups[i].prefix, error);
        count += groups[i].table->count;
    }
    if (status == VIT_OK)
        status = vit_safetensors_write(path, tensors, count, metadata, PARTS + 1, error);
    for (size_t i = 0; i < GROUPS; i++) vit_free(names[i]);
    vit_free(tensors);
    return status;
}

vit_status vit_checkpoint_save(char **path, const char *directory, vit_trainer *trainer,
                               const vit_identity *identity, vit_error *error) {
    parts p = {0};
    const vit_trainer_state state = vit_trainer_get(trainer);
    vit_status status = vit_make_directory(directory, error);
    *path = NULL;
    if (status != VIT_OK) return status;
    *path = vit_path_join(directory, FILE_NAME);
    if (!*path) return vit_fail_memory(error, directory, strlen(directory));
    status = parts_new(&p, identity, error);
    if (status == VIT_OK) status = write_state(*path, &state, &p, error);
    parts_free(&p);
    if (status != VIT_OK) {
        vit_free(*path);
        *path = NULL;
    }
    return status;
}

/* ---- reading ---- */

/* *file NULL and OK when there is none. */
static vit_status open_checkpoint(vit_safetensors **file, const char *directory, vit_error *error) {
    char *path = vit_path_join(directory, FILE_NAME);
    vit_status status = VIT_OK;
    *file = NULL;
    if (!path) return vit_fail_memory(error, directory, strlen(directory));
    if (vit_path_look(path) != VIT_PATH_NONE) status = vit_safetensors_open(file, path, error);
    vit_free(path);
    return status;
}

static vit_status read_number(uint64_t *value, const vit_safetensors *file, size_t key,
                              vit_error *error) {
    const char *text = vit_safetensors_metadata(file, keys[key]);
    if (text && vit_parse_u64(text, value)) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: its \"%s\" is %s, expected a whole number",
                    vit_safetensors_name(file), keys[key], text ? text : "missing");
}

vit_status vit_checkpoint_schedule(bool *found, uint64_t *schedule, const char *directory,
                                   vit_error *error) {
    vit_safetensors *file;
    *found = false;
    vit_status status = open_checkpoint(&file, directory, error);
    if (status != VIT_OK || !file) return status;
    status = read_number(schedule, file, SCHEDULE, error);
    *found = status == VIT_OK;
    vit_safetensors_close(file);
    return status;
}

static vit_status compare(const vit_safetensors *file, const parts *p, vit_error *error) {
    for (size_t i = 0; i < PARTS; i++) {
        const char *theirs = vit_safetensors_metadata(file, keys[i]);
        if (theirs && strcmp(theirs, p->text[i]) == 0) continue;
        return vit_fail(
            error, VIT_ERROR_MISMATCH,
            "%s belongs to another training: its %s is %.300s, this command's is %.300s",
            vit_safetensors_name(file), what[i], theirs && *theirs ? theirs : "missing",
            *p->text[i] ? p->text[i] : "none");
    }
    return VIT_OK;
}

static vit_status load_state(vit_trainer *trainer, const vit_safetensors *file, vit_error *error) {
    const vit_trainer_state s = vit_trainer_get(trainer);
    uint64_t step = 0;
    vit_status status = read_number(&step, file, PARTS, error);
    if (status == VIT_OK) status = vit_table_load(s.values, s.table, file, "", error);
    if (status == VIT_OK) status = vit_table_load(s.m, s.trained, file, "adamw.m.", error);
    if (status == VIT_OK) status = vit_table_load(s.v, s.trained, file, "adamw.v.", error);
    if (status == VIT_OK && s.average)
        status = vit_table_load(s.average, s.table, file, "ema.", error);
    if (status == VIT_OK) vit_trainer_changed(trainer, step);
    return status;
}

vit_status vit_checkpoint_load(vit_trainer *trainer, const char *directory,
                               const vit_identity *identity, vit_error *error) {
    parts p = {0};
    vit_safetensors *file;
    vit_status status = open_checkpoint(&file, directory, error);
    if (status != VIT_OK) return status;
    if (!file) return vit_fail(error, VIT_ERROR_IO, "%s holds no checkpoint", directory);
    status = parts_new(&p, identity, error);
    if (status == VIT_OK) status = compare(file, &p, error);
    if (status == VIT_OK) status = load_state(trainer, file, error);
    parts_free(&p);
    vit_safetensors_close(file);
    return status;
}
