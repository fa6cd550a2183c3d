/* Any text as a table of pictures and classes: the columns that are chosen are the table's, and the
 * classes of a cell lie within it. */
#include "datasets/tables/columns.h"
#include "datasets/tables/several.h"
#include "vit/base/sys.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_cells(const vit_cells *c, const vit_columns *columns) {
    for (size_t i = 0; i < c->row_count; i++) {
        char *names = NULL;
        size_t count = 0, length = 0;
        const char *cell = vit_cell(c, i, columns->class);
        if (!cell || vit_several_split(&names, &count, cell, columns->separator, NULL) != VIT_OK)
            continue;
        for (size_t k = 0; k < count; k++) length += strlen(names + length) + 1;
        if (length > strlen(cell) + 1 + 32 * count) abort();
        vit_free(names);
    }
}

/* The first byte chooses CSV or JSON, and one class or several. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    vit_cells c;
    vit_error error = {0};
    bool is_ours;
    if (size == 0) return 0;
    const vit_table_options options = {.multi_label = data[0] & 1};
    char *text = vit_alloc(size, 1);
    if (!text) abort();
    memcpy(text, data + 1, size - 1);
    vit_columns columns = {0};
    vit_status status =
        vit_cells_parse(&c, text, size - 1, data[0] & 2 ? "t.jsonl" : "t.csv", NULL, NULL, &error);
    if (status == VIT_OK)
        status = vit_columns_choose(&columns, &is_ours, &c, &options, false, &error);
    if (status != VIT_OK && error.message[0] == 0) abort();
    if (status == VIT_OK && !columns.ones && columns.class >= c.column_count) abort();
    if (status == VIT_OK && !columns.ones && options.multi_label) use_cells(&c, &columns);
    vit_free(columns.ones);
    vit_cells_clear(&c);
    return 0;
}
