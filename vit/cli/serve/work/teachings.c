#include "vit/cli/serve/work/teachings.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "vit/base/sys.h"
#include "vit/cli/serve/work/access_log.h"

struct serve_teachings {
    serve_teachings_options options;
    pthread_mutex_t lock;  /* of the list */
    serve_teaching **list; /* [options.most] */
    size_t count;
};

/* ---- files ---- */

static const char ending[] = ".lessons";
#define MOST_KEPT 1000

static bool is_id(const char *text) {
    return strlen(text) == SERVE_TEACHING_ID &&
           strspn(text, "0123456789abcdef") == SERVE_TEACHING_ID;
}

/* DIRECTORY/ID.lessons, freed by vit_free; NULL: no memory. */
static char *path_of(const serve_teachings *t, const char *id) {
    char name[SERVE_TEACHING_ID + sizeof ending];
    snprintf(name, sizeof name, "%.32s%s", id, ending);
    return vit_path_join(t->options.directory, name);
}

/* A link would be followed, and what is written replaces it. */
static bool is_own_file(const char *path) {
    return vit_path_look(path) == VIT_PATH_FILE && !vit_path_is_link(path);
}

/* FORMAT if a name in the directory is that of a teaching, and it is no file. *count = those. */
static vit_status check_names(size_t *count, const char *directory, vit_error *error) {
    char **names = NULL, id[SERVE_TEACHING_ID + 1];
    size_t all = 0;
    *count = 0;
    vit_status status = vit_list_directory(&names, &all, directory, error);
    for (size_t i = 0; i < all && status == VIT_OK; i++) {
        snprintf(id, sizeof id, "%s", names[i]);
        if (!is_id(id) || strcmp(names[i] + SERVE_TEACHING_ID, ending) != 0) continue;
        char *path = vit_path_join(directory, names[i]);
        if (!path || !is_own_file(path))
            status = vit_fail(error, VIT_ERROR_FORMAT,
                              "%s/%s: is no regular file, expected a kept teaching: remove it",
                              directory, names[i]);
        vit_free(path);
        ++*count;
    }
    vit_free(names);
    return status;
}

/* Names in it are secrets, and files in it are believed. */
static vit_status check_directory(const char *directory, vit_error *error) {
    struct stat about;
    size_t count;
    if (vit_path_look(directory) == VIT_PATH_NONE && mkdir(directory, 0700) != 0)
        return vit_fail(error, VIT_ERROR_IO, "%s: the directory cannot be made", directory);
    if (stat(directory, &about) != 0 || !S_ISDIR(about.st_mode))
        return vit_fail(error, VIT_ERROR_IO, "%s: is no directory", directory);
#ifndef _WIN32
    if (about.st_mode & 077)
        return vit_fail(
            error, VIT_ERROR_IO,
            "%s: others may read or write it, but names in it are secrets: chmod 700 %s", directory,
            directory);
#endif
    return check_names(&count, directory, error);
}

/* What is wrong with files is told to who runs the server; clients are not told their paths. */
static vit_status tell(vit_error *error, vit_status status, const char *sentence) {
    if (status == VIT_OK || status == VIT_ERROR_MEMORY) return status;
    serve_log_say("%s", error->message);
    return vit_fail(error, status == VIT_ERROR_MISMATCH ? status : VIT_ERROR_IO, "%s", sentence);
}

vit_status serve_teaching_keep(const serve_teachings *t, const serve_teaching *one,
                               vit_error *error) {
    char *path;
    if (!t->options.directory || vit_few_shot_count(one->teaching) == 0) return VIT_OK;
    if (!(path = path_of(t, one->id))) return vit_fail_memory(error, "a path", 64);
    const vit_status status = vit_few_shot_save_lessons(one->teaching, path, error);
    vit_free(path);
    return tell(error, status, "the change was made, but the server could not keep it");
}

vit_status serve_teachings_new(serve_teachings **out, const serve_teachings_options *options,
                               vit_error *error) {
    serve_teachings *t = *out = vit_alloc(1, sizeof *t);
    if (!t) return vit_fail_memory(error, "teachings", sizeof *t);
    t->options = *options;
    pthread_mutex_init(&t->lock, NULL);
    t->list = vit_alloc(options->most, sizeof(serve_teaching *));
    if (!t->list) return vit_fail_memory(error, "teachings", options->most * sizeof(void *));
    return options->directory ? check_directory(options->directory, error) : VIT_OK;
}

const serve_teachings_options *serve_teachings_limits(const serve_teachings *t) {
    return &t->options;
}

static void destroy(serve_teaching *one, serve_models *models) {
    vit_few_shot_free(one->teaching);
    serve_model_release(models, one->model);
    pthread_mutex_destroy(&one->lock);
    vit_free(one);
}

/* Gives back a reference; the list's lock is held. */
static void drop(serve_teaching *one, serve_models *models) {
    if (--one->users == 0) destroy(one, models);
}

static void take_out(serve_teachings *t, serve_models *models, size_t place) {
    serve_teaching *one = t->list[place];
    t->list[place] = t->list[--t->count];
    drop(one, models);
}

void serve_teachings_free(serve_teachings *t, serve_models *models) {
    if (!t) return;
    while (t->list && t->count > 0) take_out(t, models, 0);
    pthread_mutex_destroy(&t->lock);
    vit_free((void *)t->list);
    vit_free(t);
}

/* id: 128 bits that nobody can guess. */
static vit_status draw_id(char id[SERVE_TEACHING_ID + 1], vit_error *error) {
    uint8_t bits[SERVE_TEACHING_ID / 2];
    const vit_status status = vit_secret(bits, sizeof bits, error);
    for (size_t i = 0; status == VIT_OK && i < sizeof bits; i++)
        snprintf(id + 2 * i, 3, "%02x", bits[i]);
    return status;
}

/* Makes room for one more; the list's lock is held. */
static bool make_room(serve_teachings *t, serve_models *models) {
    size_t oldest = 0;
    if (t->count < t->options.most) return true;
    for (size_t i = 1; i < t->count; i++)
        if (t->list[i]->used < t->list[oldest]->used) oldest = i;
    if (vit_clock() - t->list[oldest]->used < t->options.idle) return false;
    take_out(t, models, oldest);
    return true;
}

/* *out = a teaching without pictures, its lock held; takes over the reference to the model, also on
 * failure. */
static vit_status make_teaching(serve_teaching **out, const serve_teachings *t,
                                serve_models *models, serve_model *model, const char *head,
                                size_t views, vit_error *error) {
    const vit_few_shot_options options = {.head = head,
                                          .keep_lessons = t->options.directory != NULL,
                                          .views = views,
                                          .threads = t->options.threads,
                                          .cpu = t->options.cpu,
                                          .precision = t->options.precision,
                                          .bf16 = t->options.bf16,
                                          .most_pixels = t->options.most_pixels,
                                          .goes_on = t->options.goes_on,
                                          .user = t->options.user};
    serve_teaching *one = *out = vit_alloc(1, sizeof *one);
    const vit_status status = one ? vit_few_shot_new(&one->teaching, model->model, &options, error)
                                  : vit_fail_memory(error, "a teaching", sizeof *one);
    if (status != VIT_OK) {
        vit_free(one);
        serve_model_release(models, model);
        *out = NULL;
        return status;
    }
    one->model = model;
    one->users = 2;
    pthread_mutex_init(&one->lock, NULL);
    pthread_mutex_lock(&one->lock);
    return VIT_OK;
}

static void unmake(serve_teaching **one, serve_models *models) {
    pthread_mutex_unlock(&(*one)->lock);
    destroy(*one, models);
    *one = NULL;
}

static size_t find(const serve_teachings *t, const char *id) {
    size_t i = 0;
    while (i < t->count && strcmp(t->list[i]->id, id) != 0) i++;
    return i;
}

/* Puts it on the list; *out = NULL, and it is gone, on failure. One that another thread has read in
 * the meantime takes its place. */
static vit_status enlist(serve_teaching **out, serve_teachings *t, serve_models *models,
                         vit_error *error) {
    serve_teaching *one = *out, *there = NULL;
    vit_status status = VIT_OK;
    pthread_mutex_lock(&t->lock);
    const size_t place = find(t, one->id);
    one->used = vit_clock();
    if (place < t->count)
        (there = t->list[place])->users++;
    else if (make_room(t, models))
        t->list[t->count++] = one;
    else
        status =
            vit_fail(error, VIT_ERROR_UNSUPPORTED,
                     "%zu teachings are kept already: delete one, or come again later", t->count);
    pthread_mutex_unlock(&t->lock);
    if (status == VIT_OK && !there) return VIT_OK;
    unmake(out, models);
    if (there) pthread_mutex_lock(&there->lock);
    *out = there;
    return status;
}

vit_status serve_teaching_begin(serve_teaching **out, serve_teachings *t, serve_models *models,
                                serve_model *model, const char *head, size_t views,
                                vit_error *error) {
    size_t kept = 0;
    vit_status status =
        t->options.directory ? check_names(&kept, t->options.directory, error) : VIT_OK;
    *out = NULL;
    status = tell(error, status, "the server cannot keep teachings where it was told to");
    if (status == VIT_OK && kept >= MOST_KEPT)
        status = vit_fail(error, VIT_ERROR_UNSUPPORTED,
                          "%zu teachings are kept already: delete one", kept);
    if (status != VIT_OK) {
        serve_model_release(models, model);
        return status;
    }
    status = make_teaching(out, t, models, model, head, views, error);
    if (status == VIT_OK) status = draw_id((*out)->id, error);
    if (status == VIT_OK) return enlist(out, t, models, error);
    if (*out) unmake(out, models);
    return status;
}

/* ---- one that is kept in a file ---- */

/* Reads it with the first model that it was taught on. What was learnt is computed again. */
static vit_status read_with(serve_teaching **out, serve_teachings *t, serve_models *models,
                            const char *path, vit_error *error) {
    vit_status status = VIT_ERROR_MISMATCH;
    *out = NULL;
    for (size_t i = 0; i < serve_models_count(models) && status == VIT_ERROR_MISMATCH; i++) {
        vit_error unlearnt;
        status = make_teaching(out, t, models, serve_model_take_at(models, i), NULL, 1, error);
        if (status == VIT_OK) status = vit_few_shot_load_lessons((*out)->teaching, path, error);
        if (status == VIT_OK) vit_few_shot_learn((*out)->teaching, NULL, &unlearnt);
        if (status != VIT_OK && *out) unmake(out, models);
    }
    return status;
}

static vit_status read_kept(serve_teaching **out, serve_teachings *t, serve_models *models,
                            const char *id, vit_error *error) {
    *out = NULL;
    if (!t->options.directory || !is_id(id)) return VIT_OK;
    char *path = path_of(t, id);
    if (!path) return vit_fail_memory(error, "a path", 64);
    vit_status status = VIT_OK;
    if (is_own_file(path)) {
        status = read_with(out, t, models, path, error);
        status = tell(error, status,
                      status == VIT_ERROR_MISMATCH
                          ? "the teaching is of a model that this server does not serve"
                          : "the teaching is kept in a file that is damaged");
        if (status == VIT_OK) {
            memcpy((*out)->id, id, sizeof(*out)->id);
            status = enlist(out, t, models, error);
        }
    }
    vit_free(path);
    return status;
}

vit_status serve_teaching_take(serve_teaching **out, serve_teachings *t, serve_models *models,
                               const char *id, vit_error *error) {
    pthread_mutex_lock(&t->lock);
    const size_t place = find(t, id);
    serve_teaching *one = *out = place < t->count ? t->list[place] : NULL;
    if (one) {
        one->users++;
        one->used = vit_clock();
    }
    pthread_mutex_unlock(&t->lock);
    if (!one) return read_kept(out, t, models, id, error);
    pthread_mutex_lock(&one->lock);
    return VIT_OK;
}

void serve_teaching_release(serve_teachings *t, serve_models *models, serve_teaching *one) {
    if (!one) return;
    const size_t pictures = vit_few_shot_count(one->teaching);
    const size_t classes = vit_few_shot_classes(one->teaching);
    pthread_mutex_unlock(&one->lock);
    pthread_mutex_lock(&t->lock);
    one->used = vit_clock();
    one->pictures = pictures;
    one->classes = classes;
    drop(one, models);
    pthread_mutex_unlock(&t->lock);
}

bool serve_teaching_delete(serve_teachings *t, serve_models *models, const char *id) {
    pthread_mutex_lock(&t->lock);
    const size_t place = find(t, id);
    const bool found = place < t->count;
    if (found) take_out(t, models, place);
    pthread_mutex_unlock(&t->lock);
    if (!t->options.directory || !is_id(id)) return found;
    char *path = path_of(t, id);
    const bool kept = path && is_own_file(path) && vit_remove_file(path, NULL) == VIT_OK;
    vit_free(path);
    return found || kept;
}

void serve_teachings_list(serve_teachings *t, serve_show_teaching *show, void *context) {
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->count; i++) {
        char beginning[7];
        const serve_teaching *one = t->list[i];
        snprintf(beginning, sizeof beginning, "%.6s", one->id);
        show(beginning, one->pictures, one->classes, vit_clock() - one->used, context);
    }
    pthread_mutex_unlock(&t->lock);
}
