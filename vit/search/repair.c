/* Saving the pictures of a damaged index. */
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/base/sys.h"
#include "vit/search/layout.h"
#include <stdio.h>
#include <string.h>

enum { TOGETHER = 64 }; /* pictures of a block */

/* The pictures that wait to be written. */
typedef struct saving {
    const vit_index *from;
    vit_index_writer *to;
    char *old_root, *root;
    float *features; /* [TOGETHER][width] */
    vit_index_picture pictures[TOGETHER];
    char *paths[TOGETHER]; /* which the names are parts of */
    size_t count;
} saving;

static vit_status write_waiting(saving *s, vit_error *error) {
    if (s->count == 0) return VIT_OK;
    const vit_status status = vit_index_writer_put(s->to, s->pictures, s->count, NULL, 0, error);
    for (size_t i = 0; i < s->count; i++) vit_free(s->paths[i]);
    s->count = 0;
    return status;
}

/* Rounding features again that were rounded gives the same numbers: the largest stays 127. */
static vit_status save_row(saving *s, const vit_index_block *b, size_t i, vit_error *error) {
    const size_t width = s->from->width, row = b->first + i;
    const vit_indexed picture = vit_index_row(s->from, row);
    float *features = s->features + s->count * width;
    if (picture.gone) return VIT_OK;
    char *path = vit_path_join(s->old_root, picture.name);
    if (!path) return vit_fail_memory(error, "a path", strlen(picture.name));
    for (size_t k = 0; k < width; k++) features[k] = (float)b->vectors[i * s->from->stride + k];
    const char *whole = picture.name[0] == '/' ? picture.name : path;
    s->paths[s->count] = path;
    s->pictures[s->count++] =
        (vit_index_picture){vit_index_name(s->root, whole), picture.stamp, features};
    return s->count == TOGETHER ? write_waiting(s, error) : VIT_OK;
}

static vit_status save_rows(saving *s, vit_error *error) {
    vit_status status = VIT_OK;
    for (size_t k = 0; k < s->from->count; k++)
        for (size_t i = 0; i < s->from->blocks[k].rows && status == VIT_OK; i++)
            status = save_row(s, &s->from->blocks[k], i, error);
    if (status == VIT_OK) status = write_waiting(s, error);
    for (size_t i = 0; i < s->count; i++) vit_free(s->paths[i]);
    return status;
}

static vit_status check_new(const char *to, vit_error *error) {
    bool exists;
    const vit_status status = vit_path_exists(&exists, to, error);
    if (status != VIT_OK || !exists) return status;
    return vit_fail(error, VIT_ERROR_IO, "%s exists already: name a new file", to);
}

vit_status vit_index_repair(vit_index_repaired *out, const char *from, const char *to,
                            vit_error *error) {
    vit_index *index = NULL;
    saving s = {0};
    *out = (vit_index_repaired){0};
    vit_status status = check_new(to, error);
    if (status == VIT_OK) status = vit_index_read(&index, from, vit_threads_default(), error);
    if (status == VIT_OK) {
        const vit_index_about about = vit_index_describe(index);
        s.from = index;
        s.features = vit_alloc(TOGETHER, index->width * sizeof *s.features);
        status = s.features ? vit_index_writer_open(&s.to, to, &about, error)
                            : vit_fail_memory(error, from, TOGETHER * index->width * 4);
    }
    if (status == VIT_OK) status = vit_index_root(&s.old_root, from, error);
    if (status == VIT_OK) status = vit_index_root(&s.root, to, error);
    if (status == VIT_OK) status = save_rows(&s, error);
    if (status == VIT_OK) {
        out->saved = index->pictures;
        if (index->damage.text) snprintf(out->damage, sizeof out->damage, "%s", index->damage.text);
    }
    vit_index_writer_close(s.to);
    vit_free(s.old_root);
    vit_free(s.root);
    vit_free(s.features);
    vit_index_free(index);
    return status;
}
