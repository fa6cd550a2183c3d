/* Writes comma-separated values (RFC 4180, lines that end with a line feed). */
#ifndef VIT_CLI_PARTS_CSV_OUT_H
#define VIT_CLI_PARTS_CSV_OUT_H

#include "vit/base/text.h"

/* Appends a field, in quotes if it contains a comma or a quote; control characters become '?', as
 * in vit_string_add_visible. */
void vit_csv_field(vit_string *text, const char *field);

/* Appends a path as it is, in quotes where RFC 4180 asks for them: it names its file when it is
 * read back, also with line feeds in it, or bytes that are no UTF-8. */
void vit_csv_path(vit_string *text, const char *path);

/* IO unless FILE, the value of --OPTION, can be written: it must not exist, be empty, or begin with
 * `head`, as a file that this program wrote before. */
vit_status vit_csv_check(const char *file, const char *option, const char *head, vit_error *error);

#endif
