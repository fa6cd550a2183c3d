#include "vit/tensors/tensors.h"

#include "vit/base/sys.h"
#include "vit/tensors/container.h"
#include "vit/tensors/shards.h"
#include "vit/tensors/weights_path.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of the files: a shard, or the only one. */
typedef struct part {
    char *name;
    const uint8_t *bytes;
    size_t size;
    vit_bytes map; /* data NULL: the bytes belong to the caller */
    const vit_container *container;
    void *state;
} part;

typedef struct entry {
    vit_tensor tensor; /* the first field, so that a pointer to it is a pointer to its entry */
    size_t part, index;
    bool held; /* its elements are in memory of the file's object */
} entry;

struct vit_tensors {
    char *name;
    part *parts;
    size_t part_count;
    entry *entries; /* sorted by name */
    size_t count;
    void **held; /* [held_count] names and elements that vit_tensors_unstack made, owned */
    size_t held_count;
    bool kept;
};

/* ---- parts ---- */

static vit_status find_container(const vit_container **found, const uint8_t *bytes, size_t size,
                                 const char *name, vit_error *error) {
    for (size_t i = 0; vit_containers[i]; i++)
        if (vit_containers[i]->probe(bytes, size)) {
            *found = vit_containers[i];
            return VIT_OK;
        }
    const char *kind = vit_foreign_file(bytes, size);
    if (kind) return vit_fail(error, VIT_ERROR_UNSUPPORTED, "%s is %s", name, kind);
    *found = &vit_container_safetensors; /* its error says what the file lacks */
    return VIT_OK;
}

/* Owns `map` from now on, even if it fails. */
static vit_status add_part(vit_tensors *file, const uint8_t *bytes, size_t size, vit_bytes map,
                           const char *name, vit_error *error) {
    const size_t n = file->part_count;
    part p = {.name = vit_strdup(name), .bytes = bytes, .size = size, .map = map};
    part *grown = vit_realloc(file->parts, n, n + 1, sizeof *grown);
    if (grown) file->parts = grown;
    vit_status status = p.name && grown ? find_container(&p.container, bytes, size, name, error)
                                        : vit_fail_memory(error, name, sizeof p);
    if (status == VIT_OK) status = p.container->open(&p.state, bytes, size, name, error);
    if (status != VIT_OK) {
        if (p.state) p.container->close(p.state);
        vit_free(p.name);
        vit_unmap_file(&map);
        return status;
    }
    file->parts[file->part_count++] = p;
    return VIT_OK;
}

/* ---- entries ---- */

static int compare_entries(const void *a, const void *b) {
    const entry *left = a, *right = b;
    return strcmp(left->tensor.name, right->tensor.name);
}

static vit_status list_entries(vit_tensors *file, vit_error *error) {
    size_t count = 0, own;
    for (size_t p = 0; p < file->part_count; p++, count += own)
        file->parts[p].container->list(file->parts[p].state, &own);
    file->entries = vit_alloc(count, sizeof *file->entries);
    if (!file->entries) return vit_fail_memory(error, file->name, count * sizeof *file->entries);
    for (size_t p = 0; p < file->part_count; p++) {
        const vit_tensor *tensors = file->parts[p].container->list(file->parts[p].state, &own);
        for (size_t i = 0; i < own; i++)
            file->entries[file->count++] = (entry){tensors[i], .part = p, .index = i};
    }
    qsort(file->entries, count, sizeof *file->entries, compare_entries);
    for (size_t i = 1; i < count; i++) {
        const entry *one = &file->entries[i - 1], *other = one + 1;
        char shown[VIT_NAME_TEXT];
        if (compare_entries(one, other) == 0)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: tensor '%s' is there twice, in %s and in %s", file->name,
                            vit_name_text(shown, one->tensor.name), file->parts[one->part].name,
                            file->parts[other->part].name);
    }
    return VIT_OK;
}

/* ---- shards ---- */

/* Opens a file that the index names, unless it is open already. */
static vit_status add_shard(vit_tensors *file, const char *shard, vit_error *error) {
    for (size_t p = 0; p < file->part_count; p++)
        if (strcmp(vit_path_last(file->parts[p].name), shard) == 0) return VIT_OK;
    char *path = vit_path_beside(file->name, shard);
    if (!path) return vit_fail_memory(error, shard, strlen(file->name) + strlen(shard));
    vit_status status;
    vit_bytes map = {0};
    if (vit_path_look(path) == VIT_PATH_NONE)
        status = vit_fail(error, VIT_ERROR_IO, "%s names the file %s, which is not beside it",
                          file->name, shard);
    else
        status = vit_map_file(&map, path, error);
    if (status == VIT_OK) status = add_part(file, map.data, map.size, map, path, error);
    vit_free(path);
    return status;
}

/* Every tensor must be in the file that the index says, and every tensor must be in the index. */
static vit_status check_shards(const vit_tensors *file, json_t *map, vit_error *error) {
    const char *tensor;
    char shown[VIT_NAME_TEXT];
    json_t *value;
    json_object_foreach(map, tensor, value) {
        const char *shard = json_string_value(value);
        const entry *e = (const entry *)vit_tensors_find(file, tensor);
        const char *found = e ? vit_path_last(file->parts[e->part].name) : "no file";
        if (!e || strcmp(found, shard) != 0)
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "%s: tensor '%s' should lie in %s, but lies in %s", file->name,
                            vit_name_text(shown, tensor), shard, found);
    }
    for (size_t i = 0; i < file->count; i++) {
        const entry *e = &file->entries[i];
        if (!json_object_get(map, e->tensor.name))
            return vit_fail(error, VIT_ERROR_MISMATCH,
                            "%s: tensor '%s' of %s is not in the \"weight_map\"", file->name,
                            vit_name_text(shown, e->tensor.name), file->parts[e->part].name);
    }
    return VIT_OK;
}

static vit_status read_index(vit_tensors *file, const vit_bytes *bytes, vit_error *error) {
    json_t *map, *shard;
    const char *tensor;
    vit_status status = vit_shards_parse(&map, bytes->data, bytes->size, file->name, error);
    if (status != VIT_OK) return status;
    json_object_foreach(map, tensor, shard) {
        if (status == VIT_OK) status = add_shard(file, json_string_value(shard), error);
    }
    if (status == VIT_OK) status = list_entries(file, error);
    if (status == VIT_OK) status = check_shards(file, map, error);
    json_decref(map);
    return status;
}

/* ---- opening ---- */

static vit_status new_tensors(vit_tensors **out, const char *name, vit_error *error) {
    *out = NULL;
    vit_tensors *file = vit_alloc(1, sizeof *file);
    if (file) file->name = vit_strdup(name);
    if (!file || !file->name) {
        vit_free(file);
        return vit_fail_memory(error, name, sizeof *file);
    }
    *out = file;
    return VIT_OK;
}

/* The length of a safetensors header, which comes first, may look like the beginning of JSON. */
static bool is_index(const uint8_t *bytes, size_t size) {
    return vit_shards_probe(bytes, size) && !vit_container_safetensors.probe(bytes, size);
}

static vit_status read_path(vit_tensors *file, vit_error *error) {
    vit_bytes map;
    vit_status status = vit_map_file(&map, file->name, error);
    if (status != VIT_OK) return status;
    if (is_index(map.data, map.size)) {
        status = read_index(file, &map, error);
        vit_unmap_file(&map);
        return status;
    }
    status = add_part(file, map.data, map.size, map, file->name, error);
    return status == VIT_OK ? list_entries(file, error) : status;
}

vit_status vit_tensors_open(vit_tensors **out, const char *path, vit_error *error) {
    char *found;
    vit_tensors *file;
    *out = NULL;
    vit_status status = vit_weights_find(&found, path, error);
    if (status != VIT_OK) return status;
    status = new_tensors(&file, found, error);
    vit_free(found);
    if (status == VIT_OK) status = read_path(file, error);
    if (status == VIT_OK)
        *out = file;
    else
        vit_tensors_close(file);
    return status;
}

vit_status vit_tensors_parse(vit_tensors **out, const void *bytes, size_t size, const char *name,
                             vit_error *error) {
    vit_tensors *file;
    *out = NULL;
    vit_status status = new_tensors(&file, name, error);
    if (status == VIT_OK && is_index(bytes, size))
        status = vit_fail(
            error, VIT_ERROR_UNSUPPORTED,
            "%s is JSON, expected weights: a sharded checkpoint is opened by its path", name);
    if (status == VIT_OK) status = add_part(file, bytes, size, (vit_bytes){0}, name, error);
    if (status == VIT_OK) status = list_entries(file, error);
    if (status == VIT_OK)
        *out = file;
    else
        vit_tensors_close(file);
    return status;
}

void vit_tensors_close(vit_tensors *file) {
    if (!file) return;
    for (size_t i = 0; i < file->part_count; i++) {
        part *p = &file->parts[i];
        p->container->close(p->state);
        vit_unmap_file(&p->map);
        vit_free(p->name);
    }
    for (size_t i = 0; i < file->held_count; i++) vit_free(file->held[i]);
    vit_free(file->held);
    vit_free(file->parts);
    vit_free(file->entries);
    vit_free(file->name);
    vit_free(file);
}

/* ---- access ---- */

const char *vit_tensors_name(const vit_tensors *file) {
    return file->name;
}

const char *vit_tensors_kind(const vit_tensors *file) {
    return file->parts[0].container->kind;
}

size_t vit_tensors_count(const vit_tensors *file) {
    return file->count;
}

const vit_tensor *vit_tensors_at(const vit_tensors *file, size_t index) {
    return &file->entries[index].tensor;
}

const vit_tensor *vit_tensors_find(const vit_tensors *file, const char *name) {
    const entry wanted = {.tensor = {.name = name}};
    const entry *found =
        bsearch(&wanted, file->entries, file->count, sizeof wanted, compare_entries);
    return found ? &found->tensor : NULL;
}

const uint8_t *vit_tensors_bytes(const vit_tensors *file, size_t *size) {
    if (file->part_count != 1) return NULL;
    *size = file->parts[0].size;
    return file->parts[0].bytes;
}

const char *vit_tensors_metadata(const vit_tensors *file, const char *key) {
    const part *first = &file->parts[0];
    return first->container->metadata ? first->container->metadata(first->state, key) : NULL;
}

/* ---- several blocks in one tensor ---- */

enum { MOST_BLOCKS = 4096 };

/* *memory: of the file's object, which has room for one more. */
static vit_status hold(void **memory, vit_tensors *file, size_t count, size_t size,
                       vit_error *error) {
    *memory = vit_alloc(count, size);
    if (!*memory) return vit_fail_memory(error, file->name, count * size);
    file->held[file->held_count++] = *memory;
    return VIT_OK;
}

/* Adds the tensor of block i, which is part of `whole`; `at` is where `all` stands in its name. */
static vit_status add_block(vit_tensors *file, const entry *whole, const char *at, const char *all,
                            const char *one, size_t i, vit_error *error) {
    const vit_tensor *t = &whole->tensor;
    const size_t size = strlen(t->name) + strlen(one) + 8;
    const char *percent = strstr(one, "%zu");
    void *name;
    const vit_status status = hold(&name, file, size, 1, error);
    if (status != VIT_OK) return status;
    snprintf(name, size, "%.*s%.*s%zu%s%s", (int)(at - t->name), t->name, (int)(percent - one), one,
             i, percent + 3, at + strlen(all));
    entry *e = &file->entries[file->count++];
    *e = *whole;
    e->tensor.name = name;
    e->tensor.count = t->count / t->shape[0];
    e->tensor.dims = t->dims - 1;
    memmove(e->tensor.shape, t->shape + 1, (t->dims - 1) * sizeof *t->shape);
    e->tensor.data = (const uint8_t *)t->data + i * e->tensor.count * vit_dtype_size(t->dtype);
    return VIT_OK;
}

/* Adds the tensors of all blocks of `whole`. */
static vit_status add_blocks(vit_tensors *file, entry whole, const char *all, const char *one,
                             vit_error *error) {
    vit_tensor *t = &whole.tensor;
    const part *from = &file->parts[whole.part];
    vit_status status = VIT_OK;
    void *elements;
    if (!t->data) {
        status = hold(&elements, file, t->count, vit_dtype_size(t->dtype), error);
        if (status == VIT_OK)
            status = from->container->fetch(from->state, whole.index, elements, error);
        if (status != VIT_OK) return vit_fail_prefix(error, status, from->name);
        vit_map_release(&from->map, from->map.data, from->map.size);
        t->data = elements;
        whole.held = true;
    }
    for (size_t i = 0; i < t->shape[0] && status == VIT_OK; i++)
        status = add_block(file, &whole, strstr(t->name, all), all, one, i, error);
    return status;
}

/* *stacks, *blocks: how many such tensors there are, and how many they become. */
static vit_status count_blocks(size_t *stacks, size_t *blocks, const vit_tensors *file,
                               const char *all, vit_error *error) {
    char shown[VIT_NAME_TEXT];
    *stacks = *blocks = 0;
    for (size_t i = 0; i < file->count; i++) {
        const vit_tensor *t = &file->entries[i].tensor;
        if (!strstr(t->name, all)) continue;
        if (t->dims < 1 || t->shape[0] < 1 || t->shape[0] > MOST_BLOCKS)
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: tensor %s has no blocks one after the other, at most %d",
                            file->name, vit_name_text(shown, t->name), MOST_BLOCKS);
        *stacks += 1;
        *blocks += t->shape[0];
    }
    return VIT_OK;
}

vit_status vit_tensors_unstack(vit_tensors *file, const char *all, const char *one,
                               vit_error *error) {
    size_t stacks, blocks;
    vit_status status = count_blocks(&stacks, &blocks, file, all, error);
    if (status != VIT_OK || stacks == 0) return status;
    entry *old = file->entries;
    const size_t count = file->count;
    file->entries = vit_alloc(count + blocks, sizeof *file->entries);
    file->held = vit_alloc(stacks + blocks, sizeof *file->held);
    file->count = 0;
    if (!file->entries || !file->held) status = vit_fail_memory(error, file->name, blocks);
    for (size_t i = 0; i < count && status == VIT_OK; i++) {
        if (strstr(old[i].tensor.name, all))
            status = add_blocks(file, old[i], all, one, error);
        else
            file->entries[file->count++] = old[i];
    }
    vit_free(old);
    if (status == VIT_OK) qsort(file->entries, file->count, sizeof *file->entries, compare_entries);
    return status;
}

/* ---- reading ---- */

/* Elements that are not in the file as they are: fetched into memory, then converted to float32. */
static vit_status fetch_floats(const part *from, const entry *e, float *values, vit_error *error) {
    const size_t size = vit_dtype_size(e->tensor.dtype);
    if (e->tensor.dtype == VIT_F32)
        return from->container->fetch(from->state, e->index, values, error);
    vit_tensor tensor = e->tensor;
    void *elements = vit_alloc(tensor.count, size);
    if (!elements) return vit_fail_memory(error, tensor.name, tensor.count * size);
    vit_status status = from->container->fetch(from->state, e->index, elements, error);
    tensor.data = elements;
    if (status == VIT_OK) status = vit_tensor_floats(&tensor, values, error);
    vit_free(elements);
    return status;
}

void vit_tensors_release(const vit_tensors *file, const vit_tensor *tensor) {
    const entry *e = (const entry *)tensor;
    if (!e->held)
        vit_map_release(&file->parts[e->part].map, tensor->data,
                        tensor->count * vit_dtype_size(tensor->dtype));
}

/* The elements as they are, whatever their type. */
static vit_status read_elements(const vit_tensors *file, const vit_tensor *tensor, float *values,
                                vit_error *error) {
    const entry *e = (const entry *)tensor;
    const part *from = &file->parts[e->part];
    const vit_status status = tensor->data ? vit_tensor_floats(tensor, values, error)
                                           : fetch_floats(from, e, values, error);
    if (e->held) return status; /* not of the file's pages */
    if (tensor->data)
        vit_tensors_release(file, tensor);
    else
        vit_map_release(&from->map, from->map.data, from->map.size);
    return status == VIT_OK ? status : vit_fail_prefix(error, status, from->name);
}

void vit_tensors_keep(vit_tensors *file) {
    file->kept = true;
}

/* The words that hold the elements, or NULL. */
static const float *words_of(const vit_tensor *tensor) {
    return (uintptr_t)tensor->data % sizeof(float) == 0 ? tensor->data : NULL;
}

const float *vit_tensors_floats(const vit_tensor *tensor) {
    return tensor->dtype == VIT_F32 ? words_of(tensor) : NULL;
}

const float *vit_tensors_place(const vit_tensors *file, const vit_tensor *tensor) {
    const vit_dtype type = tensor->dtype;
    const bool in_words = type == VIT_F32 || type == VIT_BF16 || type == VIT_F16;
    return file->kept && in_words ? words_of(tensor) : NULL;
}

/* ---- integers with scales ---- */

#define SCALE_ENDING "_scale"

static bool is_rounded(const vit_tensor *tensor) {
    return tensor->dtype == VIT_I8 && tensor->dims > 0;
}

const vit_tensor *vit_tensors_scales(const vit_tensors *file, const vit_tensor *tensor) {
    char name[256];
    const int length = snprintf(name, sizeof name, "%s" SCALE_ENDING, tensor->name);
    return is_rounded(tensor) && length < (int)sizeof name ? vit_tensors_find(file, name) : NULL;
}

const int8_t *vit_tensors_integers(const vit_tensors *file, const vit_tensor *tensor) {
    return vit_tensors_scales(file, tensor) ? tensor->data : NULL;
}

bool vit_tensors_are_scales(const vit_tensors *file, const vit_tensor *tensor) {
    char name[256];
    const size_t length = strlen(tensor->name), ending = sizeof SCALE_ENDING - 1;
    if (length <= ending || length >= sizeof name) return false;
    if (strcmp(tensor->name + length - ending, SCALE_ENDING) != 0) return false;
    snprintf(name, sizeof name, "%.*s", (int)(length - ending), tensor->name);
    const vit_tensor *rounded = vit_tensors_find(file, name);
    return rounded && is_rounded(rounded);
}

vit_status vit_tensors_read_scales(const vit_tensors *file, const vit_tensor *tensor, float *scales,
                                   vit_error *error) {
    char shown[VIT_NAME_TEXT];
    const vit_tensor *t = vit_tensors_scales(file, tensor);
    const size_t rows = tensor->shape[0];
    if (!t || (t->count != rows && t->count != 1))
        return vit_fail(error, VIT_ERROR_FORMAT,
                        "%s: tensor %s has %zu rows of 8-bit integers and %zu scales, expected one "
                        "for each, or one for all",
                        file->name, vit_name_text(shown, tensor->name), rows, t ? t->count : 0);
    const vit_status status = vit_tensors_read(file, t, scales, error);
    if (status != VIT_OK) return status;
    for (size_t i = 0; i < t->count; i++)
        if (!(scales[i] == 0 || (scales[i] >= FLT_MIN && scales[i] <= FLT_MAX / 128)))
            return vit_fail(error, VIT_ERROR_FORMAT,
                            "%s: tensor %s: scale %zu is %g, expected a positive number",
                            file->name, vit_name_text(shown, t->name), i, (double)scales[i]);
    for (size_t i = t->count; i < rows; i++) scales[i] = scales[0];
    return VIT_OK;
}

static vit_status read_rounded(const vit_tensors *file, const vit_tensor *tensor, float *values,
                               vit_error *error) {
    const size_t rows = tensor->shape[0];
    float *scales = vit_alloc(rows, sizeof *scales);
    if (!scales) return vit_fail_memory(error, "scales", rows * sizeof *scales);
    vit_status status = vit_tensors_read_scales(file, tensor, scales, error);
    if (status == VIT_OK) status = read_elements(file, tensor, values, error);
    for (size_t i = 0; status == VIT_OK && i < tensor->count; i++)
        values[i] *= scales[i / (tensor->count / rows)];
    vit_free(scales);
    return status;
}

vit_status vit_tensors_read(const vit_tensors *file, const vit_tensor *tensor, float *values,
                            vit_error *error) {
    char shown[VIT_NAME_TEXT];
    if (vit_tensors_scales(file, tensor)) return read_rounded(file, tensor, values, error);
    if (vit_dtype_holds_weights(tensor->dtype)) return read_elements(file, tensor, values, error);
    return vit_fail(error, VIT_ERROR_UNSUPPORTED,
                    "%s: tensor '%s' is of type %s, expected weights: F32, F16, BF16 or F64, or I8 "
                    "with scales in '%s" SCALE_ENDING "'",
                    file->parts[((const entry *)tensor)->part].name,
                    vit_name_text(shown, tensor->name), vit_dtype_name(tensor->dtype), shown);
}
