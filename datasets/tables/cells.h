/* Tables as people have them: CSV, its columns separated by commas, semicolons or tabs, or JSON, an
 * object a line, whose keys are the columns. */
#ifndef VIT_DATASETS_TABLES_CELLS_H
#define VIT_DATASETS_TABLES_CELLS_H

#include "vit/base/error.h"

typedef struct vit_cells {
    const char *path; /* borrowed */
    char **columns;   /* [column_count] the names of the first line, or the keys */
    char **cells;     /* [row_count][column_count], without the space around them; NULL: the object
                         of this line has no such key. A list is JSON's text of it */
    size_t *lines;    /* [row_count] from 1 */
    size_t column_count, row_count;
    size_t row_capacity; /* of cells and lines */
    char *text;          /* of the file; cells of CSV point into it */
    bool owns_cells;     /* of JSON: each cell is an allocation */
} vit_cells;

/* Whether a table of these columns is to be read on. */
typedef bool vit_cells_wanted(const vit_cells *header, const void *user);

/* Whether a file of this name may be such a table: .csv, .tsv, .jsonl, in any case. */
bool vit_cells_is(const char *name);

/* Reads the file at `path`. wanted: NULL, or asked once the columns of CSV are known; if not, there
 * are no rows. On an error, too, the columns that were read are there, so that the
 * caller can tell a table that is damaged from one of something else; vit_cells_clear in any case.
 * Errors: IO, FORMAT for rows of another length, quotes that do not end, UTF-16 and other files
 * that are no text, UNSUPPORTED for files beyond 256 MiB, MEMORY. */
vit_status vit_cells_read(vit_cells *out, const char *path, vit_cells_wanted *wanted,
                          const void *user, vit_error *error);

/* The same for a text in memory, of `size` bytes, which ends with a zero; owns it from now on. */
vit_status vit_cells_parse(vit_cells *out, char *text, size_t size, const char *path,
                           vit_cells_wanted *wanted, const void *user, vit_error *error);

void vit_cells_clear(vit_cells *cells);

/* A cell; NULL: the row has none. */
static inline const char *vit_cell(const vit_cells *c, size_t row, size_t column) {
    return c->cells[row * c->column_count + column];
}

#endif
