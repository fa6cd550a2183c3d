/* An index of pictures: whatever opens can be searched, and its rows have names. */
#include "vit/base/sys.h"
#include "vit/search/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char path[64];
    vit_index *index;
    vit_error error;
    vit_hit hits[4];
    size_t count;
    if (path[0] == 0) snprintf(path, sizeof path, "/tmp/fuzz-index-%ld", (long)getpid());
    if (vit_write_file(path, data, size, &error) != VIT_OK) return 0;
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
    return 0;
}
