#include "vit/search/copies.h"
#include "vit/base/parallel.h"
#include "vit/image/codec/decode.h"
#include "vit/image/likeness.h"
#include "vit/image/prepare/preprocess.h"
#include <string.h>

enum { SIDE = 128 }; /* pictures are made this small before they are compared */

typedef struct reading {
    const vit_index *index;
    size_t *rows; /* [count] */
    size_t count;
    vit_likeness *pictures; /* [count] */
    vit_error *problems;    /* [count] */
} reading;

static vit_status read_picture(vit_likeness *out, const char *path, vit_error *error) {
    static const vit_preprocessing small = {
        .operations = {{.kind = VIT_OP_ORIENT},
                       {.kind = VIT_OP_COMPOSITE, .background = {255, 255, 255}},
                       {.kind = VIT_OP_RGB},
                       {.kind = VIT_OP_RESIZE,
                        .height = SIDE,
                        .width = SIDE,
                        .fit = VIT_FIT_STRETCH,
                        .filter = VIT_FILTER_BILINEAR}},
        .count = 4};
    vit_image image = {0};
    vit_bytes file;
    vit_status status = vit_read_regular(&file, path, VIT_IMAGE_MAX_FILE, error);
    if (status == VIT_OK)
        status = vit_preprocess_bytes(&image, file.data, file.size, path, &small, SIDE, SIDE, 3,
                                      NULL, error);
    if (status == VIT_OK) {
        vit_likeness_of(out, image.pixels, SIDE, SIDE, 3);
        out->digest = vit_likeness_digest(file.data, file.size);
    }
    vit_image_free(&image);
    vit_free(file.data);
    return status;
}

static void read_row(size_t i, int thread, void *context) {
    const reading *r = context;
    vit_error *problem = &r->problems[i];
    char *path = vit_index_path(r->index, vit_index_row(r->index, r->rows[i]).name);
    (void)thread;
    problem->status =
        path ? read_picture(&r->pictures[i], path, problem) : vit_fail_memory(problem, "a path", 0);
    if (problem->status != VIT_OK) r->pictures[i] = (vit_likeness){.is_flat = true};
    vit_free(path);
}

static vit_status list_copies(vit_index_copy **out, size_t *count, const reading *r, int threads,
                              vit_error *error) {
    vit_copies copies;
    vit_status status = vit_copies_find(&copies, r->pictures, r->count, threads, error);
    *out = status == VIT_OK ? vit_alloc(copies.pair_count, sizeof **out) : NULL;
    if (status == VIT_OK && !*out)
        status = vit_fail_memory(error, "copies", copies.pair_count * sizeof **out);
    if (status == VIT_OK) *count = copies.pair_count;
    for (size_t i = 0; i < *count; i++)
        (*out)[i] =
            (vit_index_copy){r->rows[copies.pairs[i].first], r->rows[copies.pairs[i].second],
                             vit_alike_name(copies.pairs[i].alike)};
    vit_copies_free(&copies);
    return status;
}

vit_status vit_index_copies(vit_index_copy **out, size_t *count, const vit_index *index,
                            int threads, vit_index_unread *unread, void *user, vit_error *error) {
    const size_t pictures = vit_index_pictures(index);
    reading r = {.index = index,
                 .rows = vit_alloc(pictures, sizeof *r.rows),
                 .pictures = vit_alloc(pictures, sizeof *r.pictures),
                 .problems = vit_alloc(pictures, sizeof *r.problems)};
    vit_status status = VIT_OK;
    *out = NULL;
    *count = 0;
    if (!r.rows || !r.pictures || !r.problems)
        status = vit_fail_memory(error, "copies", pictures * sizeof *r.pictures);
    if (status == VIT_OK) {
        for (size_t i = 0; i < vit_index_rows(index); i++)
            if (!vit_index_row(index, i).gone) r.rows[r.count++] = i;
        vit_parallel(threads, r.count, read_row, &r);
        for (size_t i = 0; i < r.count && unread; i++)
            if (r.problems[i].status != VIT_OK) unread(&r.problems[i], user);
        status = list_copies(out, count, &r, threads, error);
    }
    vit_free(r.rows);
    vit_free(r.pictures);
    vit_free(r.problems);
    return status;
}
