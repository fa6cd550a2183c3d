#include "vit/formats/page.h"

#include "vit/base/utf8.h"

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

void vit_string_add_html(vit_string *t, const char *text) {
    static const char *const entities[] = {"&&amp;", "<&lt;", ">&gt;", "\"&quot;", "'&#39;"};
    while (*text != '\0' && !t->failed) {
        const size_t length = vit_utf8_length(text);
        const char *entity = length > 0 ? NULL : "?\xef\xbf\xbd";
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            if (*text == entities[i][0]) entity = entities[i];
        if (entity)
            vit_string_add(t, "%s", entity + 1);
        else
            vit_string_add_bytes(t, text, length);
        text += length > 0 ? length : 1;
    }
}
