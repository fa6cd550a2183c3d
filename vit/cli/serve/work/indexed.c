#include "vit/cli/serve/work/indexed.h"

#include <pthread.h>
#include <string.h>

#include "vit/base/parallel.h"
#include "vit/cli/serve/work/hidden.h"

struct serve_indexed {
    char *path;
    pthread_mutex_t lock; /* of all that follows, and held while the file is read */
    vit_stamp stamp;      /* of the file when `current` was read */
    serve_snapshot *current;
};

/* The lock is held, or nobody else knows the snapshot. */
static void drop(serve_snapshot *s) {
    if (!s || --s->users > 0) return;
    vit_index_free(s->index);
    vit_free(s);
}

static vit_status read_snapshot(serve_snapshot **out, const char *path, int threads,
                                vit_error *error) {
    serve_snapshot *s = *out = vit_alloc(1, sizeof *s);
    if (!s) return vit_fail_memory(error, "an index", sizeof *s);
    s->users = 1;
    const vit_status status = vit_index_open_on(&s->index, path, threads, error);
    if (status == VIT_OK) return VIT_OK;
    vit_free(s);
    *out = NULL;
    return status;
}

vit_status serve_indexed_open(serve_indexed **out, const char *path, vit_error *error) {
    serve_indexed *in = *out = vit_alloc(1, sizeof *in);
    if (!in) return vit_fail_memory(error, "an index", sizeof *in);
    pthread_mutex_init(&in->lock, NULL);
    in->path = vit_strdup(path);
    vit_status status =
        in->path ? vit_stamp_of(&in->stamp, path, error) : vit_fail_memory(error, path, 0);
    if (status == VIT_OK) status = read_snapshot(&in->current, path, 1, error);
    if (status == VIT_OK) return VIT_OK;
    serve_indexed_free(in);
    *out = NULL;
    return status;
}

void serve_indexed_free(serve_indexed *in) {
    if (!in) return;
    drop(in->current);
    pthread_mutex_destroy(&in->lock);
    vit_free(in->path);
    vit_free(in);
}

void serve_indexed_directories(const serve_indexed *in, serve_show_directory *show, void *context) {
    const vit_index *index = in->current->index;
    char *last = NULL;
    for (size_t i = 0; i < vit_index_rows(index); i++) {
        const vit_indexed row = vit_index_row(index, i);
        char *directory = row.gone || row.name[0] != '/' ? NULL : vit_path_directory(row.name);
        if (!directory || (last && strcmp(directory, last) == 0)) {
            vit_free(directory);
            continue;
        }
        show(directory, context);
        vit_free(last);
        last = directory;
    }
    vit_free(last);
}

/* Whether the file is whole, or only longer than it was. */
static vit_status check_whole(const vit_index *now, const vit_index *before, const char *path,
                              vit_error *error) {
    const bool is_cut = vit_index_continues(before, now) && !vit_index_continues(now, before);
    if (!is_cut && (vit_index_unfinished(now) == 0 || vit_index_continues(now, before)))
        return VIT_OK;
    return vit_fail(error, VIT_ERROR_IO,
                    "%s is being written, or was cut off: %zu pictures are whole, %zu were there "
                    "before",
                    path, vit_index_pictures(now), vit_index_pictures(before));
}

/* Reads the file if it is not what it was; the lock is held. */
static vit_status refresh(serve_indexed *in, vit_error *error) {
    vit_stamp stamp;
    serve_snapshot *fresh;
    vit_status status = vit_stamp_of(&stamp, in->path, error);
    if (status != VIT_OK || vit_stamps_equal(&stamp, &in->stamp)) return status;
    status = read_snapshot(&fresh, in->path, vit_threads_default(), error);
    if (status != VIT_OK) return status;
    status = check_whole(fresh->index, in->current->index, in->path, error);
    if (status != VIT_OK) {
        drop(fresh);
        return status;
    }
    drop(in->current);
    in->current = fresh;
    in->stamp = stamp;
    return VIT_OK;
}

vit_status serve_snapshot_take(serve_snapshot **out, serve_indexed *in, vit_error *error) {
    *out = NULL;
    pthread_mutex_lock(&in->lock);
    const vit_status status = refresh(in, error);
    if (status == VIT_OK) {
        *out = in->current;
        in->current->users++;
    }
    pthread_mutex_unlock(&in->lock);
    if (status != VIT_OK) serve_hide_directories(error, in->path);
    return status;
}

void serve_snapshot_release(serve_indexed *in, serve_snapshot *snapshot) {
    if (!snapshot) return;
    pthread_mutex_lock(&in->lock);
    drop(snapshot);
    pthread_mutex_unlock(&in->lock);
}
