#include "datasets/folders/tree.h"
#include "datasets/reader.h"
#include "datasets/records/gzip.h"
#include "datasets/unread.h"
#include "vit/base/guests.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 24 }; /* of sets */

static bool is_one_of(const char *const *names, const char *name) {
    while (names && *names && strcmp(*names, name) != 0) names++;
    return names && *names;
}

/* Appends names to *count others. */
static void add_names(const char *names[MOST_NAMES], size_t *count, const char *const *more) {
    for (; more && *more && *count < MOST_NAMES; more++) names[(*count)++] = *more;
}

/* names: the names of sets, those that are looked up and those that are made; returns how many. */
static size_t all_names(const char *names[MOST_NAMES]) {
    size_t count = 0;
    for (size_t i = 0; vit_readers[i]; i++) add_names(names, &count, vit_readers[i]->sets);
    for (size_t i = 0; vit_named_sets[i]; i++) add_names(names, &count, vit_named_sets[i]->names);
    return count;
}

/* ---- a directory ---- */

bool vit_listing_has(const vit_listing *directory, const char *name) {
    for (size_t i = 0; i < directory->count; i++)
        if (strcmp(directory->names[i], name) == 0) return true;
    return false;
}

const char *vit_listing_find(const vit_listing *directory, const char *name) {
    const size_t length = strlen(name);
    const char *packed = NULL;
    for (size_t i = 0; i < directory->count; i++) {
        const char *found = directory->names[i];
        if (strncmp(found, name, length) != 0) continue;
        if (found[length] == '\0') return found;
        if (strcmp(found + length, ".gz") == 0) packed = found;
    }
    return packed;
}

vit_status vit_listing_read(vit_bytes *out, char **path, const vit_listing *directory,
                            const char *name, size_t limit, vit_error *error) {
    const char *found = vit_listing_find(directory, name);
    *out = (vit_bytes){0};
    *path = vit_path_join(directory->path, found ? found : name);
    if (!*path) return vit_fail_memory(error, "a path", strlen(directory->path) + strlen(name));
    if (!found)
        return vit_fail(error, VIT_ERROR_IO, "%s: has no %s (or %s.gz)", directory->path, name,
                        name);
    return vit_read_plain_or_gzip(out, *path, limit, error);
}

vit_status vit_class_names_read(vit_label_list *out, const vit_listing *directory,
                                vit_error *error) {
    static const char *const files[] = {"classes.txt", "labels.txt"};
    *out = (vit_label_list){0};
    for (size_t i = 0; i < 2 && !out->labels; i++) {
        if (!vit_listing_has(directory, files[i])) continue;
        char *path = vit_path_join(directory->path, files[i]);
        if (!path) return vit_fail_memory(error, "a path", strlen(directory->path) + 16);
        const vit_status status = vit_label_list_read_regular(out, path, error);
        vit_free(path);
        if (status != VIT_OK) return status;
    }
    return VIT_OK;
}

#define NAMES_SHOWN 4

static vit_status nothing_known(const vit_listing *directory, vit_error *error) {
    vit_string holds = {0}, expects = {0};
    char guests[VIT_GUEST_TEXT];
    if (directory->chosen)
        return vit_fail(error, VIT_ERROR_IO, "%s: has no files of %s", directory->path,
                        directory->chosen);
    for (size_t i = 0; i < directory->count && i < NAMES_SHOWN; i++)
        vit_string_add(&holds, "%s%s", i > 0 ? ", " : "", directory->names[i]);
    if (directory->count > NAMES_SHOWN)
        vit_string_add(&holds, " and %zu more", directory->count - NAMES_SHOWN);
    if (directory->count == 0) vit_string_add(&holds, "nothing");
    for (size_t i = 0; vit_readers[i]; i++)
        vit_string_add(&expects, "%s%s", i > 0 ? ", or " : "", vit_readers[i]->expects);
    vit_string_add(&expects, "%s", vit_guests_for(guests, "vit_readers"));
    const vit_unread unread = vit_unread_find(directory->path, 0);
    const char *advice = unread.advice;
    for (size_t i = 0; i < directory->count && !advice; i++)
        advice = vit_unread_advice(directory->names[i]);
    vit_status status = VIT_OK;
    if (holds.failed || expects.failed)
        status = vit_fail_memory(error, "a message", 256);
    else if (advice)
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: holds no data set that is known: found %s; %s%s%s", directory->path,
                          holds.text, unread.path ? vit_path_last(unread.path) : "",
                          unread.path ? ": " : "", advice);
    else
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: holds no data set that is known: found %s; expected %s",
                          directory->path, holds.text, expects.text);
    vit_free(unread.path);
    vit_string_free(&holds);
    vit_string_free(&expects);
    return status;
}

/* The reader whose probe succeeds first; NULL: none. */
static const vit_reader *reader_of(const vit_listing *directory) {
    for (size_t i = 0; vit_readers[i]; i++)
        if (vit_readers[i]->probe(directory)) return vit_readers[i];
    return NULL;
}

#define MOST_WRAPPED 3

static vit_status find_inner(char **inner, const vit_listing *directory, int depth,
                             vit_error *error);

/* *found = the folder with the files of a set, which is this one of the directory or in it, freed
 * by vit_free; NULL if there is none. */
static vit_status look_into(char **found, const vit_listing *directory, const char *wrapper,
                            int depth, vit_error *error) {
    char **names = NULL, *path = vit_path_join(directory->path, wrapper);
    vit_listing l = {.path = path, .chosen = directory->chosen};
    vit_status status = VIT_OK;
    if (!path) return vit_fail_memory(error, "a path", strlen(directory->path) + 32);
    if (vit_path_look(path) == VIT_PATH_DIRECTORY)
        status = vit_list_directory(&names, &l.count, path, error);
    l.names = names;
    const vit_reader *reader = names ? reader_of(&l) : NULL;
    if (reader == &vit_reader_folder) status = find_inner(found, &l, depth - 1, error);
    /* A folder of CIFAR's is no class, even if it is empty. */
    const bool is_set = reader ? reader != &vit_reader_folder : !!strchr(wrapper, '-');
    if (is_set && names) *found = path;
    vit_free(names);
    if (*found != path) vit_free(path);
    return status;
}

/* *inner = the folder in a directory of folders, itself not a set, that has the files of a set in a
 * wrapper, freed by vit_free; NULL if there is none. MISMATCH if there are several. */
static vit_status find_inner(char **inner, const vit_listing *directory, int depth,
                             vit_error *error) {
    const char *first = NULL;
    vit_status status = VIT_OK;
    *inner = NULL;
    for (size_t i = 0; vit_readers[i] && depth > 0; i++)
        for (const char *const *w = vit_readers[i]->wrappers; w && *w && status == VIT_OK; w++) {
            char *found = NULL;
            if (!vit_listing_has(directory, *w)) continue;
            status = look_into(&found, directory, *w, depth, error);
            if (found && first)
                status = vit_fail(error, VIT_ERROR_MISMATCH,
                                  "%s: holds the sets %s and %s: name the folder of one of them",
                                  directory->path, first, *w);
            if (!found) continue;
            vit_free(*inner);
            *inner = found;
            first = *w;
        }
    if (status == VIT_OK) return VIT_OK;
    vit_free(*inner);
    *inner = NULL;
    return status;
}

/* The name of a set is that of the innermost folder that is not called raw or gzip. */
static void name_after(vit_dataset *out, const char *path) {
    vit_path_name(out->name, sizeof out->name, path);
    if (strcmp(out->name, "raw") != 0 && strcmp(out->name, "gzip") != 0) return;
    char *outer = vit_path_join(path, "..");
    if (outer) vit_path_name(out->name, sizeof out->name, outer);
    vit_free(outer);
}

/* ---- boxes instead of classes ---- */

/* Whether the directory's folder has a text for a picture. */
static bool has_texts(const char *directory, const char *folder) {
    char **names = NULL, *path = vit_path_join(directory, folder);
    size_t count = 0;
    bool found = false;
    if (path && vit_path_look(path) == VIT_PATH_DIRECTORY &&
        vit_list_directory(&names, &count, path, NULL) == VIT_OK)
        for (size_t i = 0; i < count && !found; i++) found = vit_has_ending(names[i], ".txt");
    vit_free(names);
    vit_free(path);
    return found;
}

/* FORMAT if it is laid out as YOLO's data are: images and labels side by side, around the parts or
 * in them. */
static vit_status refuse_boxes(const vit_listing *directory, vit_error *error) {
    static const char *const around[] = {"labels", "labels/train", "labels/val", "labels/test",
                                         "labels/train2017"};
    static const char *const within[] = {"train", "valid", "val", "test"};
    const char *folder = NULL, *part = "";
    for (size_t i = 0; i < VIT_COUNT(around) && vit_listing_has(directory, "images"); i++)
        if (!folder && has_texts(directory->path, around[i])) folder = around[i];
    for (size_t i = 0; i < VIT_COUNT(within) && !folder; i++) {
        char *inner = vit_listing_has(directory, within[i])
                          ? vit_path_join(directory->path, within[i])
                          : NULL;
        char *images = inner ? vit_path_join(inner, "images") : NULL;
        if (images && vit_path_look(images) == VIT_PATH_DIRECTORY && has_texts(inner, "labels"))
            folder = "/labels", part = within[i];
        vit_free(inner);
        vit_free(images);
    }
    if (!folder) return VIT_OK;
    return vit_fail(error, VIT_ERROR_FORMAT,
                    "%s: is laid out for finding objects (YOLO): %s%s holds a text of boxes for "
                    "each picture, not a class; %s",
                    directory->path, part, folder, vit_unread_pictures);
}

/* If folders are no data set, but hold something that is not read, the error says what to do about
 * this: alone if it holds the pictures, too. */
static vit_status explain_unread(vit_status status, const char *directory, vit_error *error) {
    if (status == VIT_OK || status == VIT_ERROR_MEMORY) return status;
    const vit_unread unread = vit_unread_find(directory, 1);
    const vit_error first = *error;
    if (unread.path && unread.is_packed)
        status = vit_fail(error, VIT_ERROR_FORMAT, "%s: %s", unread.path, unread.advice);
    else if (unread.path)
        vit_fail(error, status, "%s; %s: %s", first.message, unread.path, unread.advice);
    vit_free(unread.path);
    return status;
}

/* ARGUMENT if a column is named, and the data are no table of pictures, or a list of pictures, and
 * these are in no files. */
static vit_status refuse_unfit(const char *data, const vit_dataset_options *options,
                               vit_error *error) {
    if (options->tag_branch)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s: is no folder of pictures, so that it has no tags", data);
    if (options->exclude || options->relabel)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s: its pictures are in no files of their own, so that %s can name none: "
                        "leave the list out",
                        data, options->exclude ? options->exclude : options->relabel);
    if (!options->class_column || !*options->class_column) return VIT_OK;
    return vit_fail(
        error, VIT_ERROR_ARGUMENT,
        "%s: is no table of pictures, so that it has no column %s: leave the column out", data,
        options->class_column);
}

/* chosen: as in vit_listing. */
static vit_status open_directory(vit_dataset *out, const char *path, const char *chosen,
                                 const vit_dataset_options *options, vit_error *error) {
    vit_listing directory = {.path = path, .chosen = chosen};
    char **names = NULL, *inner = NULL;
    vit_status status = vit_list_directory(&names, &directory.count, path, error);
    if (status != VIT_OK) return status;
    directory.names = names;
    const vit_reader *reader = options->tag_branch ? &vit_reader_folder : reader_of(&directory);
    if (vit_tree_is_unlabelled(options) && !reader && !chosen) reader = &vit_reader_folder;
    const bool is_whole = /* all that lies in the folder is read, whatever its layout */
        reader == &vit_reader_folder && (options->tag_branch || vit_tree_is_unlabelled(options));
    if (options->tag_branch && options->class_column)
        status = vit_fail(error, VIT_ERROR_ARGUMENT,
                          "classes are in tags or in a column of a table: name one");
    if (reader == &vit_reader_folder && !is_whole && status == VIT_OK)
        status = find_inner(&inner, &directory, MOST_WRAPPED, error);
    if (status == VIT_OK && inner)
        status = open_directory(out, inner, chosen, options, error);
    else if (status == VIT_OK && (!reader || reader == &vit_reader_folder) && !is_whole &&
             !(vit_picture_tables && vit_picture_tables->is(&directory)))
        status = refuse_boxes(&directory, error);
    if (status == VIT_OK && !inner && reader && reader != &vit_reader_folder)
        status =
            reader->named && !options->class_column ? VIT_OK : refuse_unfit(path, options, error);
    if (status == VIT_OK && !inner)
        status = reader && !(chosen && reader == &vit_reader_folder)
                     ? reader->read(out, &directory, options, error)
                     : nothing_known(&directory, error);
    if (!inner && reader == &vit_reader_folder && !is_whole)
        status = explain_unread(status, path, error);
    if (out->name[0] == 0 && chosen) snprintf(out->name, sizeof out->name, "%s", chosen);
    if (out->name[0] == 0) name_after(out, path);
    vit_free(inner);
    vit_free(names);
    return status;
}

/* Whether DATA chooses one of several sets in a directory, such as DIRECTORY/emnist-letters; *path
 * = the directory, freed by vit_free. */
static bool is_chosen(char **path, const char *data) {
    const char *last = vit_path_last(data);
    bool is_choice = false;
    *path = NULL;
    for (size_t i = 0; vit_readers[i] && !is_choice; i++)
        is_choice = vit_readers[i]->is_choice && vit_readers[i]->is_choice(last);
    if (!is_choice || vit_path_look(data) != VIT_PATH_NONE) return false;
    *path = vit_path_join(data, "..");
    if (*path && last == data) memcpy(*path, ".", 2);
    if (*path && last > data) (*path)[last - data - (last > data + 1)] = 0; /* without its '/' */
    return *path && vit_path_look(*path) == VIT_PATH_DIRECTORY;
}

/* ---- a name ---- */

static vit_status unknown(const char *data, vit_error *error) {
    const char *names[MOST_NAMES];
    const size_t count = all_names(names);
    const char *near = vit_nearest(data, names, count);
    vit_string list = {0};
    char guests[VIT_GUEST_TEXT];
    const vit_path_kind kind = vit_path_look(data);
    const bool names_arrays = vit_has_ending(data, ".npz") || vit_has_ending(data, ".npy");
    if (*data == 0) return vit_fail(error, VIT_ERROR_IO, "the name of a data set is empty");
    const bool is_table = vit_has_ending(data, ".csv") || vit_has_ending(data, ".jsonl");
    const char *advice =
        is_table ? "name the one that it lies in" : vit_unread_advice(vit_path_last(data));
    if (kind == VIT_PATH_FILE && advice)
        return vit_fail(error, VIT_ERROR_IO, "%s: is a file, expected a directory: %s", data,
                        advice);
    if (kind == VIT_PATH_FILE)
        return vit_fail(
            error, VIT_ERROR_IO,
            "%s: is a file, expected a directory, a file of NumPy's arrays that ends in "
            ".npz, or the name of a data set",
            data);
    if (kind == VIT_PATH_NONE && names_arrays)
        return vit_fail(error, VIT_ERROR_IO,
                        "%s: there is no such file or directory; data are a directory of pictures, "
                        "of IDX or CIFAR files or of images.npy and labels.npy, or FILE.npz",
                        data);
    for (size_t i = 0; i < count; i++) vit_string_add(&list, "%s%s", i > 0 ? ", " : "", names[i]);
    vit_fail(error, VIT_ERROR_IO,
             "%s: is neither a directory nor the name of a data set (%s)%s%s%s%s", data,
             list.failed ? "..." : list.text, near ? "; did you mean " : "", near ? near : "",
             near ? "?" : "", near ? "" : vit_guests_for(guests, "vit_named_sets"));
    vit_string_free(&list);
    return VIT_ERROR_IO;
}

/* Opens the directory of this name in $VIT_DATA, or in data. */
static vit_status open_name(vit_dataset *out, const char *name, const vit_dataset_options *options,
                            vit_error *error) {
    const char *root = getenv("VIT_DATA");
    if (root && *root == 0) root = NULL;
    const char *const roots[] = {root, "data"};
    for (size_t i = 0; i < VIT_COUNT(roots); i++) {
        if (!roots[i]) continue;
        char *path = vit_path_join(roots[i], name);
        if (!path) return vit_fail_memory(error, "a path", strlen(roots[i]) + 32);
        bool found = vit_path_look(path) == VIT_PATH_DIRECTORY;
        vit_status status = found ? open_directory(out, path, NULL, options, error) : VIT_OK;
        vit_free(path);
        if (found) return status;
    }
    return vit_fail(error, VIT_ERROR_IO,
                    "%s: not found: looked for the directories %s, %s%s%s%sdata/%s; get it with "
                    "scripts/fetch-data %s, or set VIT_DATA to the directory that holds %s",
                    name, name, root ? root : "", root ? "/" : "", root ? name : "",
                    root ? ", " : "", name, name, name);
}

/* ---- one, or several ---- */

/* Grey records for a network that takes colours are prepared like grey pictures in files. */
static vit_status suit(vit_dataset *d, const vit_dataset_options *o, vit_error *error) {
    const vit_preparation *p = o->preparation;
    const bool in_memory = !d->train.drawing && !d->val.drawing && !d->test.drawing &&
                           !d->train.files && !d->val.files && !d->test.files;
    if (!p || p->channels != 3 || d->channels != 1 || !in_memory) return VIT_OK;
    const size_t height = d->height, width = d->width;
    d->is_digits = false;
    const vit_status status = vit_dataset_prepare_records(d, p, o->threads, error);
    if (status != VIT_OK) return status;
    return vit_dataset_note(d, error,
                            "the grey records of %s, %zu x %zu, are prepared as grey pictures are: "
                            "%zu x %zu x 3",
                            d->name, height, width, d->height, d->width);
}

/* The set that is called so, or the file of one kind; NULL: none. */
static const vit_named_set *named_set(const char *data) {
    for (size_t i = 0; vit_named_sets[i]; i++)
        if (vit_named_sets[i]->is(data)) return vit_named_sets[i];
    return NULL;
}

static vit_status open_one(vit_dataset *out, const char *data, const vit_dataset_options *options,
                           vit_error *error) {
    vit_status status;
    char *directory = NULL;
    bool is_known = false;
    for (size_t i = 0; vit_readers[i] && !is_known; i++)
        is_known = is_one_of(vit_readers[i]->sets, data);
    const bool is_directory = vit_path_look(data) == VIT_PATH_DIRECTORY;
    *out = (vit_dataset){0};
    const vit_named_set *named = is_directory || is_known ? NULL : named_set(data);
    if (named && (status = refuse_unfit(data, options, error)) != VIT_OK) return status;
    if (is_directory)
        status = open_directory(out, data, NULL, options, error);
    else if (is_chosen(&directory, data))
        status = open_directory(out, directory, vit_path_last(data), options, error);
    else if (named)
        status = named->open(out, data, options, error);
    else if (is_known)
        status = open_name(out, data, options, error);
    else
        status = unknown(data, error);
    if (status == VIT_OK) status = suit(out, options, error);
    if (status != VIT_OK) vit_dataset_close(out);
    vit_free(directory);
    return status;
}

/* Opens FIRST+SECOND+..., of which all but the first give only their training part. `names` is
 * modified. */
static vit_status open_several(vit_dataset *out, char *names, const vit_dataset_options *options,
                               vit_error *error) {
    vit_dataset_options more = *options;
    more = vit_options_without_val(&more);
    more.need &= VIT_PART_TRAIN;
    more.want &= VIT_PART_TRAIN;
    char *next = strchr(names, '+');
    *next = 0;
    vit_status status = open_one(out, names, options, error);
    while (status == VIT_OK && next) {
        char *name = next + 1;
        vit_dataset other = {0};
        next = strchr(name, '+');
        if (next) *next = 0;
        if (((more.need | more.want) & VIT_PART_TRAIN) == 0) continue;
        status = open_one(&other, name, &more, error);
        if (status == VIT_OK) status = vit_dataset_join(out, &other, error);
        vit_dataset_close(&other);
    }
    if (status != VIT_OK) vit_dataset_close(out);
    return status;
}

vit_status vit_dataset_open(vit_dataset *out, const char *data, const vit_dataset_options *options,
                            vit_error *error) {
    vit_error own; /* readers look at what they failed for */
    if (!error) error = &own;
    *out = (vit_dataset){0};
    if (options->arrays && ((options->class_column && *options->class_column) ||
                            options->tag_branch || options->exclude || options->relabel))
        return refuse_unfit(data ? data : "arrays", options, error);
    if (options->arrays) {
        const vit_status status =
            vit_arrays_open(out, data ? data : "arrays", options->arrays, options, error);
        if (status != VIT_OK) vit_dataset_close(out);
        return status;
    }
    if (!data) return vit_fail(error, VIT_ERROR_ARGUMENT, "no data set is named");
    if (vit_path_look(data) != VIT_PATH_NONE || !strchr(data, '+'))
        return open_one(out, data, options, error);
    if (options->exclude || options->relabel)
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s: lists of pictures (%s) are for one set, not for several", data,
                        options->exclude ? options->exclude : options->relabel);
    char *names = vit_strdup(data);
    if (!names) return vit_fail_memory(error, "a name", strlen(data));
    const vit_status status = open_several(out, names, options, error);
    vit_free(names);
    return status;
}
