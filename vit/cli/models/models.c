#include "vit/cli/models/models.h"
#include "vit/cli/models/hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vit/base/sys.h"
#include "vit/base/text.h"
#include "vit/zero_shot.h"

static const char ending[] = ".safetensors";

/* Directories where named models are looked for, in this order. */
typedef struct model_path {
    vit_string list[3];
    size_t count;
    bool failed; /* there was no memory */
} model_path;

/* Cuts the last name off a path; false if it has only one. */
static bool go_up(char *path) {
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    return slash != NULL;
}

static void add_to_path(model_path *p, const char *base, const char *below) {
    vit_string_add(&p->list[p->count], "%s%s", base, below);
    p->failed = p->failed || p->list[p->count].failed;
    p->count++;
}

/* The first is one of the others, too: vit_offer_models has set it. */
static void drop_first(model_path *p) {
    vit_string_free(&p->list[0]);
    for (size_t i = 1; i < p->count; i++) p->list[i - 1] = p->list[i];
    p->list[--p->count] = (vit_string){0};
}

static model_path find_directories(void) {
    model_path found = {0};
    char path[4096]; /* of this program, links resolved */
    const char *models = getenv("VIT_MODELS");
    if (models && *models != '\0') add_to_path(&found, models, "");
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0 || (size_t)length == sizeof path - 1) return found;
    path[length] = '\0';
    if (go_up(path) && go_up(path)) {
        add_to_path(&found, path, "/share/vit/models");
        if (go_up(path)) add_to_path(&found, path, "/models");
    }
    for (size_t i = 1; i < found.count && models && *models != '\0'; i++)
        if (!found.failed && strcmp(found.list[i].text, models) == 0) drop_first(&found);
    return found;
}

static void free_directories(model_path *p) {
    for (size_t i = 0; i < p->count; i++) vit_string_free(&p->list[i]);
}

void vit_offer_models(void) {
    model_path p = find_directories();
    for (size_t i = 0; i < p.count && !getenv("VIT_MODELS") && !p.failed; i++)
        if (vit_path_look(p.list[i].text) == VIT_PATH_DIRECTORY)
            setenv("VIT_MODELS", p.list[i].text, 0);
    free_directories(&p);
}

/* *path: the first NAME.safetensors in the directories, or NULL; false: no memory. */
static bool look_everywhere(char **path, const model_path *p, const char *name) {
    *path = NULL;
    for (size_t i = 0; i < p->count && !*path; i++) {
        vit_string candidate = {0};
        vit_string_add(&candidate, "%s/%s%s", p->list[i].text, name, ending);
        const bool failed = candidate.failed;
        if (failed || vit_path_look(candidate.text) != VIT_PATH_FILE) vit_string_free(&candidate);
        if (failed) return false;
        *path = candidate.text;
    }
    return true;
}

static vit_status no_such_model(const model_path *p, const char *name, vit_error *error) {
    char here[1024];
    vit_string looked = {0};
    snprintf(here, sizeof here, "./%s%s", name, ending);
    if (vit_path_look(here) == VIT_PATH_FILE)
        return vit_fail(error, VIT_ERROR_IO,
                        "no model \"%s\" is shipped, but there is a file here: did you mean %s?",
                        name, here);
    for (size_t i = 0; i < p->count; i++)
        vit_string_add(&looked, "%s%s", i > 0 ? ", " : "", p->list[i].text);
    vit_status status = vit_fail(
        error, VIT_ERROR_IO,
        "no model \"%s\": it is neither a file, nor is %s%s in %s; "
        "\"scripts/fetch-weights %s\" downloads published weights into %s/; "
        "\"vit-train --data DATA --out %s%s\" makes a model, to be named with its ending",
        name, name, ending, looked.length > 0 && !looked.failed ? looked.text : "$VIT_MODELS", name,
        name, name, ending);
    vit_string_free(&looked);
    return status;
}

static vit_status find_named(char **path, const char *name, vit_error *error) {
    model_path p = find_directories();
    vit_status status = VIT_OK;
    if (p.failed || !look_everywhere(path, &p, name)) {
        *path = NULL;
        status = vit_fail_memory(error, "the path of a model", strlen(name));
    } else if (!*path && vit_path_look(name) == VIT_PATH_DIRECTORY) {
        *path = vit_strdup(name); /* whose error says what it lacks */
        if (!*path) status = vit_fail_memory(error, "a path", strlen(name));
    } else if (!*path) {
        status = no_such_model(&p, name, error);
    }
    free_directories(&p);
    return status;
}

/* *found: whether a directory contains weights; it may as well be one of data. False: no memory. */
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
                 vit_has_ending(files[i], ending);
    }
    vit_free(files);
    return true;
}

/* Whether the path of nothing may be a published network's: NAME/, or OWNER/NAME as on the Hugging
 * Face hub, where no directory is called OWNER. */
static bool may_be_published(const char *path) {
    char owner[256];
    const size_t length = strcspn(path, "/");
    if (length == 0 || length >= sizeof owner || path[0] == '.') return false;
    memcpy(owner, path, length);
    owner[length] = '\0';
    return path[length] == '/' && !strchr(path + length + 1, '/') &&
           vit_path_look(owner) == VIT_PATH_NONE;
}

vit_status vit_find_model(char **path, const char *name, vit_error *error) {
    static const char *const endings[] = {ending, ".npz", ".pth", ".pt", ".bin", ".json"};
    if (vit_hub_name(name)) return vit_find_in_hub(path, vit_hub_name(name), error);
    vit_path_kind kind = vit_path_look(name);
    bool has_ending = false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        has_ending = has_ending || vit_has_ending(name, endings[i]);
    bool is_path = kind == VIT_PATH_FILE || has_ending || strchr(name, '/');
    if (kind == VIT_PATH_DIRECTORY && !is_path && !holds_weights(&is_path, name))
        return vit_fail_memory(error, "a path", strlen(name));
    if (kind == VIT_PATH_NONE && !has_ending && may_be_published(name))
        return vit_fail(error, VIT_ERROR_IO,
                        "no model \"%s\": there is no such file or directory; "
                        "\"scripts/fetch-weights %.*s\" downloads published weights",
                        name, (int)vit_stem_length(name, "/"), name);
    /* Any other path is not checked: the error of reading it says best what is wrong. */
    if (is_path) {
        *path = vit_strdup(name);
        return *path ? VIT_OK : vit_fail_memory(error, "a path", strlen(name));
    }
    return find_named(path, name, error);
}

static vit_status load_words(vit_model **out, const char *name, const vit_model_options *options,
                             const vit_option_list *templates, vit_error *error) {
    char *path;
    *out = NULL;
    vit_status status = vit_find_model(&path, name, error);
    if (status != VIT_OK) return status;
    status =
        vit_model_load_zero_shot(out, path, options, templates->values, templates->count, error);
    vit_free(path);
    return status;
}

vit_status vit_load_named_model(vit_model **out, const char *name, const vit_model_options *options,
                                vit_error *error) {
    return load_words(out, name, options, &(vit_option_list){.count = 0}, error);
}

vit_status vit_chosen_model_options(vit_model_options *out, const vit_model_choice *from,
                                    vit_error *error) {
    *out = (vit_model_options){.config = from->config,
                               .emulate = from->emulate,
                               .height = from->size.height,
                               .width = from->size.width,
                               .exif_orientation = (vit_orientation)from->exif_orientation,
                               .cpu = vit_chosen_cpu(),
                               .precision = vit_chosen_precision(from),
                               .bf16 = (vit_bf16)from->bf16};
    return vit_chosen_labels(&out->labels, from, error);
}

vit_status vit_load_chosen_model(vit_model **out, const vit_model_choice *from, uint64_t threads,
                                 bool in_place, vit_error *error) {
    vit_model_options options;
    *out = NULL;
    const vit_status status = vit_chosen_model_options(&options, from, error);
    options.threads = (int)threads;
    options.in_place = in_place;
    if (status != VIT_OK) return status;
    return load_words(out, from->name, &options, &from->templates, error);
}

static void free_model(vit_named_model *model) {
    vit_free(model->name);
    vit_free(model->path);
}

/* Adds DIRECTORY/FILE, unless an earlier place has a model of that name. */
static vit_status add_model(vit_model_list *list, const char *directory, const char *file,
                            vit_error *error) {
    vit_named_model found = {.name = vit_strdup(file), .path = vit_path_join(directory, file)};
    vit_status status = VIT_OK;
    if (!found.name || !found.path)
        status = vit_fail_memory(error, "the list of models", strlen(file));
    else if (!VIT_MAKE_ROOM(list->models, list->count, list->capacity, "the list of models", error))
        status = VIT_ERROR_MEMORY;
    bool is_new = status == VIT_OK && vit_path_look(found.path) == VIT_PATH_FILE;
    if (status == VIT_OK) found.name[vit_stem_length(file, ending)] = '\0';
    for (size_t i = 0; i < list->count && is_new; i++)
        is_new = strcmp(list->models[i].name, found.name) != 0;
    if (is_new)
        list->models[list->count++] = found;
    else
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
        if (vit_has_ending(names[i], ending)) status = add_model(list, directory, names[i], error);
    vit_free(names);
    return status;
}

vit_status vit_list_models(vit_model_list *list, vit_error *error) {
    *list = (vit_model_list){0};
    model_path p = find_directories();
    vit_status status = p.failed ? vit_fail_memory(error, "the list of models", 0) : VIT_OK;
    for (size_t i = 0; i < p.count && status == VIT_OK; i++)
        status = add_directory(list, p.list[i].text, error);
    free_directories(&p);
    if (status != VIT_OK) vit_free_model_list(list);
    return status;
}

void vit_show_model_directories(void (*show)(const char *directory, void *context), void *context) {
    model_path p = find_directories();
    for (size_t i = 0; i < p.count && !p.failed; i++) show(p.list[i].text, context);
    free_directories(&p);
}

void vit_free_model_list(vit_model_list *list) {
    for (size_t i = 0; i < list->count; i++) free_model(&list->models[i]);
    vit_free(list->models);
    *list = (vit_model_list){0};
}
