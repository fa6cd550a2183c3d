/* Names of classes, one each, as files hold them: one a line, or JSON. */
#ifndef VIT_FORMATS_LABEL_LIST_H
#define VIT_FORMATS_LABEL_LIST_H

#include "vit/formats/json.h"

#include <stdbool.h>

typedef struct vit_label_list {
    char **labels; /* [count], one block with the names, owned: vit_free */
    size_t count;
} vit_label_list;

/* Whether a class may be called so: UTF-8 without control characters, not empty. */
bool vit_is_class_name(const char *text);

/* The names in a file: one a line, or JSON: ["cat", "dog"] or {"0": "cat", "1": "dog"}, which may
 * be the value of "id2label", "label_names" or "labels". If each line is a number and a name, "0
 * cat", "0. cat" or "0,cat", and the numbers are those from 0 or 1 on, they are the order. Space
 * around names is none of them; empty lines may stand at the end. Errors: FORMAT, also for UTF-16
 * and Latin-1, for other numbers in front of names, for names between commas in one line, and for
 * lists of Markdown, YAML, CSV or quoted names; IO, MEMORY. */
vit_status vit_label_list_read(vit_label_list *out, const char *path, vit_error *error);

/* The same of a regular file alone, whose name somebody else has written (vit_read_regular). */
vit_status vit_label_list_read_regular(vit_label_list *out, const char *path, vit_error *error);

/* The lines of a file as they are, or JSON, as above: templates. */
vit_status vit_label_list_read_texts(vit_label_list *out, const char *path, vit_error *error);

/* The names in a text, one a line; empty lines may stand at the end. text: [size + 1], ended by a
 * zero, is overwritten. name: of the text, for messages. Errors: FORMAT, MEMORY. On an error, too,
 * out->labels is the caller's. */
vit_status vit_label_list_lines(vit_label_list *out, char *text, size_t size, const char *name,
                                vit_error *error);

/* {"0": "cat", "1": "dog"}, or {"0": [..., "cat"], ...}, as the list ["cat", "dog"]; a new
 * reference. NULL: it is no such object. */
json_t *vit_label_list_of_object(const json_t *object);

#endif
