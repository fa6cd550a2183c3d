#include "vit/train/checkpoint.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/formats/json.h"
#include "vit/formats/json_out.h"
#include "vit/tensors/checksum.h"
#include "vit/tensors/safetensors.h"
#include "vit/weights/file/model_file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define GROUPS 4 /* arrays of a trainer: weights, first and second moments, average */

#define OLD_NAME "checkpoint.safetensors" /* as version 0.1 wrote it */
#define LOCK_NAME "lock"
#define KEPT 2 /* newest checkpoints */

/* Keys of the metadata: first the parts of the identity, with their names in messages, then the
 * rest. */
enum {
    CONFIG,
    RECIPE,
    DATA,
    INIT,
    TEACHER,
    SEED,
    SCHEDULE,
    PARTS,
    STEP = PARTS,
    HISTORY,
    CHECKSUM,
    KEYS
};
static const char *const keys[] = {"vit.config",  "vit.train",     "vit.data",     "vit.init",
                                   "vit.teacher", "vit.seed",      "vit.schedule", "vit.step",
                                   "vit.history", VIT_CHECKSUM_KEY};
static const char *const what[] = {"network",   "recipe", "data (checksum)", "--init model",
                                   "--teacher", "seed",   "number of steps"};
VIT_CHECK_ROWS(keys, KEYS);
VIT_CHECK_ROWS(what, PARTS);

/* Metadata of a model file: with it, a checkpoint can be used as a model. */
enum { PREPROCESSING, ORIGIN, LABELS, MODEL_KEYS };
static const char *const model_keys[] = {"vit.preprocessing", "vit.recipe", "vit.labels"};
VIT_CHECK_ROWS(model_keys, MODEL_KEYS);

typedef struct parts {
    char *text[PARTS];       /* CONFIG and RECIPE are owned */
    char numbers[2][32];     /* seed and schedule as text */
    char *model[MODEL_KEYS]; /* PREPROCESSING and LABELS are owned; NULL: not written */
} parts;

static vit_status parts_new(parts *p, const vit_identity *identity, vit_error *error) {
    p->text[CONFIG] = vit_config_write(&identity->preset->config);
    p->text[RECIPE] = vit_recipe_write(&identity->preset->recipe);
    p->text[DATA] = (char *)identity->data;
    p->text[INIT] = (char *)identity->init;
    p->text[TEACHER] = identity->teacher ? (char *)identity->teacher : "";
    p->text[SEED] = p->numbers[0];
    p->text[SCHEDULE] = p->numbers[1];
    snprintf(p->numbers[0], sizeof p->numbers[0], "%llu", (unsigned long long)identity->seed);
    snprintf(p->numbers[1], sizeof p->numbers[1], "%llu", (unsigned long long)identity->schedule);
    bool fine = p->text[CONFIG] && p->text[RECIPE];
    const vit_model_file *m = identity->model;
    if (m) {
        p->model[PREPROCESSING] = vit_preprocessing_write(&m->preprocessing);
        p->model[ORIGIN] = m->recipe;
        if (m->labels) p->model[LABELS] = vit_model_file_labels(m);
        fine = fine && p->model[PREPROCESSING] && (!m->labels || p->model[LABELS]);
    }
    return fine ? VIT_OK : vit_fail_memory(error, "a checkpoint's description", 0);
}

static void parts_free(parts *p) {
    vit_free(p->text[CONFIG]);
    vit_free(p->text[RECIPE]);
    vit_free(p->model[PREPROCESSING]);
    vit_free(p->model[LABELS]);
}

static vit_status join(char **path, const char *directory, const char *name, vit_error *error) {
    *path = vit_path_join(directory, name);
    return *path ? VIT_OK : vit_fail_memory(error, directory, strlen(directory));
}

static vit_status step_path(char **path, const vit_checkpoints *c, uint64_t step,
                            vit_error *error) {
    char name[64];
    snprintf(name, sizeof name, "checkpoint-%012llu.safetensors", (unsigned long long)step);
    return join(path, c->directory, name, error);
}

/* ---- the directory ---- */

static bool parse_name(const char *name, uint64_t *step) {
    char again[64], digits[32] = {0};
    if (strncmp(name, "checkpoint-", 11) != 0) return false;
    const size_t length = strspn(name + 11, "0123456789");
    if (length < 12 || length >= sizeof digits) return false;
    memcpy(digits, name + 11, length);
    if (!vit_parse_u64(digits, step)) return false;
    snprintf(again, sizeof again, "checkpoint-%012llu.safetensors", (unsigned long long)*step);
    return strcmp(name, again) == 0;
}

/* Adds an entry, keeping steps ascending; one of the same step is replaced. */
static vit_status add_entry(vit_checkpoints *c, uint64_t step, bool stale, vit_error *error) {
    size_t at = 0;
    while (at < c->count && c->entries[at].step < step) at++;
    if (at == c->count || c->entries[at].step != step) {
        if (!VIT_MAKE_ROOM(c->entries, c->count, c->capacity, "the list of checkpoints", error))
            return VIT_ERROR_MEMORY;
        memmove(c->entries + at + 1, c->entries + at, (c->count - at) * sizeof *c->entries);
        c->count++;
    }
    c->entries[at] = (vit_checkpoint_entry){step, stale};
    return VIT_OK;
}

static vit_status list(vit_checkpoints *c, vit_error *error) {
    char **names;
    size_t count;
    uint64_t step;
    vit_status status = vit_list_directory(&names, &count, c->directory, error);
    c->count = 0;
    c->has_old = false;
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        c->has_old = c->has_old || strcmp(names[i], OLD_NAME) == 0;
        if (parse_name(names[i], &step)) status = add_entry(c, step, false, error);
    }
    vit_free(names);
    return status;
}

/* Makes, locks and lists the directory, unless this process still holds its lock: it may have been
 * removed during the training. */
static vit_status enter(vit_checkpoints *c, vit_error *error) {
    char *path;
    vit_status status = join(&path, c->directory, LOCK_NAME, error);
    if (status != VIT_OK) return status;
    if (!vit_lock_holds(c->lock, path)) {
        vit_lock_drop(c->lock);
        c->lock = -1;
        status = vit_make_directories(c->directory, error);
        if (status == VIT_OK) status = vit_sync_place(c->directory, error);
        if (status == VIT_OK) status = vit_lock_take(&c->lock, path, error);
        if (status == VIT_OK) status = list(c, error);
    }
    vit_free(path);
    return status;
}

vit_status vit_checkpoints_open(vit_checkpoints *c, const char *directory, vit_error *error) {
    *c = (vit_checkpoints){.lock = -1, .directory = vit_strdup(directory)};
    if (!c->directory) return vit_fail_memory(error, directory, strlen(directory));
    return enter(c, error);
}

void vit_checkpoints_close(vit_checkpoints *c) {
    if (c->directory) vit_lock_drop(c->lock);
    vit_free(c->directory);
    vit_free(c->entries);
    *c = (vit_checkpoints){.lock = -1};
}

void vit_checkpoints_replace(vit_checkpoints *c) {
    for (size_t i = 0; i < c->count; i++) c->entries[i].stale = true;
}

/* ---- reading ---- */

void vit_checkpoint_close(vit_checkpoint *checkpoint) {
    vit_tensors_close(checkpoint->file);
    vit_unmap_file(&checkpoint->bytes);
    vit_free(checkpoint->path);
    *checkpoint = (vit_checkpoint){0};
}

static vit_status read_number(uint64_t *value, const vit_tensors *file, size_t key,
                              vit_error *error) {
    const char *text = vit_tensors_metadata(file, keys[key]);
    if (text && vit_parse_u64(text, value)) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: its \"%s\" is %s, expected a whole number",
                    vit_tensors_name(file), keys[key], text ? text : "missing");
}

/* Opens and verifies; takes ownership of `path`. */
static vit_status open_path(vit_checkpoint *out, char *path, vit_error *error) {
    *out = (vit_checkpoint){.path = path};
    vit_status status = vit_map_file(&out->bytes, path, error);
    if (status == VIT_OK)
        status = vit_checksum_verify(out->bytes.data, out->bytes.size, path, error);
    if (status == VIT_OK)
        status = vit_tensors_parse(&out->file, out->bytes.data, out->bytes.size, path, error);
    if (status == VIT_OK) status = read_number(&out->step, out->file, STEP, error);
    if (status == VIT_OK) status = read_number(&out->schedule, out->file, SCHEDULE, error);
    if (status == VIT_OK && out->step > out->schedule)
        status =
            vit_fail(error, VIT_ERROR_FORMAT, "%s: it is of step %llu of a schedule of %llu steps",
                     path, (unsigned long long)out->step, (unsigned long long)out->schedule);
    if (status != VIT_OK) vit_checkpoint_close(out);
    return status;
}

vit_status vit_checkpoints_at(vit_checkpoint *out, const vit_checkpoints *c, uint64_t step,
                              bool *missing, vit_error *error) {
    char *path;
    bool exists;
    *out = (vit_checkpoint){0};
    *missing = false;
    vit_status status = step_path(&path, c, step, error);
    if (status == VIT_OK) status = vit_path_exists(&exists, path, error);
    if (status == VIT_OK) {
        status = open_path(out, path, error);
        *missing = !exists || status == VIT_ERROR_FORMAT;
    } else {
        vit_free(path);
    }
    return status;
}

vit_status vit_checkpoints_newest(vit_checkpoint *out, vit_checkpoints *c, uint64_t most,
                                  vit_checkpoint_skipped *skipped, void *context,
                                  vit_error *error) {
    vit_error why = {0};
    size_t tried = 0;
    bool missing;
    *out = (vit_checkpoint){0};
    for (size_t i = c->count; i-- > 0;) {
        if (c->entries[i].step > most) continue;
        const vit_status status = vit_checkpoints_at(out, c, c->entries[i].step, &missing, &why);
        if (status == VIT_OK) return VIT_OK;
        if (status == VIT_ERROR_MEMORY) return vit_fail(error, status, "%s", why.message);
        if (!missing)
            return vit_fail(error, status, "%s; make it readable, or move it away to do without it",
                            why.message);
        tried++;
        c->entries[i].stale = true;
        if (skipped) skipped(why.message, context);
    }
    if (tried > 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: none of its %zu checkpoints can be used; the last reason: %s",
                        c->directory, tried, why.message);
    if (c->has_old)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s/" OLD_NAME " is of version 0.1, without a checksum, and cannot be gone "
                        "on from: move it away to start afresh",
                        c->directory);
    return VIT_OK;
}

/* ---- which training it belongs to ---- */

/* The keys whose values differ between two JSON objects, with both values, as a text; {0}: none, or
 * these are no JSON objects. */
static vit_string differing_keys(const char *theirs, const char *ours) {
    vit_string t = {0};
    const char *key;
    json_t *a, *b, *value;
    if (vit_json_parse(&a, theirs, strlen(theirs), "", NULL) != VIT_OK) return t;
    if (vit_json_parse(&b, ours, strlen(ours), "", NULL) != VIT_OK) {
        json_decref(a);
        return t;
    }
    json_t *either = json_copy(a);
    json_object_update_missing(either, b);
    json_object_foreach(either, key, value) {
        json_t *was = json_object_get(a, key), *is = json_object_get(b, key);
        if (was && is && json_equal(was, is)) continue;
        char *before = was ? json_dumps(was, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
        char *now = is ? json_dumps(is, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
        vit_string_add(&t, "%s\"%s\" is %.60s, this command's is %.60s", t.length > 0 ? "; " : "",
                       key, before ? before : "not there", now ? now : "not there");
        free(before);
        free(now);
    }
    json_decref(either);
    json_decref(a);
    json_decref(b);
    return t;
}

/* MISMATCH: this part of the identity differs, `theirs` is the checkpoint's. */
static vit_status fail_mismatch(const vit_checkpoint *c, size_t part, const char *theirs,
                                const char *ours, vit_error *error) {
    vit_string text = {0};
    if (theirs && part <= RECIPE) text = differing_keys(theirs, ours);
    if (text.length > 0 && !text.failed)
        vit_fail(error, VIT_ERROR_MISMATCH, "%s belongs to another training: in its %s %.700s%s",
                 c->path, what[part], text.text,
                 strstr(text.text, "not there")
                     ? "; a key that is not there is one of another version of vit: continue with "
                       "that one, or begin anew (--overwrite, without --resume)"
                     : "");
    else
        vit_fail(error, VIT_ERROR_MISMATCH,
                 "%s belongs to another training: its %s is %.300s, this command's is %.300s",
                 c->path, what[part], theirs && *theirs ? theirs : "missing",
                 *ours ? ours : "none");
    vit_string_free(&text);
    return VIT_ERROR_MISMATCH;
}

/* The names of the classes must be the same in the same order: the data's checksum is not theirs.
 */
static vit_status compare_classes(const vit_checkpoint *c, const vit_classes *classes,
                                  vit_error *error) {
    const char *theirs = vit_tensors_metadata(c->file, model_keys[LABELS]);
    const vit_model_file m = {.labels = (char **)(uintptr_t)classes->names,
                              .config.classes = classes->count};
    char *ours = m.labels ? vit_model_file_labels(&m) : vit_strdup("none");
    if (!ours) return vit_fail_memory(error, "names of classes", 0);
    vit_status status = VIT_OK;
    if (strcmp(theirs ? theirs : "none", ours) != 0)
        status = vit_fail(error, VIT_ERROR_MISMATCH,
                          "%s belongs to another training: its classes are %.400s, this command's "
                          "are %.400s",
                          c->path, theirs ? theirs : "none", ours);
    vit_free(ours);
    return status;
}

vit_status vit_checkpoint_bf16(vit_bf16 *out, const vit_checkpoint *c, vit_error *error) {
    const char *text = vit_tensors_metadata(c->file, keys[RECIPE]);
    vit_recipe recipe = vit_recipe_default();
    const vit_status status = text ? vit_recipe_read(&recipe, text, c->path, error) : VIT_OK;
    *out = vit_recipe_bf16(&recipe);
    return status;
}

vit_status vit_checkpoint_compare(const vit_checkpoint *c, const vit_identity *identity,
                                  vit_error *error) {
    parts p = {0};
    vit_preset preset = *identity->preset;
    vit_identity same = *identity;
    same.preset = &preset;
    vit_status status = vit_checkpoint_bf16(&preset.recipe.bf16, c, error);
    if (status == VIT_OK) status = parts_new(&p, &same, error);
    for (size_t i = 0; i < PARTS && status == VIT_OK; i++) {
        const char *theirs = vit_tensors_metadata(c->file, keys[i]);
        if (!theirs && i == TEACHER) theirs = ""; /* without a teacher its key is not written */
        if (!theirs || strcmp(theirs, p.text[i]) != 0)
            status = fail_mismatch(c, i, theirs, p.text[i], error);
    }
    if (status == VIT_OK) status = compare_classes(c, &identity->classes, error);
    parts_free(&p);
    return status;
}

/* ---- history ---- */

#define HISTORY_FIELDS(h)                                               \
    {"best_step", VIT_FIELD_SIZE, &(h)->best_step, NULL},               \
        {"best_top1", VIT_FIELD_DOUBLE, &(h)->best_top1, NULL},         \
        {"best_loss", VIT_FIELD_DOUBLE, &(h)->best_loss, NULL},         \
        {"extended_at", VIT_FIELD_SIZE, &(h)->extended_at, NULL},       \
        {"extended_from", VIT_FIELD_SIZE, &(h)->extended_from, NULL},   \
        {"stale", VIT_FIELD_SIZE, &(h)->stale, NULL},                   \
        {"skipped", VIT_FIELD_SIZE, &(h)->skipped, NULL},               \
        {"skipped_in_row", VIT_FIELD_SIZE, &(h)->skipped_in_row, NULL}, \
        {"high_in_row", VIT_FIELD_SIZE, &(h)->high_in_row, NULL},       \
        {"counted", VIT_FIELD_SIZE, &(h)->counted, NULL},               \
        {"first_loss", VIT_FIELD_DOUBLE, &(h)->first_loss, NULL},       \
        {"recent_loss", VIT_FIELD_DOUBLE, &(h)->recent_loss, NULL},     \
        {"recent_norm", VIT_FIELD_DOUBLE, &(h)->recent_norm, NULL},     \
        {"loss_sum", VIT_FIELD_DOUBLE, &(h)->loss_sum, NULL},           \
        {"loss_steps", VIT_FIELD_SIZE, &(h)->loss_steps, NULL},

static char *write_history(const vit_history *history) {
    vit_history h = *history;
    const vit_field fields[] = {HISTORY_FIELDS(&h)};
    vit_json_out json = {0};
    vit_json_open(&json, NULL, '{');
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].kind == VIT_FIELD_SIZE)
            vit_json_count(&json, fields[i].key, *(size_t *)fields[i].value);
        else
            vit_json_number(&json, fields[i].key, *(double *)fields[i].value);
    vit_json_close(&json, '}');
    return vit_json_take(&json);
}

static vit_status read_history(vit_history *out, const vit_checkpoint *c, vit_error *error) {
    const char *text = vit_tensors_metadata(c->file, keys[HISTORY]);
    json_t *object;
    *out = (vit_history){0};
    if (!text)
        return vit_fail(error, VIT_ERROR_FORMAT, "%s: its \"%s\" is missing", c->path,
                        keys[HISTORY]);
    vit_status status = vit_json_parse(&object, text, strlen(text), c->path, error);
    if (status != VIT_OK) return status;
    const vit_field fields[] = {HISTORY_FIELDS(out)};
    status = vit_json_read(object, fields, sizeof fields / sizeof *fields, c->path, error);
    json_decref(object);
    return status;
}

/* ---- the state ---- */

/* Second moments are means of squares. */
static vit_status check_second_moments(const vit_trainer_state *s, const char *where,
                                       vit_error *error) {
    for (size_t i = 0; i < s->trained->count; i++) {
        const vit_parameter *p = &s->trained->rows[i];
        for (size_t k = 0; k < p->count; k++)
            if (!(s->v[p->offset + k] >= 0))
                return vit_fail(error, VIT_ERROR_FORMAT,
                                "%s: adamw.v.%s has a negative element, a mean of squares", where,
                                p->name);
    }
    return VIT_OK;
}

vit_status vit_checkpoint_load(vit_trainer *trainer, vit_history *history, const vit_checkpoint *c,
                               vit_error *error) {
    const vit_trainer_state s = vit_trainer_get(trainer);
    vit_status status = read_history(history, c, error);
    if (status == VIT_OK) status = vit_table_load(s.values, s.table, c->file, "", error);
    if (status == VIT_OK) status = vit_table_load(s.m, s.trained, c->file, "adamw.m.", error);
    if (status == VIT_OK) status = vit_table_load(s.v, s.trained, c->file, "adamw.v.", error);
    if (status == VIT_OK) status = check_second_moments(&s, c->path, error);
    if (status == VIT_OK && s.average)
        status = vit_table_load(s.average, s.table, c->file, "ema.", error);
    if (status == VIT_OK) vit_trainer_changed(trainer, c->step);
    return status;
}

vit_status vit_checkpoint_weights(float *values, const vit_table *table, const vit_checkpoint *c,
                                  bool average, vit_error *error) {
    return vit_table_load(values, table, c->file, average ? "ema." : "", error);
}

/* ---- writing ---- */

/* An array of the trainer: the prefix of its tensors' names, and what messages call it. */
typedef struct group {
    const char *prefix, *name;
    const vit_table *table;
    const float *values; /* NULL: the training has no such array */
} group;

static void groups_of(group groups[GROUPS], const vit_trainer_state *s) {
    groups[0] = (group){"", "weights", s->table, s->values};
    groups[1] = (group){"adamw.m.", "first moments", s->trained, s->m};
    groups[2] = (group){"adamw.v.", "second moments", s->trained, s->v};
    groups[3] = (group){"ema.", "averaged weights", s->table, s->average};
}

size_t vit_checkpoint_size(vit_trainer *trainer) {
    const vit_trainer_state s = vit_trainer_get(trainer);
    group groups[GROUPS];
    size_t size = 65536;
    groups_of(groups, &s);
    for (size_t i = 0; i < GROUPS; i++)
        for (size_t k = 0; groups[i].values && k < groups[i].table->count; k++)
            size += groups[i].table->rows[k].count * sizeof(float) + 256;
    return size;
}

/* Values that are not finite would be refused when the checkpoint is read. */
static vit_status check_finite(const group *g, vit_error *error) {
    for (size_t i = 0; i < g->table->count; i++) {
        const vit_parameter *p = &g->table->rows[i];
        for (size_t k = 0; k < p->count; k++)
            if (!isfinite(g->values[p->offset + k]))
                return vit_fail(error, VIT_ERROR_ARGUMENT,
                                "the %s of %s are not finite any more: no checkpoint is made of "
                                "them",
                                g->name, p->name);
    }
    return VIT_OK;
}

static vit_status write_tensors(const char *path, const vit_tensor *tensors, size_t count,
                                const parts *p, const vit_history *history, uint64_t step,
                                vit_error *error) {
    vit_metadata metadata[KEYS + MODEL_KEYS];
    char number[32], hex[65];
    size_t entries = 0;
    char *remembered = write_history(history);
    if (!remembered) return vit_fail_memory(error, "the history", 0);
    snprintf(number, sizeof number, "%llu", (unsigned long long)step);
    for (size_t i = 0; i < PARTS; i++)
        if (i != TEACHER || *p->text[i]) metadata[entries++] = (vit_metadata){keys[i], p->text[i]};
    metadata[entries++] = (vit_metadata){keys[STEP], number};
    metadata[entries++] = (vit_metadata){keys[HISTORY], remembered};
    vit_metadata *checksum = &metadata[entries++];
    *checksum = (vit_metadata){keys[CHECKSUM], vit_checksum_zeros};
    for (size_t i = 0; i < MODEL_KEYS; i++)
        if (p->model[i]) metadata[entries++] = (vit_metadata){model_keys[i], p->model[i]};
    vit_status status = vit_safetensors_hash(hex, tensors, count, metadata, entries, error);
    checksum->value = hex;
    if (status == VIT_OK)
        status = vit_safetensors_write(path, tensors, count, metadata, entries, error);
    vit_free(remembered);
    return status;
}

static vit_status write_state(const char *path, const vit_trainer_state *s, const parts *p,
                              const vit_history *history, vit_error *error) {
    group groups[GROUPS];
    const size_t most = GROUPS * s->table->count;
    size_t count = 0;
    char *names[GROUPS] = {0};
    vit_status status = VIT_OK;
    vit_tensor *tensors = vit_alloc(most, sizeof *tensors);
    if (!tensors) return vit_fail_memory(error, "a checkpoint", most * sizeof *tensors);
    groups_of(groups, s);
    for (size_t i = 0; i < GROUPS && groups[i].values && status == VIT_OK; i++) {
        status = check_finite(&groups[i], error);
        if (status == VIT_OK)
            status = vit_table_tensors(tensors + count, &names[i], groups[i].table,
                                       groups[i].values, groups[i].prefix, error);
        count += groups[i].table->count;
    }
    if (status == VIT_OK) status = write_tensors(path, tensors, count, p, history, s->step, error);
    for (size_t i = 0; i < GROUPS; i++) vit_free(names[i]);
    vit_free(tensors);
    return status;
}

/* Removes checkpoints, except the newest two, the best, and those that an earlier run of this
 * training left of steps beyond `newest`. One that cannot be removed is tried again next time. */
static void prune(vit_checkpoints *c, uint64_t best, uint64_t newest) {
    size_t good = 0, kept = 0;
    for (size_t i = 0; i < c->count; i++)
        good += !c->entries[i].stale && c->entries[i].step <= newest;
    for (size_t i = 0; i < c->count; i++) {
        const vit_checkpoint_entry e = c->entries[i];
        char *path;
        bool stays =
            e.step == newest || (!e.stale && (e.step > newest || good <= KEPT || e.step == best));
        good -= !e.stale && e.step <= newest;
        if (!stays && step_path(&path, c, e.step, NULL) == VIT_OK) {
            stays = vit_remove_file(path, NULL) != VIT_OK;
            vit_free(path);
        }
        if (stays) c->entries[kept++] = e;
    }
    c->count = kept;
}

/* Writes a checkpoint, reads it back, and only then gives it its name. */
static vit_status save(char **path, vit_checkpoints *c, const vit_trainer_state *s, const parts *p,
                       const vit_history *history, vit_error *error) {
    char *new_path;
    vit_checkpoint back = {0};
    vit_status status = join(&new_path, c->directory, VIT_CHECKPOINT_NEW, error);
    if (status == VIT_OK) status = write_state(new_path, s, p, history, error);
    if (status != VIT_OK) {
        vit_free(new_path);
        return status;
    }
    status = open_path(&back, new_path, error); /* frees new_path where it fails */
    if (status != VIT_OK) return status;
    status = step_path(path, c, s->step, error);
    if (status == VIT_OK)
        status = add_entry(c, s->step, true, error); /* memory before the rename */
    if (status == VIT_OK) status = vit_rename_file(back.path, *path, error);
    vit_checkpoint_close(&back);
    if (status == VIT_OK) status = add_entry(c, s->step, false, error);
    if (status == VIT_OK) prune(c, history->best_step, s->step);
    return status;
}

vit_status vit_checkpoints_save(char **path, vit_checkpoints *c, vit_trainer *trainer,
                                const vit_identity *identity, const vit_history *history,
                                vit_error *error) {
    parts p = {0};
    const vit_trainer_state state = vit_trainer_get(trainer);
    *path = NULL;
    vit_status status = enter(c, error);
    if (status != VIT_OK) return status;
    status = parts_new(&p, identity, error);
    if (status == VIT_OK) status = save(path, c, &state, &p, history, error);
    parts_free(&p);
    if (status != VIT_OK) {
        vit_free(*path);
        *path = NULL;
    }
    return status;
}
