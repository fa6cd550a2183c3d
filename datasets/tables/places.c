#include "datasets/tables/places.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"

#include <stdlib.h>
#include <string.h>

#define MOST_FOLDERS 65536
#define MOST_TRIED 64 /* folders in which a name with folders of its own is looked for */

/* What may follow the name that a table has. */
static const char *const endings[] = {"",     ".jpg",  ".png", ".jpeg", ".JPG", ".JPEG",
                                      ".PNG", ".webp", ".tif", ".tiff", ".bmp", ".gif"};

bool vit_places_has_ending(const char *name) {
    for (size_t i = 1; i < VIT_COUNT(endings); i++)
        if (vit_has_ending(name, endings[i])) return true;
    return false;
}

/* ---- folders ---- */

/* Owns `path` from now on. */
static vit_status add_folder(vit_places *p, char *path, vit_tree_kind kind, vit_error *error) {
    if (!path) return vit_fail_memory(error, "a path", 64);
    if (!VIT_MAKE_ROOM(p->folders, p->count, p->capacity, "folders", error)) {
        vit_free(path);
        return VIT_ERROR_MEMORY;
    }
    p->folders[p->count++] = (vit_place_folder){.path = path, .kind = kind};
    return VIT_OK;
}

static vit_status list_folder(vit_place_folder *f, vit_error *error) {
    return f->names ? VIT_OK : vit_list_directory(&f->names, &f->count, f->path, error);
}

/* Adds the folders in number `index`. */
static vit_status add_inner(vit_places *p, size_t index, vit_error *error) {
    vit_status status = list_folder(&p->folders[index], error);
    for (size_t i = 0; status == VIT_OK && i < p->folders[index].count; i++) {
        const vit_place_folder outer = p->folders[index];
        const char *name = outer.names[i];
        if (!vit_name_is_wanted(name) || vit_places_has_ending(name) || p->count == MOST_FOLDERS)
            continue;
        char *path = vit_path_join(outer.path, name);
        if (path && vit_path_look(path) != VIT_PATH_DIRECTORY) {
            vit_free(path);
            continue;
        }
        const vit_tree_kind own = vit_tree_kind_of(name);
        status = add_folder(p, path, outer.kind != VIT_TREE_KINDS ? outer.kind : own, error);
    }
    return status;
}

vit_status vit_places_open(vit_places *p, const char *directory, vit_error *error) {
    *p = (vit_places){0};
    vit_status status = add_folder(p, vit_strdup(directory), VIT_TREE_KINDS, error);
    if (status == VIT_OK) status = add_inner(p, 0, error);
    for (size_t i = 1, count = p->count; i < count && status == VIT_OK; i++)
        status = add_inner(p, i, error);
    return status;
}

void vit_places_free(vit_places *p) {
    for (size_t i = 0; i < p->count; i++) {
        vit_free(p->folders[i].path);
        vit_free(p->folders[i].names);
    }
    vit_free(p->folders);
    vit_free(p->names);
    *p = (vit_places){0};
}

/* ---- names ---- */

static int compare_names(const void *a, const void *b) {
    const vit_place_name *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->folder > y->folder) - (x->folder < y->folder);
}

/* Lists all folders, once. */
static vit_status list_names(vit_places *p, vit_error *error) {
    size_t count = 0;
    vit_status status = VIT_OK;
    if (p->names) return VIT_OK;
    for (size_t i = 1; i < p->count && status == VIT_OK; i++) {
        status = list_folder(&p->folders[i], error);
        count += p->folders[i].count;
    }
    if (status != VIT_OK) return status;
    p->names = vit_alloc(count, sizeof *p->names);
    if (!p->names) return vit_fail_memory(error, "names", count * sizeof *p->names);
    for (size_t i = 1; i < p->count; i++)
        for (size_t k = 0; k < p->folders[i].count; k++)
            p->names[p->name_count++] = (vit_place_name){p->folders[i].names[k], i};
    if (count > 0) qsort(p->names, count, sizeof *p->names, compare_names);
    return VIT_OK;
}

/* The first of the names that is not before `name`. */
static size_t lower_bound(const vit_places *p, const char *name) {
    size_t low = 0, high = p->name_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(p->names[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- finding ---- */

/* A search for a name in folders of one kind. */
typedef struct search {
    vit_places *p;
    const char *file;
    vit_tree_kind kind;
    char *path; /* what was found first; NULL: nothing */
    size_t name;
} search;

/* Takes folder/file<ending> if it is a file; FORMAT if another was found before. */
static vit_status try_folder(search *s, size_t folder, const char *ending, vit_error *error) {
    vit_string path = {0};
    const char *directory = s->p->folders[folder].path;
    vit_string_add(&path, "%s/%s%s", directory, s->file, ending);
    if (path.failed) return vit_fail_memory(error, "a path", strlen(s->file));
    vit_status status = VIT_OK;
    if (vit_path_look(path.text) != VIT_PATH_FILE ||
        (s->path && vit_path_same(s->path, path.text))) {
        vit_string_free(&path);
    } else if (s->path) {
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s may be %s or %s: write the folder into the table, or move the other "
                          "one away",
                          s->file, s->path, path.text);
        vit_string_free(&path);
    } else {
        s->path = path.text;
        s->name = strlen(directory) + 1;
    }
    return status;
}

/* Tries the folders of the kind by the list of all names. */
static vit_status search_names(search *s, const char *ending, vit_error *error) {
    vit_string name = {0};
    vit_string_add(&name, "%s%s", s->file, ending);
    if (name.failed) return vit_fail_memory(error, "a name", strlen(s->file));
    vit_status status = VIT_OK;
    for (size_t i = lower_bound(s->p, name.text); i < s->p->name_count && status == VIT_OK; i++) {
        const size_t folder = s->p->names[i].folder;
        if (strcmp(s->p->names[i].name, name.text) != 0) break;
        if (s->p->folders[folder].kind == s->kind) status = try_folder(s, folder, ending, error);
    }
    vit_string_free(&name);
    return status;
}

static vit_status search_folders(search *s, const char *ending, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 1; i < vit_min(s->p->count, MOST_TRIED) && status == VIT_OK; i++)
        if (s->p->folders[i].kind == s->kind) status = try_folder(s, i, ending, error);
    return status;
}

vit_status vit_places_find(char **path, size_t *name, vit_places *p, const char *file,
                           vit_tree_kind kind, vit_error *error) {
    const vit_tree_kind kinds[] = {VIT_TREE_KINDS, kind, VIT_TREE_KINDS};
    const size_t tried = vit_places_has_ending(file) ? 1 : VIT_COUNT(endings);
    search s = {.p = p, .file = file};
    vit_status status = VIT_OK;
    for (size_t turn = 0; turn < 3 && status == VIT_OK && !s.path; turn++) {
        s.kind = kinds[turn];
        if (turn == 1 && !strchr(file, '/')) status = list_names(p, error);
        for (size_t k = 0; k < tried && status == VIT_OK; k++)
            status = turn == 0           ? try_folder(&s, 0, endings[k], error)
                     : strchr(file, '/') ? search_folders(&s, endings[k], error)
                                         : search_names(&s, endings[k], error);
    }
    *path = status == VIT_OK ? s.path : NULL;
    *name = s.name;
    if (status != VIT_OK) vit_free(s.path);
    return status;
}
