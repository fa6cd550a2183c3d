/* An index of pictures: whatever opens can be searched, and its rows have names. The bytes are read
 * as they are, and with right checksums. */
#include "tests/fuzz/seal.h"
#include "vit/base/sys.h"
#include "vit/search/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void search(const char *path, const uint8_t *data, size_t size) {
    vit_index *index;
    vit_error error;
    vit_hit hits[4];
    size_t count;
    put_input(path, data, size);
    if (vit_index_open(&index, path, &error) == VIT_OK) {
        const size_t width = vit_index_describe(index).width;
        float *query = vit_alloc(width, sizeof *query);
        if (!query) abort();
        query[0] = 1;
        if (vit_index_find(hits, &count, index, query, 4, 1, VIT_CPU_COUNT, &error) == VIT_OK)
            for (size_t i = 0; i < count; i++)
                if (strlen(vit_index_row(index, hits[i].row).name) >= size) abort();
        vit_free(query);
    }
    vit_index_free(index);
}

/* The checksums of heads and contents, as far as the sizes lead. */
static void seal(uint8_t *data, size_t size) {
    vit_index_head head;
    for (size_t at = 0; size - at >= sizeof head; at += sizeof head + (size_t)head.size) {
        memcpy(&head, data + at, sizeof head);
        if (head.size > size - at - sizeof head) break;
        head.magic = VIT_INDEX_MAGIC;
        head.content = vit_index_checksum(data + at + sizeof head, head.size);
        head.checked = vit_index_head_checksum(&head);
        memcpy(data + at, &head, sizeof head);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char path[64];
    if (path[0] == 0) snprintf(path, sizeof path, "/tmp/fuzz-index-%ld", (long)getpid());
    search(path, data, size);
    uint8_t *copy = malloc(size + 1);
    if (!copy) abort();
    if (size > 0) memcpy(copy, data, size);
    seal(copy, size);
    search(path, copy, size);
    free(copy);
    unlink(path);
    return 0;
}
