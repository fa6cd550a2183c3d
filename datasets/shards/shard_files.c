#include "datasets/shards/shard_files.h"
#include "vit/image/image.h"

#include <inttypes.h>
#include <pthread.h>
#include <zlib.h>

#define SLOTS 64 /* files that are kept open */

typedef struct shard {
    char *path;
    uint64_t size;
} shard;

/* A file that is open; shard s has slot s % SLOTS, or is opened for one picture alone. */
typedef struct slot {
    size_t shard;
    int file;     /* -1: none */
    size_t users; /* that read from it now */
} slot;

struct vit_shard_files {
    shard *shards;
    size_t count, capacity;
    pthread_mutex_t lock; /* of the slots */
    slot slots[SLOTS];
};

vit_status vit_shard_files_new(vit_shard_files **out, vit_error *error) {
    vit_shard_files *f = *out = vit_alloc(1, sizeof *f);
    if (!f) return vit_fail_memory(error, "a list of shards", sizeof *f);
    for (size_t i = 0; i < SLOTS; i++) f->slots[i].file = -1;
    pthread_mutex_init(&f->lock, NULL);
    return VIT_OK;
}

void vit_shard_files_free(vit_shard_files *f) {
    if (!f) return;
    for (size_t i = 0; i < SLOTS; i++) vit_file_close(f->slots[i].file);
    for (size_t i = 0; i < f->count; i++) vit_free(f->shards[i].path);
    pthread_mutex_destroy(&f->lock);
    vit_free(f->shards);
    vit_free(f);
}

vit_status vit_shard_files_add(vit_shard_files *f, char *path, uint64_t size, vit_error *error) {
    if (!VIT_MAKE_ROOM(f->shards, f->count, f->capacity, "a list of shards", error)) {
        vit_free(path);
        return VIT_ERROR_MEMORY;
    }
    f->shards[f->count++] = (shard){path, size};
    return VIT_OK;
}

size_t vit_shard_files_count(const vit_shard_files *f) {
    return f->count;
}

const char *vit_shard_files_path(const vit_shard_files *f, size_t number) {
    return f->shards[number].path;
}

uint64_t vit_shard_files_size(const vit_shard_files *f, size_t number) {
    return f->shards[number].size;
}

static vit_status open_shard(int *file, const shard *s, vit_error *error) {
    uint64_t size;
    vit_status status = vit_file_open(file, &size, s->path, error);
    if (status != VIT_OK || size == s->size) return status;
    vit_file_close(*file);
    *file = -1;
    return vit_fail(error, VIT_ERROR_MISMATCH,
                    "%s: has %" PRIu64 " bytes, and had %" PRIu64 " when the data were opened",
                    s->path, size, s->size);
}

/* *file = the shard, open. *kept: its slot; NULL: the caller closes the file. */
static vit_status take(int *file, slot **kept, vit_shard_files *f, size_t number,
                       vit_error *error) {
    slot *s = &f->slots[number % SLOTS];
    vit_status status = VIT_OK;
    pthread_mutex_lock(&f->lock);
    const bool is_there = s->file >= 0 && s->shard == number;
    *kept = is_there || s->users == 0 ? s : NULL;
    if (*kept && !is_there) {
        vit_file_close(s->file);
        *s = (slot){number, -1, 0};
        status = open_shard(&s->file, &f->shards[number], error);
    }
    if (*kept && status == VIT_OK) s->users++;
    *file = s->file;
    pthread_mutex_unlock(&f->lock);
    return *kept ? status : open_shard(file, &f->shards[number], error);
}

static void give_back(int file, slot *kept, vit_shard_files *f) {
    if (!kept) {
        vit_file_close(file);
        return;
    }
    pthread_mutex_lock(&f->lock);
    kept->users--;
    pthread_mutex_unlock(&f->lock);
}

vit_status vit_shard_files_read(vit_bytes *out, vit_shard_files *f, const vit_place *place,
                                const char *name, vit_error *error) {
    int file;
    slot *kept;
    *out = (vit_bytes){0};
    if (place->size > VIT_IMAGE_MAX_FILE)
        return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                        "%s has %" PRIu32 " bytes, expected at most "
                        "%zu",
                        name, place->size, (size_t)VIT_IMAGE_MAX_FILE);
    out->data = vit_alloc_unset(place->size > 0 ? place->size : 1, 1);
    if (!out->data) return vit_fail_memory(error, name, place->size);
    out->size = place->size;
    vit_status status = take(&file, &kept, f, place->shard, error);
    if (status == VIT_OK) {
        status = vit_file_read(out->data, out->size, file, place->offset, name, error);
        give_back(file, kept, f);
    }
    if (status == VIT_OK && place->has_crc && crc32(0, out->data, place->size) != place->crc)
        status = vit_fail(error, VIT_ERROR_FORMAT,
                          "%s: is not the picture that the index tells of, by its CRC-32: the "
                          "shard is damaged, or another one",
                          name);
    if (status == VIT_OK) return VIT_OK;
    vit_free(out->data);
    *out = (vit_bytes){0};
    return status;
}
