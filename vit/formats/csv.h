/* Tables with a row a line, as spreadsheets write them (RFC 4180): fields are separated by commas,
 * semicolons or tabs, may be in double quotes, and "" in quotes is a quote. */
#ifndef VIT_FORMATS_CSV_H
#define VIT_FORMATS_CSV_H

#include "vit/base/text.h"

typedef struct vit_csv {
    char **fields; /* [count] of the row that was read last; they point into the text */
    size_t count, capacity, line; /* line: where the row begins, from 1 */
    char *next;
    size_t next_line;
    char separator;
    const char *name; /* for messages */
} vit_csv;

/* Begins to read a text, which ends with a zero, is overwritten and must outlive the table. Its
 * first line chooses the separator; "sep=;", as Excel has it, is such a line. A byte order mark is
 * passed over. */
void vit_csv_start(vit_csv *csv, char *text, const char *name);

/* Reads the next row; empty lines are passed over. *more: whether there was one. Errors: FORMAT for
 * quotes that do not end, MEMORY. */
vit_status vit_csv_next(vit_csv *csv, bool *more, vit_error *error);

void vit_csv_clear(vit_csv *csv);

/* ---- writing: rows end with a line feed ---- */

/* Appends a text, but '?' for control characters and bytes that are no UTF-8. */
void vit_csv_visible(vit_string *t, const char *text);

/* Appends a field, as vit_csv_visible has it, in quotes if it contains a comma or a quote. */
void vit_csv_field(vit_string *text, const char *field);

/* Appends a path as it is, in quotes where RFC 4180 asks for them: it names its file when it is
 * read back, also with line feeds in it, or bytes that are no UTF-8. */
void vit_csv_path(vit_string *text, const char *path);

/* IO unless FILE, the value of --OPTION, can be written: it must not exist, be empty, or begin with
 * `head`, as a file that this program wrote before. */
vit_status vit_csv_check(const char *file, const char *option, const char *head, vit_error *error);

#endif
