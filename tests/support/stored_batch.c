#include "tests/support/stored_batch.h"

#include <string.h>

static void list_classes(vit_sample_key *key, const stored_batch *b, size_t picture) {
    uint32_t *list = b->lists + picture * b->classes;
    key->classes = list;
    for (size_t i = 0; i < b->classes; i++)
        if (b->labels[picture * b->classes + i] > 0) list[key->class_count++] = (uint32_t)i;
}

vit_status stored_batch_source(float *images, size_t *labels, vit_sample_key *keys, size_t first,
                               size_t count, const vit_batch_room *room, void *context,
                               vit_error *error) {
    (void)room, (void)error;
    const stored_batch *b = context;
    for (size_t i = 0; i < count; i++)
        keys[i] = (vit_sample_key){.epoch = b->step, .position = (uint32_t)(first + i)};
    memcpy(images, b->images + first * b->pixels, count * b->pixels * sizeof *images);
    for (size_t i = 0; i < count && b->classes > 0; i++) list_classes(&keys[i], b, first + i);
    for (size_t i = 0; i < count && b->classes == 0; i++) labels[i] = (size_t)b->labels[first + i];
    return VIT_OK;
}
