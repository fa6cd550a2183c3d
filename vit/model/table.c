#include <string.h>

#include "vit/base/sys.h"
#include "vit/model/parameters.h"

void vit_table_omit_weights(vit_table *table) {
    table->size = 0;
    for (size_t i = 0; i < table->count; i++) {
        vit_parameter *p = &table->rows[i];
        const bool stays = !vit_is_weight(p);
        p->offset = stays ? table->size : VIT_ONLY_PACKED;
        if (stays) table->size += vit_padded(p->count);
    }
}

void vit_table_store(vit_table *table) {
    table->stored_size = 0;
    for (size_t i = 0; i < table->count; i++) {
        vit_parameter *p = &table->rows[i];
        p->stored_offset = table->stored_size;
        if (p->packs && !p->place)
            table->stored_size +=
                vit_stored_words(p->stored, vit_packed_size(p->shape[0], p->count / p->shape[0]));
    }
}

void vit_table_free(vit_table *table) {
    vit_free(table->rows);
    *table = (vit_table){0};
}

const vit_parameter *vit_table_find(const vit_table *table, const char *name) {
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0) return &table->rows[i];
    return NULL;
}

void vit_gradients_clear(float *gradients, const vit_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        const vit_parameter *p = &table->rows[i];
        if (!vit_is_weight(p)) memset(gradients + p->offset, 0, p->count * sizeof *gradients);
    }
}
