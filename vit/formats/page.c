#include "vit/formats/page.h"

#include <string.h>

/* The part that a line "@name@\n" is the place of, or NULL. */
static const vit_page_part *part_of(const char *line, const vit_page_part *parts, size_t count) {
    const size_t length = strlen(line);
    for (size_t i = 0; i < count && line[0] == '@'; i++) {
        const size_t name = strlen(parts[i].name);
        if (length == name + 3 && memcmp(line + 1, parts[i].name, name) == 0 &&
            line[name + 1] == '@')
            return &parts[i];
    }
    return NULL;
}

static void add_script_json(vit_string *t, const char *json) {
    while (*json) {
        const size_t plain = strcspn(json, "<");
        vit_string_add_bytes(t, json, plain);
        json += plain;
        if (*json == '<') {
            vit_string_add(t, "\\u003c");
            json++;
        }
    }
}

void vit_string_add_page(vit_string *t, const char *const *lines, const vit_page_part *parts,
                         size_t count) {
    for (; *lines; lines++) {
        const vit_page_part *part = part_of(*lines, parts, count);
        if (!part)
            vit_string_add_bytes(t, *lines, strlen(*lines));
        else if (part->json)
            add_script_json(t, part->json);
        else if (!part->lines)
            t->failed = true;
        for (const char *const *more = part ? part->lines : NULL; more && *more; more++)
            vit_string_add_bytes(t, *more, strlen(*more));
    }
}
