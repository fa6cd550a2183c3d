/* Training that starts from the weights of --init, a model of ours or a published one. The network
 * is that model's; only the recipe is the preset's. */
#include "vit/base/sys.h"
#include "vit/tensors/weights_path.h"
#include "vit/train/run.h"
#include "vit/weights/file/labels.h"
#include "vit/weights/file/open.h"
#include <string.h>

vit_status vit_run_open_init(vit_run *run, vit_preparation *p, vit_error *error) {
    const char *path = run->options->init;
    vit_model_file *m = &run->start.model;
    vit_status status = vit_weights_hash(run->start.sha256, path, error);
    const vit_wanted wanted = {.config = run->options->config};
    if (status == VIT_OK) status = vit_model_file_open(m, path, &wanted, error);
    if (status != VIT_OK) return status;
    run->start.height = m->config.height;
    run->start.width = m->config.width;
    if (run->options->height > 0)
        status = vit_model_file_resize(m, run->options->height, run->options->width, error);
    if (status != VIT_OK) return vit_fail_prefix(error, status, path);
    *p = (vit_preparation){.height = m->config.height,
                           .width = m->config.width,
                           .channels = m->config.channels,
                           .preprocessing = m->preprocessing};
    return VIT_OK;
}

/* MISMATCH if the preset describes a network that is not run->start.model's, apart from what the
 * data decide (sizes, classes) and the initial values. */
static vit_status check_preset(const vit_run *run, vit_error *error) {
    vit_config asked = run->preset.config, found = run->start.model.config;
    if (!run->preset.says_network || asked.dim == 0) return VIT_OK;
    asked.height = asked.width = asked.channels = asked.classes = 1;
    found.height = found.width = found.channels = found.classes = 1;
    asked.init = found.init;
    if (!vit_config_has_head(&found)) found.head = asked.head;
    char *a = vit_config_write(&asked), *b = vit_config_write(&found);
    const bool memory = a && b, same = memory && strcmp(a, b) == 0;
    vit_free(a);
    vit_free(b);
    if (!memory) return vit_fail_memory(error, "a config", 0);
    if (same) return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s holds another network than that of the preset %s: leave --preset out, or "
                    "give one without \"model\", and no --set of a network's key",
                    run->options->init, run->preset.name);
}

/* Resizes run->start.model to the data's pictures, whose size is fixed unless they are files. */
static vit_status fit_size(vit_run *run, vit_error *error) {
    const vit_dataset *d = &run->data;
    vit_model_file *m = &run->start.model;
    if (d->channels != m->config.channels)
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the pictures of %s have %zu channels, the network of %s takes %zu",
                        d->name, d->channels, run->options->init, m->config.channels);
    if (vit_config_has_decoder(&m->config) &&
        (!vit_vocabulary_equal(&m->vocabulary, &d->target_vocabulary) ||
         !vit_vocabulary_equal(&m->source_vocabulary, &d->source_vocabulary)))
        return vit_fail(error, VIT_ERROR_MISMATCH,
                        "the texts of %s have other signs than those that %s was trained on",
                        d->name, run->options->init);
    if (d->height == m->config.height && d->width == m->config.width) return VIT_OK;
    const vit_status status = vit_model_file_resize(m, d->height, d->width, error);
    return status == VIT_OK ? status : vit_fail_prefix(error, status, run->options->init);
}

vit_status vit_run_adopt_init(vit_run *run, vit_error *error) {
    vit_preset sized = run->preset;
    /* A preset that is sized by the data takes its epochs and its flip from them as well. */
    if (sized.is_sized_by_data) vit_preset_size(&sized, &run->data);
    vit_status status = check_preset(run, error);
    if (status == VIT_OK) status = fit_size(run, error);
    if (status != VIT_OK) return status;
    run->preset.recipe = sized.recipe;
    run->preset.is_sized_by_data = false;
    run->preset.config = run->start.model.config;
    run->preset.config.classes = run->data.classes;
    if (!vit_config_has_head(&run->start.model.config) &&
        !vit_config_has_decoder(&run->start.model.config)) {
        run->preset.config.head = VIT_HEAD_LINEAR;
        run->preset.config.head_bias = true;
    }
    return VIT_OK;
}

/* ---- the head ---- */

/* Whether a tensor has a row for each class: the last layer of the head. */
static bool is_of_classes(const vit_parameter *p, const vit_config *c) {
    const char *layer = vit_heads[c->head].layers == 2 ? "head.2." : "head.";
    return strncmp(p->name, layer, strlen(layer)) == 0 && p->shape[0] == c->classes;
}

/* Copies the rows of the classes that the weights know; the others keep their random values. */
static void copy_rows(float *to, const float *from, size_t row, const vit_match *match) {
    for (size_t i = 0; i < match->count; i++)
        if (match->to[i] != VIT_NO_CLASS)
            memcpy(to + i * row, from + match->to[i] * row, row * sizeof *to);
}

static void note_head(vit_run *run, const vit_match *match) {
    const vit_dataset *d = &run->data;
    const vit_classes data = {d->labels, d->classes};
    const size_t known = match->count - match->lost;
    char text[256], number[32];
    if (!vit_config_has_head(&run->start.model.config)) {
        vit_run_note(run, "the head is a new one: the weights are a backbone's");
    } else if (known == 0) {
        vit_run_note(run,
                     "the head is a new one: the data have %zu classes, the weights %zu, and none "
                     "is in both",
                     match->count, run->start.model.config.classes);
    } else if (match->lost > 0) {
        vit_run_note(run,
                     "the head has %zu new row%s, of classes that the weights do not know (%s%s); "
                     "%zu follow%s %s name%s",
                     match->lost, match->lost == 1 ? "" : "s",
                     vit_class_name(&data, match->first_lost, number),
                     match->lost > 1 ? ", ..." : "", known, known == 1 ? "s" : "",
                     known == 1 ? "its" : "their", known == 1 ? "" : "s");
    } else if (match->moved) {
        vit_run_note(run, "the head keeps the rows of the %zu classes, by their names", known);
    }
    if (vit_match_said(text, match, "the data", "the weights")) vit_run_note(run, "%s", text);
}

/* ---- all weights ---- */

static vit_status load_weights(vit_run *run, const vit_match *match, vit_error *error) {
    const vit_trainer_state state = vit_trainer_get(run->trainer);
    const vit_model_file *m = &run->start.model;
    for (size_t i = 0; i < state.table->count; i++) {
        const vit_parameter *to = &state.table->rows[i],
                            *from = vit_table_find(&m->table, to->name);
        float *values = state.values + to->offset;
        const bool is_head = is_of_classes(to, &run->preset.config);
        const bool is_found = from && from->dims == to->dims;
        const size_t row = to->count / to->shape[0];
        if (is_head && match->count > 0) {
            vit_table_init_row(values, state.table, i, run->preset.config.init, run->options->seed);
            if (is_found && from->count / from->shape[0] == row)
                copy_rows(values, m->values + from->offset, row, match);
        } else if (is_found && memcmp(from->shape, to->shape, to->dims * sizeof *to->shape) == 0) {
            memcpy(values, m->values + from->offset, to->count * sizeof *values);
        } else if (strncmp(to->name, "head.", 5) == 0) {
            vit_table_init_row(values, state.table, i, run->preset.config.init, run->options->seed);
        } else {
            return vit_fail(error, VIT_ERROR_MISMATCH, "%s: tensor %s does not fit the network",
                            run->options->init, to->name);
        }
    }
    return VIT_OK;
}

vit_status vit_run_load_init(vit_run *run, vit_error *error) {
    const vit_model_file *m = &run->start.model;
    const vit_classes data = {run->data.labels, run->data.classes};
    vit_match match = {0}; /* of data whose answers are texts: the vocabularies are equal */
    vit_status status = VIT_OK;
    if (data.count > 0) status = vit_labels_match(&match, &data, m, error);
    if (status == VIT_OK) status = load_weights(run, &match, error);
    if (status == VIT_OK &&
        (run->start.height != m->config.height || run->start.width != m->config.width))
        vit_run_note(run, "positions are resampled: the weights are for %zu x %zu pixels",
                     run->start.height, run->start.width);
    if (status == VIT_OK && data.count > 0) note_head(run, &match);
    vit_match_free(&match);
    if (status != VIT_OK) return status;
    vit_trainer_changed(run->trainer, 0);
    vit_model_file_clear(&run->start.model);
    return VIT_OK;
}
