/* Names of classes, one each, as files hold them: one a line, or JSON. */
#ifndef VIT_FORMATS_LABEL_LIST_H
#define VIT_FORMATS_LABEL_LIST_H

#include "vit/formats/json.h"

typedef struct vit_label_list {
    char **labels; /* [count], one block with the names, owned: vit_free */
    size_t count;
} vit_label_list;

/* The names in a file: one a line, or JSON: ["cat", "dog"] or {"0": "cat", "1": "dog"}, which may
 * be the value of "id2label", "label_names" or "labels". Errors: FORMAT, IO, MEMORY. */
vit_status vit_label_list_read(vit_label_list *out, const char *path, vit_error *error);

/* The names in a text, one a line. text: [size + 1], ended by a zero, is overwritten. name: of the
 * text, for messages. Errors: FORMAT, MEMORY. On an error, too, out->labels is the caller's. */
vit_status vit_label_list_lines(vit_label_list *out, char *text, size_t size, const char *name,
                                vit_error *error);

/* {"0": "cat", "1": "dog"}, or {"0": [..., "cat"], ...}, as the list ["cat", "dog"]; a new
 * reference. NULL: it is no such object. */
json_t *vit_label_list_of_object(const json_t *object);

#endif
