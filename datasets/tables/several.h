/* Cells that name several classes: "cat; animal", "cat|animal", "cat, animal", ["cat", "animal"] as
 * JSON or Python write it, or names with space between them. */
#ifndef VIT_DATASETS_TABLES_SEVERAL_H
#define VIT_DATASETS_TABLES_SEVERAL_H

#include "datasets/tables/cells.h"

/* *separator = what separates the names in the cells of a column: ';', '|' or ',', '[' for lists,
 * ' ' if there is none of these. FORMAT for a column with two kinds. */
vit_status vit_several_find(char *separator, const vit_cells *c, size_t column, vit_error *error);

/* FORMAT, with what to do, if cells of the column name several classes: a list, a ';' or '|' in
 * one, or a comma between names of which one is in another cell, too. */
vit_status vit_several_refuse(const vit_cells *c, size_t column, vit_error *error);

/* *names = the names in a cell, each with a zero byte behind it, freed by vit_free. Errors: FORMAT
 * for a list that does not end, MEMORY. */
vit_status vit_several_split(char **names, size_t *count, const char *cell, char separator,
                             vit_error *error);

#endif
