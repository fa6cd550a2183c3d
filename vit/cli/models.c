#include "vit/cli/models.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vit/base/sys.h"
#include "vit/base/text.h"

static const char ending[] = ".safetensors";

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The directory this program lies in; false where the system does not tell. */
static bool program_directory(char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0 || (size_t)length == size - 1) {
        return false;
    }
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return true;
}

/* The model called `name` in a directory given in two parts, if it is there; the directory is
 * added to those looked at. */
static char *look_in(vit_text *looked, const char *base, const char *below, const char *name) {
    vit_text path = {0};
    vit_text_add(looked, "%s%s%s", looked->length > 0 ? ", " : "", base, below);
    vit_text_add(&path, "%s%s/%s%s", base, below, name, ending);
    char *found = NULL;
    if (!path.failed && vit_path_look(path.text) == VIT_PATH_FILE) {
        found = vit_strdup(path.text);
    }
    vit_text_free(&path);
    return found;
}

static char *look_everywhere(vit_text *looked, const char *name) {
    char directory[4096];
    const char *models = getenv("VIT_MODELS");
    char *found = NULL;
    if (models != NULL && *models != '\0') {
        found = look_in(looked, models, "", name);
    }
    if (found == NULL && program_directory(directory, sizeof directory)) {
        found = look_in(looked, directory, "/../share/vit/models", name);
        if (found == NULL) {
            found = look_in(looked, directory, "/../../models", name);
        }
    }
    return found;
}

static vit_status find_named(char **path, const char *name, vit_error *error) {
    vit_text looked = {0};
    *path = look_everywhere(&looked, name);
    bool memory = !looked.failed;
    if (*path == NULL && memory) {
        vit_fail(error, VIT_ERROR_IO,
                 "no model \"%s\": it is neither a file, nor is %s%s in %s; "
                 "\"vit-train --data DATA --out %s%s\" makes one, to be named with its ending",
                 name, name, ending, looked.length > 0 ? looked.text : "$VIT_MODELS", name, ending);
    }
    vit_text_free(&looked);
    if (!memory) {
        vit_free(*path);
        *path = NULL;
        return vit_fail_memory(error, "the path of a model", strlen(name));
    }
    return *path != NULL ? VIT_OK : VIT_ERROR_IO;
}

vit_status vit_find_model(char **path, const char *name, vit_error *error) {
    bool is_path = strchr(name, '/') != NULL || ends_with(name, ending);
    vit_path_kind kind = vit_path_look(name);
    if (kind == VIT_PATH_DIRECTORY) {
        *path = vit_path_join(name, "model.safetensors");
        if (*path == NULL || is_path || vit_path_look(*path) == VIT_PATH_FILE) {
            return *path != NULL ? VIT_OK : vit_fail_memory(error, "a path", strlen(name));
        }
        vit_free(*path);
    }
    /* What can only be a path is left to the reader, who can say best what is wrong with it. */
    if (kind == VIT_PATH_FILE || is_path) {
        *path = vit_strdup(name);
        return *path != NULL ? VIT_OK : vit_fail_memory(error, "a path", strlen(name));
    }
    return find_named(path, name, error);
}
