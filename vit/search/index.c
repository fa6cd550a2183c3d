/* Reading and writing the file of an index: layout.h has its parts. */
#include "vit/base/append.h"
#include "vit/base/size.h"
#include "vit/base/text.h"
#include "vit/search/layout.h"
#include <math.h>
#include <string.h>
#include <zlib.h>

static uint64_t padded(uint64_t size) {
    return (size + 63) / 64 * 64;
}

static uint32_t checksum(const void *bytes, uint64_t size) {
    return (uint32_t)crc32_z(0, bytes, (size_t)size);
}

static uint32_t head_checksum(const vit_index_head *head) {
    return checksum(head, offsetof(vit_index_head, checked));
}

/* ---- reading ---- */

static vit_status damaged(const vit_index *index, uint64_t at, const char *what, vit_error *error) {
    return vit_fail(error, VIT_ERROR_FORMAT, "%s: its block at byte %llu %s", index->path,
                    (unsigned long long)at, what);
}

/* Two texts, each ended by 0. */
static vit_status read_about(vit_index *index, const vit_index_head *head, vit_error *error) {
    const char *text = (const char *)(head + 1);
    const char *end = memchr(text, 0, head->size);
    const size_t left = end ? (size_t)head->size - (size_t)(end + 1 - text) : 0;
    if (!end || !memchr(end + 1, 0, left) || head->width == 0 || head->width > 1 << 20)
        return damaged(index, 0, "says no model", error);
    index->model = text;
    index->fingerprint = end + 1;
    index->width = head->width;
    index->stride = padded(head->width);
    return VIT_OK;
}

/* Where the parts of a block begin; false: they are larger than it. */
static bool lay_out(vit_index_block *b, const uint64_t **gone, uint64_t *names,
                    const vit_index_head *head, size_t stride) {
    const uint8_t *at = (const uint8_t *)(head + 1);
    const uint64_t entries = padded((uint64_t)head->rows * sizeof *b->entries);
    const uint64_t vectors = (uint64_t)head->rows * stride, out = (uint64_t)head->gone * 8;
    if (entries > head->size || vectors > head->size - entries ||
        out > head->size - entries - vectors)
        return false;
    b->entries = (const vit_index_entry *)at;
    b->vectors = (const int8_t *)at + entries;
    *gone = (const uint64_t *)(at + entries + vectors);
    b->names = (const char *)at + entries + vectors + out;
    *names = head->size - entries - vectors - out;
    b->rows = head->rows;
    return true;
}

static vit_status take_out(vit_index *index, const uint64_t *gone, size_t count, uint64_t at,
                           vit_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (gone[i] >= index->rows)
            return damaged(index, at, "takes out a row that is not there", error);
        index->pictures -= index->gone[gone[i]] == 0;
        index->gone[gone[i]] = 1;
    }
    return VIT_OK;
}

static vit_status read_rows(vit_index *index, const vit_index_head *head, uint64_t at,
                            vit_error *error) {
    const uint64_t *gone;
    uint64_t names;
    vit_index_block b = {.first = index->rows};
    if (!lay_out(&b, &gone, &names, head, index->stride))
        return damaged(index, at, "is too small for what it has", error);
    if (b.rows > 0 && (names == 0 || b.names[names - 1] != 0))
        return damaged(index, at, "has names without an end", error);
    for (size_t i = 0; i < b.rows; i++)
        if (b.entries[i].name >= names || !(b.entries[i].scale > 0) ||
            !isfinite(b.entries[i].scale))
            return damaged(index, at, "has a damaged entry", error);
    if (!VIT_MAKE_ROOM(index->blocks, index->count, index->capacity, index->path, error))
        return VIT_ERROR_MEMORY;
    if (index->rows + b.rows > index->gone_room) {
        const size_t room = 2 * (index->rows + b.rows);
        uint8_t *flags = vit_realloc(index->gone, index->gone_room, room, 1);
        if (!flags) return vit_fail_memory(error, index->path, room);
        index->gone = flags;
        index->gone_room = room;
    }
    index->blocks[index->count++] = b;
    index->rows += b.rows;
    index->pictures += b.rows;
    return take_out(index, gone, head->gone, at, error);
}

/* Whether a whole block begins here. All but the last were on the disk before the next one was
 * begun; of the last the content is looked at. */
static bool is_whole(const vit_index *index, uint64_t at) {
    const vit_index_head *head = (const void *)(index->file.data + at);
    const uint64_t left = index->file.size - at;
    if (left < sizeof *head || head->magic != VIT_INDEX_MAGIC ||
        head->checked != head_checksum(head) || head->size % 64 != 0 ||
        head->size > left - sizeof *head)
        return false;
    const uint64_t next = at + sizeof *head + head->size;
    const vit_index_head *after = (const void *)(index->file.data + next);
    if (index->file.size - next >= sizeof *after && after->magic == VIT_INDEX_MAGIC &&
        after->checked == head_checksum(after))
        return true;
    return head->content == checksum(head + 1, head->size);
}

/* Reads the block at the end of what was read: the first one is ABOUT, and no other is. */
static vit_status read_block(vit_index *index, const vit_index_head *head, vit_error *error) {
    const bool first = index->end == 0;
    switch ((vit_index_kind)head->kind) {
    case VIT_INDEX_ABOUT:
        if (!first) break;
        return read_about(index, head, error);
    case VIT_INDEX_ROWS:
        if (first) break;
        return read_rows(index, head, index->end, error);
    }
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: has a block of the kind %u, of a later version", index->path, head->kind);
}

static vit_status read_blocks(vit_index *index, vit_error *error) {
    vit_status status = VIT_OK;
    while (status == VIT_OK && is_whole(index, index->end)) {
        const vit_index_head *head = (const void *)(index->file.data + index->end);
        status = read_block(index, head, error);
        index->end += sizeof *head + head->size;
    }
    if (status == VIT_OK && index->end == 0)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: is no index of pictures, which vit-search build makes", index->path);
    return status;
}

vit_status vit_index_open(vit_index **out, const char *path, vit_error *error) {
    vit_index *index = vit_alloc(1, sizeof *index);
    *out = NULL;
    if (!index) return vit_fail_memory(error, path, sizeof *index);
    index->path = vit_strdup(path);
    vit_status status = index->path ? vit_map_file(&index->file, path, error)
                                    : vit_fail_memory(error, path, strlen(path));
    if (status == VIT_OK) status = read_blocks(index, error);
    if (status != VIT_OK) {
        vit_index_free(index);
        return status;
    }
    *out = index;
    return VIT_OK;
}

void vit_index_free(vit_index *index) {
    if (!index) return;
    vit_unmap_file(&index->file);
    vit_free(index->path);
    vit_free(index->blocks);
    vit_free(index->gone);
    vit_free(index);
}

vit_index_about vit_index_describe(const vit_index *index) {
    return (vit_index_about){index->width, index->model, index->fingerprint};
}

size_t vit_index_rows(const vit_index *index) {
    return index->rows;
}

size_t vit_index_pictures(const vit_index *index) {
    return index->pictures;
}

vit_indexed vit_index_row(const vit_index *index, size_t row) {
    size_t low = 0, high = index->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (index->blocks[middle].first <= row)
            low = middle;
        else
            high = middle;
    }
    const vit_index_block *b = &index->blocks[low];
    const vit_index_entry *e = &b->entries[row - b->first];
    return (vit_indexed){
        b->names + e->name, {e->seconds, e->nanoseconds, e->size}, index->gone[row] != 0};
}

/* ---- writing ---- */

static void pad(vit_string *t) {
    static const char zeros[64];
    vit_string_add_bytes(t, zeros, padded(t->length) - t->length);
}

struct vit_index_writer {
    char *path;
    size_t width, stride;
    int lock;
    vit_append *file;
};

/* A block that is being made: a head, its content, and room for both. */
static vit_status write_block(vit_index_writer *w, vit_index_head *head, const vit_string *content,
                              vit_error *error) {
    vit_string all = {0};
    if (content->failed) return vit_fail_memory(error, w->path, content->capacity);
    head->magic = VIT_INDEX_MAGIC;
    head->size = padded(content->length);
    vit_string_add_bytes(&all, (const char *)head, sizeof *head);
    vit_string_add_bytes(&all, content->text, content->length);
    pad(&all);
    vit_status status = VIT_OK;
    if (all.failed) status = vit_fail_memory(error, w->path, all.capacity);
    if (status == VIT_OK) {
        head->content = checksum(all.text + sizeof *head, head->size);
        head->checked = head_checksum(head);
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

/* Whether the file ends within its first block, which a writer was killed in. */
static vit_status is_torn(bool *torn, const char *path, vit_error *error) {
    const uint32_t magic = VIT_INDEX_MAGIC;
    vit_index_head head = {0};
    vit_bytes file;
    vit_status status = vit_map_file(&file, path, error);
    if (status != VIT_OK) return status;
    const size_t size = vit_min(file.size, sizeof head);
    if (size > 0) memcpy(&head, file.data, size);
    *torn = memcmp(&head, &magic, vit_min(size, sizeof magic)) == 0 &&
            (size < sizeof head || file.size - size < head.size);
    vit_unmap_file(&file);
    return VIT_OK;
}

/* Opens the file behind its last whole block; one that has none yet gets its first. */
static vit_status begin(vit_index_writer *w, const vit_index_about *about, vit_error *error) {
    vit_index *index = NULL;
    bool torn = false;
    vit_status status = is_torn(&torn, w->path, error);
    if (status == VIT_OK && !torn) status = vit_index_open(&index, w->path, error);
    if (status == VIT_OK && index) status = same_model(index, about, error);
    if (status == VIT_OK)
        status = vit_append_open(&w->file, w->path, index ? index->end : 0, error);
    if (status == VIT_OK && !index) status = write_about(w, about, error);
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
    w->stride = padded(about->width);
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
    double most = 0, sum = 0;
    for (size_t i = 0; i < width; i++) {
        const double x = fabs((double)p->features[i]);
        most = x > most || isnan(x) ? x : most;
    }
    if (!(most > 0) || !isfinite(most))
        return vit_fail(error, VIT_ERROR_ARGUMENT,
                        "%s: its features have no direction: they are all 0, or not finite",
                        p->name);
    for (size_t i = 0; i < width; i++) {
        to[i] = (int8_t)lrint((double)p->features[i] / most * 127);
        sum += to[i] * to[i];
    }
    *scale = (float)(1 / sqrt(sum));
    return VIT_OK;
}

vit_status vit_index_writer_put(vit_index_writer *w, const vit_index_picture *pictures,
                                size_t count, const uint64_t *gone, size_t gone_count,
                                vit_error *error) {
    vit_index_head head = {
        .kind = VIT_INDEX_ROWS, .rows = (uint32_t)count, .gone = (uint32_t)gone_count};
    vit_string content = {0}, vectors = {0}, names = {0};
    int8_t *row = vit_alloc(w->stride, 1);
    vit_status status = VIT_OK;
    if (!row) return vit_fail_memory(error, w->path, w->stride);
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
    vit_free(row);
    vit_string_free(&content);
    vit_string_free(&vectors);
    vit_string_free(&names);
    return status;
}
