#include "vit/cli/models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vit/base/sys.h"
#include "vit/base/text.h"

static const char ending[] = ".safetensors";

/* Where named models are looked for. */
typedef struct places {
    vit_text directories[3];
    size_t count;
    bool failed; /* memory ran out */
} places;

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The path of this program, without links; false where the system does not tell. */
static bool program_path(char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0 || (size_t)length == size - 1) return false;
    path[length] = '\0';
    return true;
}

/* Cuts the last name off a path; false when there is none. */
static bool go_up(char *path) {
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    return slash != NULL;
}

static void add_place(places *p, const char *base, const char *below) {
    vit_text_add(&p->directories[p->count], "%s%s", base, below);
    p->failed = p->failed || p->directories[p->count].failed;
    p->count++;
}

/* In the order in which they are looked through. */
static places find_places(void) {
    places found = {0};
    char path[4096];
    const char *models = getenv("VIT_MODELS");
    if (models && *models != '\0') add_place(&found, models, "");
    if (program_path(path, sizeof path) && go_up(path) && go_up(path)) {
        add_place(&found, path, "/share/vit/models");
        if (go_up(path)) add_place(&found, path, "/models");
    }
    return found;
}

static void free_places(places *p) {
    for (size_t i = 0; i < p->count; i++) vit_text_free(&p->directories[i]);
}

/* The first NAME.safetensors in the places; false when memory ran out, *path NULL where there is
 * none. */
static bool look_everywhere(char **path, const places *p, const char *name) {
    *path = NULL;
    for (size_t i = 0; i < p->count && !*path; i++) {
        vit_text candidate = {0};
        vit_text_add(&candidate, "%s/%s%s", p->directories[i].text, name, ending);
        bool found = !candidate.failed && vit_path_look(candidate.text) == VIT_PATH_FILE;
        if (found) *path = vit_strdup(candidate.text);
        bool memory = !candidate.failed && (!found || *path);
        vit_text_free(&candidate);
        if (!memory) return false;
    }
    return true;
}

static vit_status no_such_model(const places *p, const char *name, vit_error *error) {
    char here[1024];
    vit_text looked = {0};
    snprintf(here, sizeof here, "./%s%s", name, ending);
    if (vit_path_look(here) == VIT_PATH_FILE)
        return vit_fail(error, VIT_ERROR_IO,
                        "no model \"%s\" is shipped, but there is a file here: did you mean %s?",
                        name, here);
    for (size_t i = 0; i < p->count; i++)
        vit_text_add(&looked, "%s%s", i > 0 ? ", " : "", p->directories[i].text);
    vit_status status =
        vit_fail(error, VIT_ERROR_IO,
                 "no model \"%s\": it is neither a file, nor is %s%s in %s; "
                 "\"vit-train --data DATA --out %s%s\" makes one, to be named with its ending",
                 name, name, ending,
                 looked.length > 0 && !looked.failed ? looked.text : "$VIT_MODELS", name, ending);
    vit_text_free(&looked);
    return status;
}

static vit_status find_named(char **path, const char *name, vit_error *error) {
    places p = find_places();
    vit_status status = VIT_OK;
    if (p.failed || !look_everywhere(path, &p, name)) {
        *path = NULL;
        status = vit_fail_memory(error, "the path of a model", strlen(name));
    } else if (!*path) {
        status = no_such_model(&p, name, error);
    }
    free_places(&p);
    return status;
}

/* Whether a name ends as files of weights do. */
static bool names_weights(const char *name) {
    static const char *const endings[] = {ending, ".npz", ".pth", ".pt", ".bin", ".json"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends_with(name, endings[i])) return true;
    return false;
}

/* Whether there are weights in a directory, which may also be one of data; false when memory ran
 * out. */
static bool holds_weights(bool *found, const char *directory) {
    static const char *const names[] = {"model.safetensors", "config.json", "pytorch_model.bin",
                                        "model.npz"};
    char **files;
    size_t count;
    *found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !*found; i++) {
        char *path = vit_path_join(directory, names[i]);
        if (!path) return false;
        *found = vit_path_look(path) == VIT_PATH_FILE;
        vit_free(path);
    }
    if (*found || vit_list_directory(&files, &count, directory, NULL) != VIT_OK) return true;
    for (size_t i = 0; i < count && !*found; i++) {
        *found = strncmp(files[i], "checkpoint-", strlen("checkpoint-")) == 0 &&
                 ends_with(files[i], ending);
    }
    vit_free(files);
    return true;
}

vit_status vit_find_model(char **path, const char *name, vit_error *error) {
    vit_path_kind kind = vit_path_look(name);
    bool is_path = kind == VIT_PATH_FILE || strchr(name, '/') || names_weights(name);
    if (kind == VIT_PATH_DIRECTORY && !is_path && !holds_weights(&is_path, name))
        return vit_fail_memory(error, "a path", strlen(name));
    /* What can only be a path is left to the reader, who can say best what is wrong with it. */
    if (is_path) {
        *path = vit_strdup(name);
        return *path ? VIT_OK : vit_fail_memory(error, "a path", strlen(name));
    }
    return find_named(path, name, error);
}

vit_status vit_load_named_model(vit_model **out, const char *name, const vit_model_options *options,
                                vit_error *error) {
    char *path;
    *out = NULL;
    vit_status status = vit_find_model(&path, name, error);
    if (status != VIT_OK) return status;
    status = vit_model_load_with(out, path, options, error);
    vit_free(path);
    return status;
}

static bool has_name(const vit_model_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->models[i].name, name) == 0) return true;
    return false;
}

static void free_model(vit_named_model *model) {
    vit_free(model->name);
    vit_free(model->path);
}

/* Takes over what `found` has: nothing is left there. */
static vit_status keep_model(vit_model_list *list, vit_named_model *found, vit_error *error) {
    vit_named_model *models = vit_make_room(list->models, list->count, &list->capacity,
                                            sizeof *models, "the list of models", error);
    if (!models) return VIT_ERROR_MEMORY;
    list->models = models;
    models[list->count++] = *found;
    *found = (vit_named_model){0};
    return VIT_OK;
}

/* Adds DIRECTORY/FILE, unless an earlier place has a model of that name. */
static vit_status add_model(vit_model_list *list, const char *directory, const char *file,
                            vit_error *error) {
    vit_named_model found = {.name = vit_strdup(file), .path = vit_path_join(directory, file)};
    vit_status status = VIT_OK;
    if (!found.name || !found.path) {
        status = vit_fail_memory(error, "the list of models", strlen(file));
    } else {
        found.name[strlen(file) - strlen(ending)] = '\0';
        if (vit_path_look(found.path) == VIT_PATH_FILE && !has_name(list, found.name))
            status = keep_model(list, &found, error);
    }
    free_model(&found);
    return status;
}

static vit_status add_directory(vit_model_list *list, const char *directory, vit_error *error) {
    char **names;
    size_t count;
    if (vit_path_look(directory) != VIT_PATH_DIRECTORY) return VIT_OK;
    vit_status status = vit_list_directory(&names, &count, directory, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        if (ends_with(names[i], ending)) status = add_model(list, directory, names[i], error);
    vit_free(names);
    return status;
}

vit_status vit_list_models(vit_model_list *list, vit_error *error) {
    *list = (vit_model_list){0};
    places p = find_places();
    vit_status status = p.failed ? vit_fail_memory(error, "the list of models", 0) : VIT_OK;
    for (size_t i = 0; i < p.count && status == VIT_OK; i++)
        status = add_directory(list, p.directories[i].text, error);
    free_places(&p);
    if (status != VIT_OK) vit_free_model_list(list);
    return status;
}

void vit_free_model_list(vit_model_list *list) {
    for (size_t i = 0; i < list->count; i++) free_model(&list->models[i]);
    vit_free(list->models);
    *list = (vit_model_list){0};
}
