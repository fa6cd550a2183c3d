/* Any text as a table: its fields lie within it, and it ends. */
#include "vit/base/sys.h"
#include "vit/formats/csv.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_csv csv;
    vit_error error;
    bool more = true;
    char *text = vit_alloc(size + 1, 1);
    if (!text) abort();
    if (size > 0) memcpy(text, data, size);
    vit_csv_start(&csv, text, "input");
    for (size_t rows = 0; more && vit_csv_next(&csv, &more, &error) == VIT_OK; rows++) {
        if (rows > size) abort();
        for (size_t i = 0; i < csv.count; i++)
            if (csv.fields[i] < text || csv.fields[i] + strlen(csv.fields[i]) > text + size)
                abort();
    }
    vit_csv_clear(&csv);
    vit_free(text);
    return 0;
}
