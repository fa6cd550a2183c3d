#include "datasets/tables/part_lists.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_LIST ((size_t)256 << 20)
#define MOST_LISTS 16

/* A line of a list. */
typedef struct entry {
    char *name;         /* of the picture */
    vit_tree_kind kind; /* KINDS: the list says something else, which is in its line */
    size_t list, line;
} entry;

typedef struct part_lists {
    char *paths[MOST_LISTS];
    bool are_used[MOST_LISTS]; /* they name a picture of a table */
    size_t list_count, count, capacity;
    entry *entries; /* sorted by name */
} part_lists;

static void clear(part_lists *l) {
    for (size_t i = 0; i < l->list_count; i++) vit_free(l->paths[i]);
    for (size_t i = 0; i < l->count; i++) vit_free(l->entries[i].name);
    vit_free(l->entries);
}

static vit_status add_entry(part_lists *l, char *name, vit_tree_kind kind, size_t line,
                            vit_error *error) {
    if (!name) return vit_fail_memory(error, "a list", 64);
    if (!VIT_MAKE_ROOM(l->entries, l->count, l->capacity, "a list of parts", error)) {
        vit_free(name);
        return VIT_ERROR_MEMORY;
    }
    for (char *at = name; (at = strchr(at, '\\'));) *at = '/';
    l->entries[l->count++] = (entry){name, kind, l->list_count - 1, line};
    return VIT_OK;
}

/* ---- reading ---- */

/* CelebA's numbers its parts. */
static bool has_numbers(const char *name) {
    return strncasecmp(name, "list_eval_partition.", 20) == 0;
}

static vit_tree_kind kind_of_number(const char *value) {
    const bool is_one = value[0] >= '0' && value[0] <= '2' && !value[1];
    return is_one ? (vit_tree_kind)(value[0] - '0') : VIT_TREE_KINDS;
}

/* The part that a text is called as; KINDS: none. */
static vit_tree_kind kind_of_text(const char *name) {
    bool several;
    if (strncasecmp(name, "train_val", 9) == 0 || strncasecmp(name, "trainval", 8) == 0)
        return VIT_TREE_TRAIN;
    return vit_tree_kind_within(&several, name);
}

/* A line: a name, and behind white space or a comma perhaps the number of a part. */
static vit_status read_line(part_lists *l, const char *text, size_t length, vit_tree_kind kind,
                            size_t line, vit_error *error) {
    char *name = vit_alloc(1, length + 1);
    if (!name) return vit_fail_memory(error, "a list", length);
    memcpy(name, text, length);
    name[length] = 0;
    char *second = name + strcspn(name, ", \t\r");
    if (*second) *second++ = 0;
    second += strspn(second, ", \t\r");
    second[strcspn(second, ", \t\r")] = 0;
    if (kind == VIT_TREE_KINDS) kind = kind_of_number(second);
    if (*name) return add_entry(l, name, kind, line, error);
    vit_free(name);
    return VIT_OK;
}

static vit_status read_text(part_lists *l, const char *path, vit_tree_kind kind, vit_error *error) {
    vit_bytes file;
    vit_status status = vit_read_regular(&file, path, MAX_LIST, error);
    if (status != VIT_OK) return status;
    const char *text = (const char *)file.data;
    text += vit_utf8_mark(text, file.size);
    for (size_t line = 1; *text && status == VIT_OK; line++) {
        const size_t length = strcspn(text, "\n");
        status = read_line(l, text, length, kind, line, error);
        text += length + (text[length] == '\n');
    }
    vit_free(file.data);
    return status;
}

/* Whether a table has pictures and parts, and no classes. */
static bool is_wanted(const vit_cells *c, const void *user) {
    size_t file = 0, class = 0, split = 0;
    (void)user;
    return vit_column_find(c, VIT_COLUMN_FILE, &file) < c->column_count &&
           vit_column_find(c, VIT_COLUMN_SPLIT, &split) < c->column_count &&
           vit_column_find(c, VIT_COLUMN_CLASS, &class) == c->column_count;
}

static vit_status read_table(part_lists *l, const char *path, vit_error *error) {
    vit_cells cells;
    size_t i = 0, k = 0;
    vit_status status = vit_cells_read(&cells, path, is_wanted, NULL, error);
    const size_t file = vit_column_find(&cells, VIT_COLUMN_FILE, &i);
    const size_t split = vit_column_find(&cells, VIT_COLUMN_SPLIT, &k);
    const bool is_numbered = has_numbers(vit_path_last(path));
    for (size_t r = 0; r < cells.row_count && status == VIT_OK; r++) {
        const char *name = vit_cell(&cells, r, file), *value = vit_cell(&cells, r, split);
        if (!name || !*name || !value) continue;
        status = add_entry(l, vit_strdup(name),
                           is_numbered ? kind_of_number(value) : vit_split_kind(value, false),
                           cells.lines[r], error);
    }
    vit_cells_clear(&cells);
    return status == VIT_ERROR_FORMAT ? VIT_OK : status; /* it is something else */
}

static bool is_table(const char *path, const vit_listed_table *tables, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(tables[i].path, path) == 0) return true;
    return false;
}

static int compare_entries(const void *a, const void *b) {
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

static vit_status read_lists(part_lists *l, const char *root, const vit_listed_table *tables,
                             size_t count, vit_error *error) {
    char **names;
    size_t n;
    vit_status status = vit_list_directory(&names, &n, root, error);
    for (size_t i = 0; i < n && status == VIT_OK && l->list_count < MOST_LISTS; i++) {
        const bool is_text = vit_has_ending(names[i], ".txt");
        const vit_tree_kind kind = kind_of_text(names[i]);
        if (!vit_name_is_wanted(names[i])) continue;
        if (is_text ? kind == VIT_TREE_KINDS && !has_numbers(names[i]) : !vit_cells_is(names[i]))
            continue;
        char *path = vit_path_join(root, names[i]);
        if (!path) status = vit_fail_memory(error, "a path", strlen(root));
        if (!path || is_table(path, tables, count) || vit_path_look(path) != VIT_PATH_FILE) {
            vit_free(path);
            continue;
        }
        l->paths[l->list_count++] = path;
        status = is_text ? read_text(l, path, has_numbers(names[i]) ? VIT_TREE_KINDS : kind, error)
                         : read_table(l, path, error);
    }
    vit_free(names);
    if (l->count > 0) qsort(l->entries, l->count, sizeof *l->entries, compare_entries);
    return status;
}

/* ---- rows ---- */

/* The first entry of this name; NULL: there is none. */
static const entry *find_name(const part_lists *l, const char *name) {
    size_t low = 0, high = l->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(l->entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->count && strcmp(l->entries[low].name, name) == 0 ? &l->entries[low] : NULL;
}

/* By the row's path, by its last name, by that without its ending. */
static vit_status find_row(const entry **found, const part_lists *l, const char *file,
                           vit_error *error) {
    char *stem = vit_strdup(vit_path_last(file)), *dot = stem ? strrchr(stem, '.') : NULL;
    if (!stem) return vit_fail_memory(error, "a name", strlen(file));
    *found = find_name(l, file);
    if (!*found) *found = find_name(l, stem);
    if (dot) *dot = 0;
    if (!*found) *found = find_name(l, stem);
    vit_free(stem);
    return VIT_OK;
}

/* FORMAT if the list has no part, if another list has another, or the table. */
static vit_status check_entry(const part_lists *l, const vit_listed_table *t,
                              const vit_listed_row *r, const entry *e, vit_error *error) {
    const char *list = l->paths[e->list];
    if (e->kind == VIT_TREE_KINDS)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: line %zu: says no part that is known of %s: expected train, val or "
                        "test",
                        list, e->line, r->file);
    for (const entry *o = e + 1; o < l->entries + l->count && !compare_entries(o, e); o++)
        if (o->kind != e->kind)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s is in two lists of parts that disagree: %s (line %zu) and %s (line "
                            "%zu)",
                            r->file, list, e->line, l->paths[o->list], o->line);
    if (!r->is_said || r->kind == e->kind) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: line %zu: the part of %s is said by the table, or a folder, and %s says "
                    "another: move the list away, or correct one of them",
                    t->path, r->line, r->file, list);
}

static vit_status apply_rows(part_lists *l, vit_listed_table *t, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t i = 0; i < t->row_count && status == VIT_OK; i++) {
        vit_listed_row *r = &t->rows[i];
        const entry *e = NULL;
        status = find_row(&e, l, r->file, error);
        if (status != VIT_OK || !e) continue;
        status = check_entry(l, t, r, e, error);
        l->are_used[e->list] = true;
        r->is_said = true;
        r->kind = e->kind;
    }
    return status;
}

/* FORMAT if a row is in no list, and one of these has training pictures. */
static vit_status check_left(const part_lists *l, const vit_listed_table *t, const char *said,
                             vit_error *error) {
    bool trains = false;
    for (size_t i = 0; i < l->count && !trains; i++)
        trains = l->are_used[l->entries[i].list] && l->entries[i].kind == VIT_TREE_TRAIN;
    for (size_t i = 0; i < t->row_count && trains; i++)
        if (!t->rows[i].is_said)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: line %zu: no part is said of %s, which is not in %s: add it to a "
                            "list, or move the lists away",
                            t->path, t->rows[i].line, t->rows[i].file, said);
    return VIT_OK;
}

vit_status vit_part_lists_apply(char **said, vit_listed_table *tables, size_t count,
                                const char *root, vit_error *error) {
    part_lists l = {0};
    vit_string text = {0};
    vit_status status = read_lists(&l, root, tables, count, error);
    for (size_t i = 0; i < count && status == VIT_OK && l.count > 0; i++)
        status = apply_rows(&l, &tables[i], error);
    for (size_t i = 0; i < l.list_count; i++)
        if (l.are_used[i])
            vit_string_add(&text, "%s%s", text.length > 0 ? " and " : "",
                           vit_path_last(l.paths[i]));
    if (text.failed) status = vit_fail_memory(error, "a name", 256);
    for (size_t i = 0; i < count && status == VIT_OK && text.text; i++)
        status = check_left(&l, &tables[i], text.text, error);
    if (status != VIT_OK) vit_string_free(&text);
    *said = text.text;
    clear(&l);
    return status;
}
