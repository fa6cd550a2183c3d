#include "vit/cli/parts/indexing.h"

#include <stdlib.h>
#include <string.h>

#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/cli/parts/pictures.h"
#include "vit/formats/sha256.h"

enum { TOGETHER = 64 }; /* pictures that are computed, and written, at once */

void vit_fingerprint_picture(uint8_t *picture, size_t size) {
    for (size_t i = 0; i < size; i++) picture[i] = (uint8_t)((i * 7 + i / 13 * 29) % 251);
}

void vit_fingerprint_text(char hex[65], const float *features, size_t count) {
    vit_sha256_of(hex, features, count * sizeof *features);
}

vit_status vit_model_fingerprint(char hex[65], const vit_indexing *g, vit_error *error) {
    const size_t size = g->info.height * g->info.width * g->info.channels;
    uint8_t *picture = vit_alloc(size, 1);
    float *features = vit_alloc(g->info.features, sizeof *features);
    float *logits = vit_alloc(g->info.classes, sizeof *logits);
    vit_status status = VIT_OK;
    if (!picture || !features || !logits) status = vit_fail_memory(error, "a picture", size);
    if (status == VIT_OK) vit_fingerprint_picture(picture, size);
    if (status == VIT_OK)
        status = vit_embed_prepared(g->session, picture, 1, logits, features, error);
    if (status == VIT_OK) vit_fingerprint_text(hex, features, g->info.features);
    vit_free(picture);
    vit_free(features);
    vit_free(logits);
    return status;
}

/* ---- what the index has ---- */

/* A picture that the index had at the beginning. */
typedef struct known {
    const char *name;
    vit_stamp stamp;
    uint64_t row;
    bool seen;
} known;

/* A picture of the folders. */
typedef struct item {
    char *path, *name; /* as it is opened, and as the index keeps it; owned */
    size_t order;
    bool is_twice; /* an earlier one has the same name */
} item;

/* The work: the pictures that wait, and the rows that go with them. */
typedef struct work {
    vit_indexing *g;
    char *root; /* the real folder of the index */
    item *items;
    size_t item_count, item_room;
    vit_index *index;
    vit_index_writer *writer;
    known *known;
    size_t known_count;
    vit_picture pictures[TOGETHER];
    const char *names[TOGETHER];
    vit_stamp stamps[TOGETHER];
    known *before[TOGETHER]; /* what the index had under this name, or NULL */
    size_t count;
    float *logits, *features;
    vit_answer answers[TOGETHER];
} work;

static int compare(const void *a, const void *b) {
    return strcmp(((const known *)a)->name, ((const known *)b)->name);
}

static vit_status list_known(work *w, vit_error *error) {
    const size_t rows = vit_index_rows(w->index);
    w->known = vit_alloc(vit_index_pictures(w->index), sizeof *w->known);
    if (!w->known) return vit_fail_memory(error, w->g->out, rows * sizeof *w->known);
    for (size_t i = 0; i < rows; i++) {
        const vit_indexed row = vit_index_row(w->index, i);
        if (!row.gone) w->known[w->known_count++] = (known){row.name, row.stamp, i, false};
    }
    qsort(w->known, w->known_count, sizeof *w->known, compare);
    return VIT_OK;
}

static known *find_known(const work *w, const char *name) {
    const known wanted = {.name = name};
    return w->known_count == 0 ? NULL
                               : bsearch(&wanted, w->known, w->known_count, sizeof wanted, compare);
}

/* ---- pictures ---- */

/* Computes the pictures that wait and writes those that could be read. */
static vit_status write_waiting(work *w, vit_error *error) {
    vit_index_picture rows[TOGETHER];
    uint64_t gone[TOGETHER];
    size_t count = 0, gone_count = 0;
    if (w->count == 0) return VIT_OK;
    vit_status status = vit_classify_many(w->g->session, w->pictures, w->count, w->logits,
                                          w->features, w->answers, error);
    for (size_t i = 0; i < w->count && status == VIT_OK; i++) {
        if (w->answers[i].error.status != VIT_OK) {
            vit_say(w->g->command, "%s", w->answers[i].error.message);
            w->g->failed++;
            continue;
        }
        rows[count++] =
            (vit_index_picture){w->names[i], w->stamps[i], w->features + i * w->g->info.features};
        if (w->before[i]) gone[gone_count++] = w->before[i]->row;
        if (w->before[i])
            w->g->changed++;
        else
            w->g->added++;
        if (w->before[i]) w->before[i]->seen = true;
    }
    if (status == VIT_OK && count > 0)
        status = vit_index_writer_put(w->writer, rows, count, gone, gone_count, error);
    w->count = 0;
    return status;
}

/* Takes a picture of a folder, unless the index has it as it is. The work owns the item's texts. */
static vit_status take(work *w, item *picture, vit_error *error) {
    vit_stamp stamp;
    vit_error problem;
    known *before = find_known(w, picture->name);
    if (vit_stamp_of(&stamp, picture->path, &problem) != VIT_OK) {
        vit_say(w->g->command, "%s", problem.message);
        w->g->failed++;
        return VIT_OK;
    }
    if (before && vit_stamps_equal(&before->stamp, &stamp)) {
        before->seen = true;
        w->g->kept++;
        return VIT_OK;
    }
    w->pictures[w->count] = (vit_picture){.name = picture->path, .is_regular_file = true};
    w->names[w->count] = picture->name;
    w->stamps[w->count] = stamp;
    w->before[w->count++] = before;
    return w->count == TOGETHER ? write_waiting(w, error) : VIT_OK;
}

/* ---- the folders ---- */

/* Adds a picture to the list under its real path; takes ownership of `path`. */
static vit_status list_picture(work *w, char *path, vit_error *error) {
    char *real = vit_path_real(path); /* NULL: it is gone already, or a link that leads nowhere */
    char *name = vit_strdup(real ? vit_index_name(w->root, real) : path);
    vit_free(real);
    if (!name || !VIT_MAKE_ROOM(w->items, w->item_count, w->item_room, "pictures", error)) {
        vit_free(name);
        vit_free(path);
        return vit_fail_memory(error, "a path", 0);
    }
    w->items[w->item_count] = (item){path, name, w->item_count, false};
    w->item_count++;
    return VIT_OK;
}

static int compare_items(const void *a, const void *b) {
    const item *x = *(item *const *)a, *y = *(item *const *)b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

/* Marks pictures that are in the list before: folders may be named twice, or hold links. */
static vit_status mark_twice(work *w, vit_error *error) {
    item **sorted = vit_alloc(w->item_count, sizeof(item *));
    if (!sorted) return vit_fail_memory(error, "pictures", w->item_count * sizeof *sorted);
    for (size_t i = 0; i < w->item_count; i++) sorted[i] = &w->items[i];
    qsort(sorted, w->item_count, sizeof(item *), compare_items);
    for (size_t i = 1; i < w->item_count; i++)
        sorted[i]->is_twice = strcmp(sorted[i]->name, sorted[i - 1]->name) == 0;
    vit_free(sorted);
    return VIT_OK;
}

static vit_status list_pictures(work *w, char **folders, size_t count, vit_error *error) {
    vit_pictures pictures;
    vit_status status = vit_pictures_open(&pictures, folders, count, NULL, false, true, error);
    if (status != VIT_OK) return status;
    while (status == VIT_OK) {
        vit_error problem = {.status = VIT_OK};
        char *name = NULL;
        status = vit_pictures_next(&pictures, &name, &problem, error);
        if (status != VIT_OK || !name) break;
        if (problem.status != VIT_OK) { /* a folder without pictures */
            vit_say(w->g->command, "%s", problem.message);
            vit_free(name);
            continue;
        }
        status = list_picture(w, name, error);
    }
    vit_pictures_close(&pictures);
    return status == VIT_OK ? mark_twice(w, error) : status;
}

static vit_status take_all(work *w, char **folders, size_t count, vit_error *error) {
    vit_status status = list_pictures(w, folders, count, error);
    for (size_t i = 0; i < w->item_count && status == VIT_OK; i++)
        if (!w->items[i].is_twice) status = take(w, &w->items[i], error);
    return status == VIT_OK ? write_waiting(w, error) : status;
}

/* Whether a path lies in a folder, which is written without a final slash. */
static bool lies_in(const char *path, const char *folder) {
    const size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* Takes out what the folders, real paths, no longer have, and what changed into something
 * unreadable. */
static vit_status take_out(work *w, char **folders, size_t count, vit_error *error) {
    vit_status status = VIT_OK;
    uint64_t gone[1024];
    size_t n = 0;
    for (size_t i = 0; i < w->known_count && status == VIT_OK; i++) {
        const char *name = w->known[i].name;
        char *path = *name == '/' ? vit_strdup(name) : vit_path_join(w->root, name);
        bool inside = false;
        if (!path) return vit_fail_memory(error, "a path", strlen(name));
        for (size_t k = 0; k < count; k++) inside = inside || lies_in(path, folders[k]);
        vit_free(path);
        if (w->known[i].seen || !inside) continue;
        gone[n++] = w->known[i].row;
        w->g->vanished++;
        if (n < 1024) continue;
        status = vit_index_writer_put(w->writer, NULL, 0, gone, n, error);
        n = 0;
    }
    if (status == VIT_OK && n > 0)
        status = vit_index_writer_put(w->writer, NULL, 0, gone, n, error);
    return status;
}

static vit_status bring_up(work *w, char **folders, size_t count, vit_error *error) {
    char **real = vit_alloc(count, sizeof *real);
    vit_status status = real ? VIT_OK : vit_fail_memory(error, "paths", count * sizeof *real);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        real[i] =
            vit_path_look(folders[i]) == VIT_PATH_DIRECTORY ? vit_path_real(folders[i]) : NULL;
        if (!real[i])
            status = vit_fail(error, VIT_ERROR_IO, "%s is no folder that can be read", folders[i]);
    }
    if (status == VIT_OK) status = list_known(w, error);
    if (status == VIT_OK) status = take_all(w, folders, count, error);
    if (status == VIT_OK) status = take_out(w, real, count, error);
    for (size_t i = 0; real && i < count; i++) vit_free(real[i]);
    vit_free(real);
    return status;
}

static void free_work(work *w) {
    vit_index_writer_close(w->writer);
    vit_index_free(w->index);
    for (size_t i = 0; i < w->item_count; i++) {
        vit_free(w->items[i].path);
        vit_free(w->items[i].name);
    }
    void *const memory[] = {w->items, w->root, w->known, w->logits, w->features, w};
    for (size_t i = 0; i < VIT_COUNT(memory); i++) vit_free(memory[i]);
}

vit_status vit_index_folders(vit_indexing *g, char **folders, size_t count, vit_error *error) {
    char fingerprint[65];
    work *w = vit_alloc(1, sizeof *w);
    if (!w) return vit_fail_memory(error, g->out, sizeof *w);
    w->g = g;
    for (size_t i = 0; i < count; i++)
        if (vit_path_look(folders[i]) != VIT_PATH_DIRECTORY) {
            vit_free(w);
            return vit_fail(error, VIT_ERROR_IO, "%s is no folder that can be read", folders[i]);
        }
    const size_t classes = g->info.classes;
    w->logits = vit_alloc_unset(TOGETHER, classes * sizeof *w->logits);
    w->features = vit_alloc_unset(TOGETHER, g->info.features * sizeof *w->features);
    vit_status status =
        w->logits && w->features
            ? vit_model_fingerprint(fingerprint, g, error)
            : vit_fail_memory(error, g->out, TOGETHER * (classes + g->info.features) * 4);
    const vit_index_about about = {g->info.features, g->model, fingerprint};
    if (status == VIT_OK) status = vit_index_writer_open(&w->writer, g->out, &about, error);
    if (status == VIT_OK) g->cut = vit_index_writer_cut(w->writer);
    if (status == VIT_OK) status = vit_index_open(&w->index, g->out, error);
    if (status == VIT_OK) status = vit_index_root(&w->root, g->out, error);
    if (status == VIT_OK) status = bring_up(w, folders, count, error);
    free_work(w);
    return status;
}
