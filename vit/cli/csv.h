/* Files of comma-separated values (RFC 4180, lines that end with a line feed). */
#ifndef VIT_CLI_CSV_H
#define VIT_CLI_CSV_H

#include "vit/base/text.h"

/* Appends a field, in quotes where it holds a comma or a quote; what could steer a terminal is
 * shown as in text. */
void vit_csv_field(vit_text *text, const char *field);

/* Whether FILE, the value of --OPTION, can be written: it is not there, empty, or begins with
 * `head`, as what was written here before does. ARGUMENT or IO, saying why, where it cannot. */
vit_status vit_csv_check(const char *file, const char *option, const char *head, vit_error *error);

/* Replaces the file by the text, all or nothing. */
vit_status vit_csv_write(const char *file, const vit_text *text, vit_error *error);

#endif
