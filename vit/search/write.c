/* Writing the file of an index: layout.h has its parts. */
#include "vit/base/append.h"
#include "vit/base/size.h"
#include "vit/search/layout.h"
#include <math.h>
#include <string.h>

static void pad(vit_string *t) {
    static const char zeros[64];
    vit_string_add_bytes(t, zeros, vit_index_padded(t->length) - t->length);
}

struct vit_index_writer {
    char *path;
    size_t width, stride, rows;
    uint64_t cut;
    int lock;
    vit_append *file;
};

/* IO if the name is another file's now: what is written would be lost. */
static vit_status still_there(const vit_index_writer *w, vit_error *error) {
    if (vit_lock_holds(w->lock, w->path)) return VIT_OK;
    return vit_fail(error, VIT_ERROR_IO,
                    "%s: was removed or replaced while it was written: build it again", w->path);
}

/* A block that is being made: a head, its content, and room for both. */
static vit_status write_block(vit_index_writer *w, vit_index_head *head, const vit_string *content,
                              vit_error *error) {
    vit_string all = {0};
    if (content->failed) return vit_fail_memory(error, w->path, content->capacity);
    head->magic = VIT_INDEX_MAGIC;
    head->size = vit_index_padded(content->length);
    vit_string_add_bytes(&all, (const char *)head, sizeof *head);
    vit_string_add_bytes(&all, content->text, content->length);
    pad(&all);
    vit_status status = VIT_OK;
    if (all.failed) status = vit_fail_memory(error, w->path, all.capacity);
    if (status == VIT_OK) {
        head->content = vit_index_checksum(all.text + sizeof *head, head->size);
        head->checked = vit_index_head_checksum(head);
        memcpy(all.text, head, sizeof *head);
        status = vit_append_put(w->file, all.text, all.length, error);
    }
    if (status == VIT_OK) status = vit_append_sync(w->file, error);
    vit_string_free(&all);
    return status;
}

static vit_status write_about(vit_index_writer *w, const vit_index_about *about, vit_error *error) {
    vit_index_head head = {.kind = VIT_INDEX_ABOUT, .width = (uint32_t)about->width};
    vit_string content = {0};
    vit_string_add_bytes(&content, about->model, strlen(about->model) + 1);
    vit_string_add_bytes(&content, about->fingerprint, strlen(about->fingerprint) + 1);
    vit_status status = write_block(w, &head, &content, error);
    if (status == VIT_OK) status = vit_sync_place(w->path, error);
    vit_string_free(&content);
    return status;
}

static vit_status same_model(const vit_index *index, const vit_index_about *about,
                             vit_error *error) {
    if (index->width == about->width && strcmp(index->fingerprint, about->fingerprint) == 0)
        return VIT_OK;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s: its %zu features are those of %s, which was another model then; this one "
                    "has %zu: make a new index",
                    index->path, index->width, index->model, about->width);
}

/* *fresh: the file is empty, or ends within its first block, which a writer was stopped in. Nothing
 * else is overwritten: FORMAT for a file that does not begin with the whole head of an index. */
static vit_status is_fresh(bool *fresh, const char *path, vit_error *error) {
    vit_index_head head = {0};
    uint64_t size, there;
    int file;
    *fresh = false;
    vit_status status = vit_file_open(&file, &there, path, error);
    if (status != VIT_OK) return status;
    const vit_bytes first = {(uint8_t *)&head, (size_t)vit_min(there, sizeof head)};
    status = vit_file_read(&head, first.size, file, 0, path, error);
    vit_file_close(file);
    if (status != VIT_OK) return status;
    *fresh = there == 0 || (vit_index_begins(&first, &size) && there < size);
    return VIT_OK;
}

/* Opens the file behind its last whole block; one that has none yet gets its first. */
static vit_status begin(vit_index_writer *w, const vit_index_about *about, vit_error *error) {
    vit_index *index = NULL;
    bool fresh;
    vit_status status = is_fresh(&fresh, w->path, error);
    if (status == VIT_OK && !fresh) status = vit_index_open(&index, w->path, error);
    if (status == VIT_OK && index) status = same_model(index, about, error);
    if (status == VIT_OK)
        status = vit_append_open(&w->file, w->path, index ? index->end : 0, error);
    if (status == VIT_OK) status = still_there(w, error);
    if (status == VIT_OK && !index) status = write_about(w, about, error);
    if (status == VIT_OK && index) w->rows = index->rows;
    if (status == VIT_OK && index) w->cut = vit_index_unfinished(index);
    vit_index_free(index);
    return status;
}

vit_status vit_index_writer_open(vit_index_writer **out, const char *path,
                                 const vit_index_about *about, vit_error *error) {
    vit_index_writer *w = vit_alloc(1, sizeof *w);
    *out = NULL;
    if (!w) return vit_fail_memory(error, path, sizeof *w);
    w->lock = -1;
    w->width = about->width;
    w->stride = vit_index_padded(about->width);
    w->path = vit_strdup(path);
    vit_status status =
        w->path ? vit_lock_take(&w->lock, path, error) : vit_fail_memory(error, path, strlen(path));
    if (status == VIT_OK) status = begin(w, about, error);
    if (status != VIT_OK) {
        vit_index_writer_close(w);
        return status;
    }
    *out = w;
    return VIT_OK;
}

uint64_t vit_index_writer_cut(const vit_index_writer *w) {
    return w->cut;
}

void vit_index_writer_close(vit_index_writer *w) {
    if (!w) return;
    vit_append_close(w->file, NULL);
    vit_lock_drop(w->lock);
    vit_free(w->path);
    vit_free(w);
}

/* The features, rounded to 127 steps of their largest; with the scale their length is 1. */
static vit_status quantise(int8_t *to, float *scale, const vit_index_picture *p, size_t width,
                           vit_error *error) {
    double most = 0;
    for (size_t i = 0; i < width; i++) {
        const double x = fabs((double)p->features[i]);
        most = x > most || isnan(x) ? x : most;
    }
    if (!(most > 0) || !isfinite(most))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s: its features have no direction: they are all 0, or not finite",
                        p->name);
    for (size_t i = 0; i < width; i++) to[i] = (int8_t)lrint((double)p->features[i] / most * 127);
    *scale = vit_index_scale(to, width);
    return VIT_OK;
}

vit_status vit_index_writer_put(vit_index_writer *w, const vit_index_picture *pictures,
                                size_t count, const uint64_t *gone, size_t gone_count,
                                vit_error *error) {
    vit_index_head head = {.kind = VIT_INDEX_ROWS,
                           .rows = (uint32_t)count,
                           .gone = (uint32_t)gone_count,
                           .width = (uint32_t)w->rows};
    vit_string content = {0}, vectors = {0}, names = {0};
    int8_t *row = vit_alloc(w->stride, 1);
    if (!row) return vit_fail_memory(error, w->path, w->stride);
    vit_status status = still_there(w, error);
    if (status == VIT_OK && count > UINT32_MAX - w->rows)
        status =
            vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s: more than %u rows", w->path, UINT32_MAX);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        const vit_index_picture *p = &pictures[i];
        vit_index_entry entry = {p->stamp.seconds, (uint32_t)p->stamp.nanoseconds, 0, p->stamp.size,
                                 names.length};
        status = quantise(row, &entry.scale, p, w->width, error);
        vit_string_add_bytes(&content, (const char *)&entry, sizeof entry);
        vit_string_add_bytes(&vectors, (const char *)row, w->stride);
        vit_string_add_bytes(&names, p->name, strlen(p->name) + 1);
    }
    pad(&content);
    vit_string_add_bytes(&content, vectors.text, vectors.length);
    vit_string_add_bytes(&content, (const char *)gone, 8 * gone_count);
    vit_string_add_bytes(&content, names.text, names.length);
    content.failed = content.failed || vectors.failed || names.failed;
    if (status == VIT_OK) status = write_block(w, &head, &content, error);
    if (status == VIT_OK) w->rows += count;
    vit_free(row);
    vit_string_free(&content);
    vit_string_free(&vectors);
    vit_string_free(&names);
    return status;
}
