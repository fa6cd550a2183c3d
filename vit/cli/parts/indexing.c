#include "vit/cli/parts/indexing.h"

#include <stdlib.h>
#include <string.h>

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

/* The work: the pictures that wait, and the rows that go with them. */
typedef struct work {
    vit_indexing *g;
    vit_index *index;
    vit_index_writer *writer;
    known *known;
    size_t known_count;
    vit_picture pictures[TOGETHER];
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

static bool same_stamp(const vit_stamp *a, const vit_stamp *b) {
    return a->seconds == b->seconds && a->nanoseconds == b->nanoseconds && a->size == b->size;
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
        rows[count++] = (vit_index_picture){w->pictures[i].name, w->stamps[i],
                                            w->features + i * w->g->info.features};
        if (w->before[i]) gone[gone_count++] = w->before[i]->row;
        if (w->before[i])
            w->g->changed++;
        else
            w->g->added++;
        if (w->before[i]) w->before[i]->seen = true;
    }
    if (status == VIT_OK && count > 0)
        status = vit_index_writer_put(w->writer, rows, count, gone, gone_count, error);
    for (size_t i = 0; i < w->count; i++) vit_free((void *)(uintptr_t)w->pictures[i].name);
    w->count = 0;
    return status;
}

/* Takes a picture of a folder, whose name becomes the work's, unless the index has it as it is. */
static vit_status take(work *w, char *name, vit_error *error) {
    vit_stamp stamp;
    vit_error problem;
    known *before = find_known(w, name);
    if (vit_stamp_of(&stamp, name, &problem) != VIT_OK) {
        vit_say(w->g->command, "%s", problem.message);
        w->g->failed++;
        vit_free(name);
        return VIT_OK;
    }
    if (before && same_stamp(&before->stamp, &stamp)) {
        before->seen = true;
        w->g->kept++;
        vit_free(name);
        return VIT_OK;
    }
    w->pictures[w->count] = (vit_picture){.name = name};
    w->stamps[w->count] = stamp;
    w->before[w->count++] = before;
    return w->count == TOGETHER ? write_waiting(w, error) : VIT_OK;
}

static vit_status take_all(work *w, char **folders, size_t count, vit_error *error) {
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
        status = take(w, name, error);
    }
    if (status == VIT_OK) status = write_waiting(w, error);
    vit_pictures_close(&pictures);
    return status;
}

/* Whether a path lies in a folder. */
static bool lies_in(const char *path, const char *folder) {
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') length--;
    return strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || (length == 1 && folder[0] == '/'));
}

/* Takes out what the folders no longer have, and what changed into something unreadable. */
static vit_status take_out(work *w, char **folders, size_t count, vit_error *error) {
    vit_status status = VIT_OK;
    uint64_t gone[1024];
    size_t n = 0;
    for (size_t i = 0; i < w->known_count && status == VIT_OK; i++) {
        bool inside = false;
        for (size_t k = 0; k < count; k++) inside = inside || lies_in(w->known[i].name, folders[k]);
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
    if (status == VIT_OK) status = vit_index_open(&w->index, g->out, error);
    if (status == VIT_OK) status = list_known(w, error);
    if (status == VIT_OK) status = take_all(w, folders, count, error);
    if (status == VIT_OK) status = take_out(w, folders, count, error);
    vit_index_writer_close(w->writer);
    vit_index_free(w->index);
    for (size_t i = 0; i < w->count; i++) vit_free((void *)(uintptr_t)w->pictures[i].name);
    vit_free(w->known);
    vit_free(w->logits);
    vit_free(w->features);
    vit_free(w);
    return status;
}
