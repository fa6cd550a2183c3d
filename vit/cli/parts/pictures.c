#include "vit/cli/parts/pictures.h"

#include <string.h>
#include <strings.h>

#include "vit/base/sys.h"

enum { MAX_DEPTH = 16 };

vit_status vit_pictures_open(vit_pictures *out, char **operands, size_t operand_count,
                             const char *files_from, bool zeros, bool recursive, vit_error *error) {
    *out = (vit_pictures){.operands = operands,
                          .operand_count = operand_count,
                          .has_list = files_from != NULL,
                          .recursive = recursive};
    return out->has_list ? vit_name_list_open(&out->list, files_from, zeros, error) : VIT_OK;
}

/* ---- directories ---- */

/* Whether a name ends as those of pictures do, or has no ending. */
static bool is_picture(const char *name) {
    static const char *const ends[] = {
        ".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".jif", ".bmp",  ".dib",  ".gif",  ".pbm",
        ".pgm", ".ppm", ".pnm",  ".tga", ".webp", ".tif", ".tiff", ".heic", ".heif", ".avif",
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof ends[0]; i++)
        if (strcasecmp(dot, ends[i]) == 0) return true;
    return !dot;
}

/* Takes ownership of `path`. */
static vit_status add(vit_pictures *p, char *path, vit_error *error) {
    if (!VIT_MAKE_ROOM(p->found, p->found_count, p->found_capacity, "names of pictures", error)) {
        vit_free(path);
        return VIT_ERROR_MEMORY;
    }
    p->found[p->found_count++] = path;
    return VIT_OK;
}

static vit_status walk(vit_pictures *p, const char *directory, int depth, vit_error *error);

static vit_status add_entry(vit_pictures *p, const char *directory, const char *name, int depth,
                            vit_error *error) {
    char *path = vit_path_join(directory, name);
    vit_status status = VIT_OK;
    if (!path) return vit_fail_memory(error, "a path", strlen(directory) + strlen(name));
    vit_path_kind kind = vit_path_look(path);
    if (kind == VIT_PATH_FILE && is_picture(name)) return add(p, path, error);
    if (kind == VIT_PATH_DIRECTORY && !vit_path_leads_back(path))
        status = walk(p, path, depth + 1, error);
    else
        p->left_out++;
    vit_free(path);
    return status;
}

static vit_status walk(vit_pictures *p, const char *directory, int depth, vit_error *error) {
    char **names;
    size_t count;
    if (depth > MAX_DEPTH) {
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s lies too deep: directories are read up to %d deep", directory,
                        MAX_DEPTH);
    }
    vit_status status = vit_list_directory(&names, &count, directory, error);
    for (size_t i = 0; i < count && status == VIT_OK; i++)
        if (vit_name_is_wanted(names[i])) status = add_entry(p, directory, names[i], depth, error);
    vit_free(names);
    return status;
}

static void forget_found(vit_pictures *p) {
    for (size_t i = p->next_found; i < p->found_count; i++) vit_free(p->found[i]);
    p->found_count = p->next_found = 0;
}

/* p->found = the pictures of a directory; if there are none, *problem says why. */
static void open_directory(vit_pictures *p, const char *name, vit_error *problem) {
    vit_status status = VIT_OK;
    forget_found(p);
    if (!p->recursive) {
        status =
            vit_fail(problem, VIT_ERROR_ARGUMENT,
                     "%s is a directory: with --recursive the pictures in it are answered", name);
    } else {
        status = walk(p, name, 1, problem);
    }
    if (status == VIT_OK && p->found_count == 0) {
        status = vit_fail(problem, VIT_ERROR_ARGUMENT,
                          "%s holds no file that is named as pictures are (.png, .jpg, ...)", name);
    }
    if (status != VIT_OK) forget_found(p);
}

/* ---- one after the other ---- */

vit_status vit_pictures_next(vit_pictures *p, char **name, vit_error *problem, vit_error *error) {
    const char *given = NULL;
    *name = NULL;
    *problem = (vit_error){0};
    if (p->next_found == p->found_count) {
        vit_status status = VIT_OK;
        if (p->has_list)
            status = vit_name_list_next(&p->list, &given, error);
        else if (p->next_operand < p->operand_count)
            given = p->operands[p->next_operand++];
        if (status != VIT_OK || !given) return status;
        if (vit_path_look(given) == VIT_PATH_DIRECTORY) open_directory(p, given, problem);
    }
    *name = p->next_found < p->found_count ? p->found[p->next_found++] : vit_strdup(given);
    return *name ? VIT_OK : vit_fail_memory(error, "the name of a picture", 0);
}

vit_status vit_pictures_count(vit_pictures *pictures, uint64_t *count, vit_error *error) {
    vit_error problem;
    char *name;
    for (*count = 0;; ++*count) {
        const vit_status status = vit_pictures_next(pictures, &name, &problem, error);
        if (status != VIT_OK || !name) return status;
        vit_free(name);
    }
}

bool vit_pictures_ready(vit_pictures *p) {
    return p->next_found < p->found_count || !p->has_list || vit_name_list_ready(&p->list);
}

void vit_pictures_close(vit_pictures *p) {
    if (p->has_list) vit_name_list_close(&p->list);
    forget_found(p);
    vit_free(p->found);
}

vit_status vit_picture_of_input(vit_picture *picture, const char *files_from, vit_error *problem) {
    const size_t limit = (size_t)256 << 20; /* the library's, for a picture in a file */
    vit_bytes bytes;
    if (files_from && strcmp(files_from, "-") == 0)
        return vit_fail(problem, VIT_ERROR_ARGUMENT,
                        "-: standard input holds the names of the pictures, expected a file");
    vit_status status = vit_read_file(&bytes, "-", limit, problem);
    if (status != VIT_OK) return status;
    char *name = vit_strdup("standard input");
    if (!name) {
        vit_free(bytes.data);
        return vit_fail_memory(problem, "a name", 0);
    }
    *picture = (vit_picture){.name = name, .bytes = bytes.data, .size = bytes.size};
    return VIT_OK;
}
