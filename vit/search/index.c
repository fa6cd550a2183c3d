/* Reading the file of an index: layout.h has its parts. */
#include "vit/base/parallel.h"
#include "vit/base/size.h"
#include "vit/search/layout.h"
#include <math.h>
#include <string.h>
#include <zlib.h>

uint64_t vit_index_padded(uint64_t size) {
    return (size + 63) / 64 * 64;
}

uint32_t vit_index_checksum(const void *bytes, uint64_t size) {
    return (uint32_t)crc32_z(0, bytes, (size_t)size);
}

uint32_t vit_index_head_checksum(const vit_index_head *head) {
    return vit_index_checksum(head, offsetof(vit_index_head, checked));
}

float vit_index_scale(const int8_t *numbers, size_t count) {
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += numbers[i] * numbers[i];
    return (float)(1 / sqrt((double)sum));
}

/* ---- heads ---- */

/* What begins at a place of the file. */
typedef enum found { WHOLE, UNFINISHED, DAMAGED } found;

static bool is_head(const vit_index_head *head) {
    static const uint32_t zeros[VIT_COUNT(head->zeros)];
    return head->magic == VIT_INDEX_MAGIC && head->checked == vit_index_head_checksum(head) &&
           memcmp(head->zeros, zeros, sizeof zeros) == 0 && head->size % 64 == 0;
}

/* A writer that was stopped leaves the beginning of a block: less than a head, or a whole head and
 * less than its content. */
static found look(const vit_bytes *file, uint64_t at) {
    const vit_index_head *head = (const void *)(file->data + at);
    const uint32_t magic = VIT_INDEX_MAGIC;
    const uint64_t left = file->size - at;
    if (left < sizeof *head)
        return memcmp(head, &magic, vit_min((size_t)left, sizeof magic)) == 0 ? UNFINISHED
                                                                              : DAMAGED;
    if (!is_head(head)) return DAMAGED;
    return head->size > left - sizeof *head ? UNFINISHED : WHOLE;
}

/* What is said of it; NULL: nothing is wrong. */
static const char *wrong_with(found what) {
    switch (what) {
    case WHOLE:
        break;
    case UNFINISHED:
        return "is not whole";
    case DAMAGED:
        return "has a damaged head";
    }
    return NULL;
}

static bool has_rows(const vit_index_head *head) {
    switch ((vit_index_kind)head->kind) {
    case VIT_INDEX_ABOUT:
        break;
    case VIT_INDEX_ROWS:
        return true;
    }
    return false;
}

bool vit_index_begins(const vit_bytes *file, uint64_t *size) {
    const vit_index_head *head = (const void *)file->data;
    if (file->size < sizeof *head || !is_head(head) || head->kind != VIT_INDEX_ABOUT) return false;
    *size = sizeof *head + head->size;
    return true;
}

/* The next place behind a damaged block where a whole one begins; the file's end if none does. */
static uint64_t find_next(const vit_bytes *file, uint64_t at) {
    for (at += 64; at < file->size; at += 64)
        if (look(file, at) == WHOLE) return at;
    return file->size;
}

/* ---- blocks ---- */

/* Keeps the first damage that is found. */
static void note_damage(vit_index *index, uint64_t at, const char *what) {
    if (index->damage.length == 0)
        vit_string_add(&index->damage, "its block at byte %llu %s", (unsigned long long)at, what);
}

/* Two texts, each ended by 0. */
static vit_status read_about(vit_index *index, vit_error *error) {
    const vit_index_head *head = (const void *)index->file.data;
    const char *text = (const char *)(head + 1);
    uint64_t size;
    if (!vit_index_begins(&index->file, &size))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: is no index of pictures, which vit-search build makes, or its first "
                        "bytes are damaged",
                        index->path);
    const bool whole = size <= index->file.size;
    const char *end = whole ? memchr(text, 0, head->size) : NULL;
    const size_t left = end ? (size_t)head->size - (size_t)(end + 1 - text) : 0;
    if (!whole || head->content != vit_index_checksum(text, head->size) || !end ||
        !memchr(end + 1, 0, left) || head->width == 0 || head->width > 1 << 20)
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: its first block, which says what model it is of, is %s: nothing can "
                        "be saved; remove the file and build it again",
                        index->path, whole ? "damaged" : "not whole");
    index->model = text;
    index->fingerprint = end + 1;
    index->width = head->width;
    index->stride = vit_index_padded(head->width);
    index->end = size;
    return VIT_OK;
}

/* Where the parts of a block begin; false: they are larger than it, or its names have no end. */
static bool lay_out(vit_index_block *b, uint64_t *names, const vit_index_head *head,
                    size_t stride) {
    const uint8_t *at = (const uint8_t *)(head + 1);
    const uint64_t entries = vit_index_padded((uint64_t)head->rows * sizeof *b->entries);
    const uint64_t vectors = (uint64_t)head->rows * stride, out = (uint64_t)head->gone * 8;
    if (entries > head->size || vectors > head->size - entries ||
        out > head->size - entries - vectors)
        return false;
    *b = (vit_index_block){.entries = (const vit_index_entry *)at,
                           .vectors = (const int8_t *)at + entries,
                           .gone = (const uint64_t *)(at + entries + vectors),
                           .names = (const char *)at + entries + vectors + out,
                           .first = head->width,
                           .rows = head->rows,
                           .gone_count = head->gone};
    *names = head->size - entries - vectors - out;
    return head->rows == 0 || (*names > 0 && b->names[*names - 1] == 0);
}

/* Whether an entry can be: its name begins where one does, and its features have the length 1. */
static bool is_possible(const vit_index_block *b, size_t i, uint64_t names, size_t stride) {
    const vit_index_entry *e = &b->entries[i];
    return e->name < names && b->names[e->name] != 0 &&
           (e->name == 0 || b->names[e->name - 1] == 0) && isfinite(e->scale) &&
           e->scale == vit_index_scale(b->vectors + i * stride, stride);
}

/* A block that was found, and what is wrong with its content; NULL: nothing. */
typedef struct checked {
    uint64_t at;
    vit_index_block block;
    const char *wrong;
} checked;

typedef struct checking {
    const vit_index *index;
    checked *blocks; /* [count] */
    size_t count, capacity;
} checking;

static void check_block(size_t i, int thread, void *context) {
    const checking *c = context;
    checked *k = &c->blocks[i];
    const vit_index_head *head = (const void *)(c->index->file.data + k->at);
    uint64_t names;
    (void)thread;
    if (head->content != vit_index_checksum(head + 1, head->size)) {
        k->wrong = "has not the checksum of its content";
        return;
    }
    if (!lay_out(&k->block, &names, head, c->index->stride)) {
        k->wrong = "is too small for what it has";
        return;
    }
    for (size_t row = 0; row < k->block.rows && !k->wrong; row++)
        if (!is_possible(&k->block, row, names, c->index->stride))
            k->wrong = "has an entry with impossible numbers";
}

/* Lists the blocks of pictures behind the first block. */
static vit_status list_blocks(checking *c, vit_index *index, vit_error *error) {
    uint64_t at = index->end;
    while (at < index->file.size) {
        const found what = look(&index->file, at);
        const vit_index_head *head = (const void *)(index->file.data + at);
        const uint64_t next = what == WHOLE ? 0 : find_next(&index->file, at);
        if (what == UNFINISHED && next == index->file.size) break;
        if (what != WHOLE) {
            note_damage(index, at, wrong_with(what));
            at = next;
            continue;
        }
        if (!has_rows(head))
            return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                            "%s: has a block of the kind %u at byte %llu, of a later version",
                            index->path, head->kind, (unsigned long long)at);
        if (!VIT_MAKE_ROOM(c->blocks, c->count, c->capacity, index->path, error))
            return VIT_ERROR_MEMORY;
        c->blocks[c->count++] = (checked){.at = at};
        at += sizeof *head + head->size;
        index->end = at;
    }
    return VIT_OK;
}

/* What is wrong with a block behind those before it; NULL: nothing. */
static const char *find_wrong(const vit_index *index, const checked *k) {
    const vit_index_block *b = &k->block;
    if (k->wrong) return k->wrong;
    if (b->first < index->rows) return "has rows that were there before";
    if (b->first / 64 > index->file.size) return "has an impossible number of its first row";
    for (size_t i = 0; i < b->gone_count; i++)
        if (b->gone[i] >= b->first + b->rows) return "takes out a row that is not there";
    return NULL;
}

/* Takes a block in, if nothing is wrong with it; rows before it may be missing. */
static vit_status add_block(vit_index *index, const checked *k, vit_error *error) {
    const char *wrong = find_wrong(index, k);
    if (wrong) {
        note_damage(index, k->at, wrong);
        return VIT_OK;
    }
    if (k->block.first > index->rows) note_damage(index, k->at, "follows rows that are missing");
    if (!VIT_MAKE_ROOM(index->blocks, index->count, index->capacity, index->path, error))
        return VIT_ERROR_MEMORY;
    index->blocks[index->count++] = k->block;
    index->rows = k->block.first + k->block.rows;
    index->pictures += k->block.rows;
    return VIT_OK;
}

/* Marks the rows that blocks take out, those of blocks that are missing among them. */
static vit_status mark_gone(vit_index *index, vit_error *error) {
    index->gone = vit_alloc(index->rows, 1);
    if (!index->gone) return vit_fail_memory(error, index->path, index->rows);
    for (size_t k = 0; k < index->count; k++) {
        const vit_index_block *b = &index->blocks[k];
        for (size_t i = 0; i < b->gone_count; i++)
            if (b->gone[i] < index->rows) index->gone[b->gone[i]] = 1;
    }
    for (size_t k = 0; k < index->count; k++)
        for (size_t i = 0; i < index->blocks[k].rows; i++)
            index->pictures -= index->gone[index->blocks[k].first + i];
    return VIT_OK;
}

static vit_status read_blocks(vit_index *index, int threads, vit_error *error) {
    checking c = {.index = index};
    vit_status status = read_about(index, error);
    if (status == VIT_OK) status = list_blocks(&c, index, error);
    if (status == VIT_OK) vit_parallel(threads, c.count, check_block, &c);
    for (size_t i = 0; i < c.count && status == VIT_OK; i++)
        status = add_block(index, &c.blocks[i], error);
    vit_free(c.blocks);
    if (status == VIT_OK && index->damage.failed)
        status = vit_fail_memory(error, index->path, index->damage.capacity);
    return status == VIT_OK ? mark_gone(index, error) : status;
}

vit_status vit_index_read(vit_index **out, const char *path, int threads, vit_error *error) {
    vit_index *index = vit_alloc(1, sizeof *index);
    *out = NULL;
    if (!index) return vit_fail_memory(error, path, sizeof *index);
    index->path = vit_strdup(path);
    vit_status status = index->path ? vit_read_regular(&index->file, path, PTRDIFF_MAX - 1, error)
                                    : vit_fail_memory(error, path, strlen(path));
    if (status == VIT_OK) status = read_blocks(index, threads, error);
    if (status != VIT_OK) {
        vit_index_free(index);
        return status;
    }
    *out = index;
    return VIT_OK;
}

vit_status vit_index_open_on(vit_index **out, const char *path, int threads, vit_error *error) {
    vit_status status = vit_index_read(out, path, threads, error);
    if (status != VIT_OK || (*out)->damage.length == 0) return status;
    status = vit_fail(error, VIT_ERROR_FORMAT,
                      "%s: is damaged: %s; %zu of its pictures can be saved: vit-search repair %s "
                      "-o NEW, and build then adds the others",
                      path, (*out)->damage.text, (*out)->pictures, path);
    vit_index_free(*out);
    *out = NULL;
    return status;
}

vit_status vit_index_open(vit_index **out, const char *path, vit_error *error) {
    return vit_index_open_on(out, path, vit_threads_default(), error);
}

void vit_index_free(vit_index *index) {
    if (!index) return;
    vit_free(index->file.data);
    vit_free(index->path);
    vit_free(index->blocks);
    vit_free(index->gone);
    vit_string_free(&index->damage);
    vit_free(index);
}

bool vit_index_continues(const vit_index *later, const vit_index *earlier) {
    return later->end >= earlier->end &&
           memcmp(later->file.data, earlier->file.data, (size_t)earlier->end) == 0;
}

vit_index_about vit_index_describe(const vit_index *index) {
    return (vit_index_about){index->width, index->model, index->fingerprint};
}

/* ---- places of pictures ---- */

static bool is_absolute(const char *path) {
    return path[0] == '/' || (path[0] != 0 && path[1] == ':' && path[2] == '/');
}

vit_status vit_index_root(char **root, const char *index, vit_error *error) {
    char *real = vit_path_real(index);
    *root = real ? vit_path_directory(real) : NULL;
    vit_free(real);
    return *root ? VIT_OK : vit_fail(error, VIT_ERROR_IO, "cannot look at %s", index);
}

const char *vit_index_name(const char *root, const char *path) {
    const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    return strncmp(path, root, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

char *vit_index_path(const vit_index *index, const char *name) {
    if (is_absolute(name)) return vit_strdup(name);
    if (!vit_path_is_link(index->path)) return vit_path_beside(index->path, name);
    char *real = vit_path_real(index->path);
    char *path = real ? vit_path_beside(real, name) : NULL;
    vit_free(real);
    return path;
}

/* ---- rows ---- */

size_t vit_index_rows(const vit_index *index) {
    return index->rows;
}

uint64_t vit_index_unfinished(const vit_index *index) {
    return index->file.size - index->end;
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
