#include "vit/cli/serve/work/served.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "vit/base/sys.h"
#include "vit/cli/models/hub.h"
#include "vit/cli/models/models.h"
#include "vit/cli/serve/work/hidden.h"
#include "vit/cli/serve/work/mapped.h"
#include "vit/cli/serve/work/shipped.h"

typedef struct entry {
    char *name, *path;            /* owned; path NULL: the model is part of the program */
    const serve_shipped *shipped; /* which */
    serve_model *current;
} entry;

struct serve_models {
    serve_models_options options;
    pthread_mutex_t lock; /* of current and users */
    entry *entries;
    size_t count, capacity;
};

static void close_model(serve_model *m) {
    if (!m) return;
    vit_session_free(m->session);
    vit_session_free(m->alone);
    vit_embedder_free(m->words);
    pthread_mutex_destroy(&m->words_lock);
    serve_reliance_close(&m->reliance);
    vit_model_free(m->model);
    vit_free(m);
}

vit_status serve_model_session_aside(vit_session **out, const serve_models *models,
                                     const serve_model *m, vit_error *error) {
    const serve_models_options *o = &models->options;
    const vit_session_options choice = {
        .threads = 1, .cpu = o->cpu, .precision = o->precision, .bf16 = o->bf16};
    return vit_session_new(out, m->model, &choice, error);
}

/* The text encoder beside an image encoder, where there is one. */
static void open_words(serve_model *m, const char *path, const serve_models_options *o) {
    const vit_embedder_options choice = {
        .threads = o->threads, .cpu = o->cpu, .precision = o->precision, .bf16 = o->bf16};
    if (!path || (m->info.has_head && !o->labels))
        vit_fail(&m->no_words, VIT_ERROR_UNSUPPORTED,
                 "words need the directory of a CLIP or SigLIP model");
    else if (vit_embedder_load(&m->words, path, &choice, &m->no_words) == VIT_OK &&
             vit_embedder_describe(m->words).features != m->info.features) {
        vit_embedder_free(m->words);
        m->words = NULL;
        vit_fail(&m->no_words, VIT_ERROR_MISMATCH, "its texts have other features than pictures");
    }
    if (path) serve_hide_directories(&m->no_words, path);
}

/* Reads the model at that place of the list. */
static vit_status open_model(serve_model **out, const serve_models *models, size_t place,
                             vit_error *error) {
    const serve_models_options *o = &models->options;
    const vit_model_options opening = {.exif_orientation = o->exif_orientation,
                                       .cpu = o->cpu,
                                       .precision = o->precision,
                                       .bf16 = o->bf16,
                                       .labels = o->labels,
                                       .threads = o->threads};
    const vit_session_options all = {
        .threads = o->threads, .cpu = o->cpu, .precision = o->precision, .bf16 = o->bf16};
    serve_model *m = vit_alloc(1, sizeof *m);
    if (!m) return vit_fail_memory(error, "a model", sizeof *m);
    pthread_mutex_init(&m->words_lock, NULL);
    pthread_mutex_init(&m->reliance.lock, NULL);
    const size_t missing = serve_missing_pages();
    const entry *e = &models->entries[place];
    const serve_shipped *s = e->shipped;
    vit_status status =
        e->path ? vit_model_load_zero_shot(&m->model, e->path, &opening, o->templates->values,
                                           o->templates->count, error)
                : vit_model_load_memory(&m->model, s->begin, (size_t)(s->end - s->begin), s->name,
                                        &opening, error);
    if (status == VIT_OK) status = vit_session_new(&m->session, m->model, &all, error);
    if (status == VIT_OK) status = serve_model_session_aside(&m->alone, models, m, error);
    if (status == VIT_OK) {
        m->name = e->name;
        m->place = place;
        m->info = vit_model_describe(m->model);
        m->pixels = m->info.height * m->info.width * m->info.channels;
        m->users = 1;
        open_words(m, e->path, o);
        status = serve_reliance_open(&m->reliance, o->command, o->sets, e->name, e->path,
                                     o->named->count > 0, m->model, m->alone, error);
        if (status == VIT_OK && serve_missing_pages() != missing)
            status = vit_fail(error, VIT_ERROR_IO, "its file became shorter while it was read");
        if (status == VIT_OK) {
            *out = m;
            return VIT_OK;
        }
    }
    if (m->model) vit_fail_prefix(error, status, e->name); /* else the message names the file */
    close_model(m);
    return status;
}

/* ---- names ---- */

bool serve_models_has(const serve_models *models, const char *name) {
    for (size_t i = 0; i < models->count; i++)
        if (strcmp(models->entries[i].name, name) == 0) return true;
    return false;
}

/* Takes ownership of name and path, also when it fails. */
static vit_status add_entry(serve_models *models, char *name, char *path,
                            const serve_shipped *shipped, vit_error *error) {
    vit_status status = VIT_OK;
    if (!name || (!path && !shipped)) {
        status = vit_fail_memory(error, "the list of models", 0);
    } else if (serve_models_has(models, name)) {
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "--model: two models are called %s, expected different names: "
                          "--model NAME=FILE gives one",
                          name);
    } else if (!VIT_MAKE_ROOM(models->entries, models->count, models->capacity,
                              "the list of models", error)) {
        status = VIT_ERROR_MEMORY;
    }
    if (status != VIT_OK) {
        vit_free(name);
        vit_free(path);
        return status;
    }
    models->entries[models->count++] = (entry){.name = name, .path = path, .shipped = shipped};
    return VIT_OK;
}

/* The name of a model that was given as a file: the file's, without ".safetensors"; that of one of
 * the hub: OWNER/NAME. */
static char *name_of(const char *path) {
    char name[256];
    const char *hub = vit_hub_name(path);
    if (hub)
        snprintf(name, sizeof name, "%.*s", (int)vit_hub_repository_length(hub), hub);
    else
        vit_path_name(name, sizeof name, path);
    name[vit_stem_length(name, ".safetensors")] = '\0';
    return vit_strdup(name);
}

const char *serve_named_file(const char *value) {
    const char *equals = strchr(value, '=');
    return equals && vit_path_look(value) == VIT_PATH_NONE ? equals + 1 : value;
}

/* Adds a model that is given as NAME, FILE or NAME=FILE. */
static vit_status add_named(serve_models *models, const char *text, vit_error *error) {
    const char *model = serve_named_file(text);
    const bool is_named = model > text;
    vit_string name = {0};
    if (is_named) vit_string_add_bytes(&name, text, (size_t)(model - text) - 1);
    if (is_named && name.length == 0)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "--model: \"%s\" has nothing before '=', expected NAME=FILE", text);
    const serve_shipped *shipped = NULL;
    char *path = NULL;
    vit_status status = vit_find_model(&path, model, error);
    if (status == VIT_ERROR_IO) { /* it may be part of the program */
        for (shipped = serve_shipped_models; shipped->name; shipped++)
            if (strcmp(shipped->name, model) == 0) break;
        if (shipped->name) status = VIT_OK;
    }
    if (status == VIT_OK)
        status = add_entry(models, is_named ? vit_strdup(name.text) : name_of(text), path, shipped,
                           error);
    vit_string_free(&name);
    return status;
}

/* Adds all named models, and those that are part of the program. mnist comes first, if it is there:
 * the first model answers requests that name none. */
static vit_status add_all(serve_models *models, vit_error *error) {
    vit_model_list list;
    vit_status status = vit_list_models(&list, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < list.count && status == VIT_OK; i++)
        status = add_entry(models, vit_strdup(list.models[i].name), vit_strdup(list.models[i].path),
                           NULL, error);
    vit_free_model_list(&list);
    for (const serve_shipped *s = serve_shipped_models; s->name && status == VIT_OK; s++)
        if (!serve_models_has(models, s->name))
            status = add_entry(models, vit_strdup(s->name), NULL, s, error);
    for (size_t i = 1; i < models->count; i++) {
        const entry found = models->entries[i];
        if (strcmp(found.name, "mnist") != 0) continue;
        memmove(models->entries + 1, models->entries, i * sizeof *models->entries);
        models->entries[0] = found;
    }
    if (status == VIT_OK && models->count == 0)
        status = vit_fail(error, VIT_ERROR_IO,
                          "no model is found in $VIT_MODELS or beside the program: --model FILE "
                          "names one");
    return status;
}

/* ---- the list ---- */

vit_status serve_models_open(serve_models **out, const serve_models_options *options,
                             vit_error *error) {
    *out = NULL;
    serve_models *models = vit_alloc(1, sizeof *models);
    if (!models) return vit_fail_memory(error, "the list of models", sizeof *models);
    models->options = *options;
    pthread_mutex_init(&models->lock, NULL);
    vit_status status = options->named->count == 0 ? add_all(models, error) : VIT_OK;
    for (size_t i = 0; i < options->named->count && status == VIT_OK; i++)
        status = add_named(models, options->named->values[i], error);
    for (size_t i = 0; i < models->count && status == VIT_OK; i++)
        status = open_model(&models->entries[i].current, models, i, error);
    if (status == VIT_OK)
        *out = models;
    else
        serve_models_free(models);
    return status;
}

void serve_models_free(serve_models *models) {
    if (!models) return;
    for (size_t i = 0; i < models->count; i++) {
        close_model(models->entries[i].current);
        vit_free(models->entries[i].name);
        vit_free(models->entries[i].path);
    }
    pthread_mutex_destroy(&models->lock);
    vit_free(models->entries);
    vit_free(models);
}

size_t serve_models_count(const serve_models *models) {
    return models->count;
}

const char *serve_models_name(const serve_models *models, size_t place) {
    return models->entries[place].name;
}

serve_model *serve_model_take_at(serve_models *models, size_t place) {
    pthread_mutex_lock(&models->lock);
    serve_model *m = models->entries[place].current;
    m->users++;
    pthread_mutex_unlock(&models->lock);
    return m;
}

serve_model *serve_model_take(serve_models *models, const char *name) {
    for (size_t i = 0; i < models->count; i++)
        if (strcmp(models->entries[i].name, name) == 0) return serve_model_take_at(models, i);
    return NULL;
}

vit_session *serve_model_session(const serve_model *m, size_t pictures) {
    static const double little = 5e8; /* multiply-adds, some ten milliseconds of one processor */
    const double work = (double)m->info.multiply_adds * (double)pictures;
    return work < little ? m->alone : m->session;
}

void serve_model_release(serve_models *models, serve_model *model) {
    if (!model) return;
    pthread_mutex_lock(&models->lock);
    const bool last = --model->users == 0;
    pthread_mutex_unlock(&models->lock);
    if (last) close_model(model);
}

vit_status serve_model_reload(serve_models *models, size_t place, vit_error *error) {
    serve_model *fresh = NULL;
    const vit_status status = open_model(&fresh, models, place, error);
    if (status != VIT_OK) return status;
    pthread_mutex_lock(&models->lock);
    serve_model *old = models->entries[place].current;
    models->entries[place].current = fresh;
    pthread_mutex_unlock(&models->lock);
    serve_model_release(models, old);
    return VIT_OK;
}
